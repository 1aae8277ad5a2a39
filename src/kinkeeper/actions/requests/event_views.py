"""Events as requests tell them: as JSON, as items of a card, in one line. Pure."""

from datetime import timedelta
from typing import Any

from kinkeeper.actions.requests.audience import audience_json, seen_by
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.people import names
from kinkeeper.actions.requests.request_times import Moment, said, said_span
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import rule_seen
from kinkeeper.calendar.waiting_words import occurrence_waiting, waiting_record

_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


def occurrence_json(occurrence: Occurrence, asked: Asked) -> dict[str, Any]:
    """Return an occurrence as requests tell it; times are ISO 8601 in the household's zone, a day is a date."""
    event, zone = occurrence.event, asked.household.zone
    start, end = (
        each.astimezone(zone) for each in (occurrence.interval.start, occurrence.interval.end)
    )
    place = next(
        (each.name for each in asked.household.places if each.id == occurrence.place),
        occurrence.place,
    )
    return {
        "id": event.id,
        "event_id": event.id,
        "original_start": occurrence.original_start.astimezone(zone).isoformat(),
        "title": event.summary,
        "summary": event.summary,
        **audience_json(event.scope),
        "start": start.date().isoformat() if event.all_day else start.isoformat(),
        "end": (end - _DAY).date().isoformat() if event.all_day else end.isoformat(),
        "all_day": event.all_day,
        "who": list(event.who),
        "responsible": list(occurrence.responsible),
        "location": place,
        "rrule": rule_seen(event, asked.viewer),
        **waiting_record(occurrence, zone),
    }


def told(occurrence: Occurrence, asked: Asked) -> str:
    """Return what an occurrence is and when: "Dentist, Thu 12 Nov 16:30"."""
    return f"{occurrence.event.summary}, {when(occurrence, asked)}"


def when(occurrence: Occurrence, asked: Asked) -> str:
    """Return when an occurrence begins, of whole days also the last, in few words."""
    first, last = (
        each.astimezone(asked.household.zone)
        for each in (occurrence.interval.start, occurrence.interval.end - _INSTANT)
    )
    is_day = occurrence.event.all_day
    begins = said(Moment(at=first, is_day=is_day), asked)
    if not is_day or first.date() == last.date():
        return begins
    return f"{begins} – {said(Moment(at=last, is_day=True), asked)}"


def details(occurrence: Occurrence, asked: Asked) -> str:
    """Return what an occurrence is, where, with whom and who is in charge, in one line."""
    record = occurrence_json(occurrence, asked)
    parts = (
        record["title"],
        f"at {record['location']}" if record["location"] else "",
        f"with {names(record['who'], asked)}" if record["who"] else "",
        f"{names(record['responsible'], asked)} in charge" if record["responsible"] else "",
    )
    return ", ".join(part for part in parts if part)


def item(occurrence: Occurrence, asked: Asked) -> dict[str, Any]:
    """Return an occurrence as an item of a card."""
    record = occurrence_json(occurrence, asked)
    people = dict.fromkeys((*record["who"], *record["responsible"]))
    waits = occurrence_waiting(
        occurrence, asked.household.zone, name=lambda each: names([each], asked),
        moment=lambda at: said(Moment(at=at, is_day=False), asked),
    )  # fmt: skip
    parts = (names(list(people), asked), record["location"], waits)
    detail = ", ".join(part for part in parts if part)
    interval, event = occurrence.interval, occurrence.event
    time = (
        when(occurrence, asked) if event.all_day
        else said_span(interval.start, interval.end, asked)
    )  # fmt: skip
    return {"id": event.id, "text": event.summary, "when": time, "detail": detail}


def line(occurrence: Occurrence, asked: Asked) -> str:
    """Return all of an occurrence in one line: "Dentist, Thu 12 Nov 16:30 – 17:00, Leo, Old Hall"."""
    shown = item(occurrence, asked)
    return ", ".join(part for part in (shown["text"], shown["when"], shown["detail"]) if part)


def shown_lines(occurrence: Occurrence, asked: Asked) -> dict[str, str]:
    """Return an occurrence as a person sees it before a yes: a line for each thing there is to know."""
    record, shown = occurrence_json(occurrence, asked), item(occurrence, asked)
    lines = {
        "event": shown["text"], "when": shown["when"], "who": names(record["who"], asked),
        "in charge": names(record["responsible"], asked), "where": record["location"],
        "seen by": seen_by(occurrence.event.scope, asked),
    }  # fmt: skip
    return {name: text for name, text in lines.items() if text}
