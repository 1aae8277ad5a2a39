"""JSON forms of extractions: what is stored and what `observe` prints. Both directions, nothing else."""

from collections.abc import Mapping
from datetime import date, time
from typing import Any

from kinkeeper.observer.model import (
    OF_READERS_ALONE,
    ActionRequired,
    Attribution,
    CoordinationType,
    Entity,
    Extraction,
    Stance,
    Task,
)


def hhmm(moment: time) -> str:
    """Return a time of day as HH:MM, 24 hours."""
    return moment.strftime("%H:%M")


def extraction_record(extraction: Extraction) -> dict[str, Any]:
    """Return the JSON form; lists are always lists, days ISO, times HH:MM."""
    attribution = extraction.attribution
    return {
        "is_coordination": extraction.is_coordination,
        "coordination_type": extraction.coordination_type,
        "task": extraction.task,
        "stance": extraction.stance,
        "dates": [day.isoformat() for day in extraction.dates],
        "times": [hhmm(moment) for moment in extraction.times],
        "time_ranges": [
            {"start": hhmm(start), "end": hhmm(end)} for start, end in extraction.time_ranges
        ],
        "is_day_implied": extraction.is_day_implied,
        "assigned_to": list(extraction.assigned_to),
        "addressee": extraction.addressee,
        "child": list(extraction.child),
        "activity": extraction.activity,
        "location": extraction.location,
        "moved_from": extraction.moved_from.isoformat() if extraction.moved_from else None,
        "is_announced_change": extraction.is_announced_change,
        "is_special": extraction.is_special,
        "is_loose": extraction.is_loose,
        "seeks_owner": extraction.seeks_owner,
        "yields": extraction.yields,
        "action_required": extraction.action_required,
        "extracted_entities": [
            {
                "type": entity.type,
                "surface": entity.surface,
                "span": [entity.start, entity.end],
                "value": entity.value,
            }
            for entity in extraction.entities
        ],
        "attribution": {
            "source_message_id": attribution.source_message_id,
            "attribution_confidence": attribution.confidence,
        }
        if attribution
        else None,
        "brain_query_context": list(extraction.brain_queries),
        "extraction_confidence": extraction.confidence,
        "extractor": extraction.extractor,
        "version": extraction.version,
    }


def extraction_from_record(record: Mapping[str, Any]) -> Extraction:
    """Return the extraction of a stored record; the inverse of `extraction_record`."""
    attribution = record["attribution"]
    kind, task, required = (
        record["coordination_type"],
        record["task"],
        record["action_required"],
    )
    return Extraction(
        is_coordination=record["is_coordination"],
        coordination_type=CoordinationType(kind) if kind else None,
        task=Task(task) if task else None,
        stance=Stance(record["stance"]),
        dates=tuple(date.fromisoformat(day) for day in record["dates"]),
        times=tuple(time.fromisoformat(moment) for moment in record["times"]),
        time_ranges=tuple(
            (time.fromisoformat(span["start"]), time.fromisoformat(span["end"]))
            for span in record["time_ranges"]
        ),
        is_day_implied=record["is_day_implied"],
        assigned_to=tuple(record["assigned_to"]),
        addressee=record["addressee"],
        child=tuple(record["child"]),
        activity=record["activity"],
        location=record["location"],
        moved_from=date.fromisoformat(record["moved_from"]) if record["moved_from"] else None,
        is_announced_change=record["is_announced_change"],
        is_special=record["is_special"],
        is_loose=record["is_loose"],
        seeks_owner=record.get("seeks_owner", False),
        yields=record["yields"],
        action_required=ActionRequired(required) if required else None,
        entities=tuple(_entity(entry) for entry in record["extracted_entities"]),
        attribution=Attribution(
            source_message_id=attribution["source_message_id"],
            confidence=attribution["attribution_confidence"],
        )
        if attribution
        else None,
        brain_queries=tuple(record["brain_query_context"]),
        confidence=record["extraction_confidence"],
        extractor=record["extractor"],
        version=record["version"],
    )


def is_of_reader_alone(record: Mapping[str, Any]) -> bool:
    """Return whether an extraction rests on what the trained reader, or a model in a stretch of talk, alone saw.

    Args:
        record: As `extraction_record` wrote it; empty for what was not read from a message.
    """
    return record.get("extractor") in OF_READERS_ALONE


def _entity(record: Mapping[str, Any]) -> Entity:
    start, end = record["span"]
    return Entity(
        type=record["type"],
        surface=record["surface"],
        start=start,
        end=end,
        value=record["value"],
    )
