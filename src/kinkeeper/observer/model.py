"""What the observer understands and decides: frozen values, closed unions, and their JSON forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, Self

from kinkeeper.core.gates import GateResult

UNSPECIFIED = "unspecified"
BY_MODEL = "model"
"""Extractor of what a language model has added to."""
BY_FOLD = "arrangement"
"""Extractor of a card that was changed to follow its arrangement."""

BY_TRAINED_READER = "trained"
"""Extractor of what the rules did not find and the trained reader did: kept for a yes, never a reason to speak."""

BY_TALK_READER = "model_in_talk"
"""Extractor of what a language model read in a stretch of talk: as the trained reader's, kept for a yes alone."""

OF_READERS_ALONE = frozenset({BY_TRAINED_READER, BY_TALK_READER, BY_FOLD})
"""Extractors that are no reason to speak."""

OWN_WORDS = "own_words"
"""Type of the entity that stands for what a message calls its subject; words of the chat, gone when those go."""


TITLE = "title"
"""Type of the entity for the longer phrase in which a message names a general activity ("piano tuner"); for cards alone, gone when the words go."""


class Tier1Decision(StrEnum):
    """Whether a message goes on to tier 2."""

    DROP = "DROP"
    QUEUE = "QUEUE"


class CoordinationType(StrEnum):
    """What kind of arrangement a message is about."""

    TRANSPORT = "transport"
    CARE_COVERAGE = "care_coverage"
    SCHEDULE_CHANGE = "schedule_change"
    ACTIVITY_CONFIRM = "activity_confirm"


class Task(StrEnum):
    """What is to be done."""

    PICKUP = "pickup"
    DROPOFF = "dropoff"
    COVER = "cover"
    ATTEND = "attend"
    CANCEL = "cancel"
    MOVE = "move"
    APPOINTMENT = "appointment"
    OTHER = "other"


class ActionRequired(StrEnum):
    """What a person would have to do about it."""

    CONFIRM = "confirm"
    RESOLVE_CONFLICT = "resolve_conflict"
    NOTIFY = "notify"


class Stance(StrEnum):
    """What the sender does with the arrangement."""

    CLAIMS = "claims"  # takes it on
    ASSIGNS = "assigns"  # says that somebody else does it
    ASKS = "asks"  # wants somebody to do it
    DECLINES = "declines"  # will not or cannot do it
    ACCEPTS = "accepts"  # agrees to what was asked or proposed
    WITHDRAWS = "withdraws"  # takes back what was asked
    STATES = "states"  # reports or announces it


class RedlineDecision(StrEnum):
    """Whether the assistant speaks in the group."""

    SPEAK = "SPEAK"
    SILENT = "SILENT"


class RedlineRule(StrEnum):
    """Why it speaks."""

    TEMPORAL_CONFLICT = "temporal_conflict"
    RESOURCE_CONFLICT = "resource_conflict"
    MISSING_VARIABLE = "missing_variable"
    TIME_MISMATCH = "time_mismatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something found in the text.

    Attributes:
        type: child, adult, activity, place, date, time, ...
        surface: The words, verbatim.
        start: Offset of the first character.
        end: Offset past the last character.
        value: What it stands for: an id, an ISO date, HH:MM.
    """

    type: str
    surface: str
    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Which earlier message a reply belongs to.

    Attributes:
        source_message_id: The channel's id of that message; None where none matched.
        confidence: 0.85 for a match, 0.3 without.
    """

    source_message_id: str | None
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Who does what, when, for whom, as one message says it.

    Attributes:
        is_coordination: Whether it concerns a concrete arrangement.
        stance: What the sender does with it.
        dates: Local days it concerns, in order.
        times: Local times of day, in order; ranges stand with their starts.
        time_ranges: (start, end) of those that are ranges.
        is_day_implied: Whether no day was named and a bare time of day stands for its next coming.
        assigned_to: Member ids, or ("unspecified",).
        addressee: Member id that a request names, if any.
        child: Member ids of the children concerned, or of a grown-up who is brought, fetched or looked after.
        activity: Activity id, or canonical name of a generic word.
        location: Place id, or the words.
        moved_from: Day that a change takes something away from, if named.
        is_announced_change: Whether the message itself announces that a plan changes.
        is_special: Whether it is a special occasion of an activity (a match, a recital), not its series.
        is_loose: Whether the activity is named apart from the days and times.
        seeks_owner: Whether it says that somebody is wanted for it, or plainly needed.
        yields: Whether the sender explicitly takes over from another.
        action_required: What a person has to do about it.
        entities: What was found in the text.
        attribution: Which earlier message this answers, if it is a reply.
        brain_queries: Abstract questions to memory, at most three.
        confidence: In [0, 1], produced by the extractor alone.
        extractor: Id of the extractor.
    """

    is_coordination: bool
    coordination_type: CoordinationType | None = None
    task: Task | None = None
    stance: Stance = Stance.STATES
    dates: tuple[date, ...] = ()
    times: tuple[time, ...] = ()
    time_ranges: tuple[tuple[time, time], ...] = ()
    is_day_implied: bool = False
    assigned_to: tuple[str, ...] = (UNSPECIFIED,)
    addressee: str | None = None
    child: tuple[str, ...] = ()
    activity: str | None = None
    location: str | None = None
    moved_from: date | None = None
    is_announced_change: bool = False
    is_special: bool = False
    is_loose: bool = False
    seeks_owner: bool = False
    yields: bool = False
    action_required: ActionRequired | None = None
    entities: tuple[Entity, ...] = ()
    attribution: Attribution | None = None
    brain_queries: tuple[str, ...] = ()
    confidence: float = 0.0
    extractor: str = "rules"
    version: str = "1"

    @property
    def named_dates(self) -> tuple[date, ...]:
        """The days that were named, not guessed from a bare time of day."""
        return () if self.is_day_implied else self.dates

    @property
    def is_in_own_words(self) -> bool:
        """Whether it names its subject in words that no vocabulary knows."""
        return any(entity.type == OWN_WORDS for entity in self.entities)

    @property
    def owners(self) -> tuple[str, ...]:
        """Member ids that take it on; empty where nobody does."""
        return tuple(person for person in self.assigned_to if person != UNSPECIFIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """An assignment that was asked for and not yet taken.

    Attributes:
        id: Row id of the message that asked.
        message_id: The channel's id of that message.
        thread_id: Thread it belongs to.
        asker: Member id, or the name as sent.
        until: Aware; later it cannot be answered.
        action_id: Pending action that holds the question, if any.
        part: Which of the arrangements of that message it is, from 0.
    """

    id: int
    chat_id: str
    message_id: str
    thread_id: str
    asker: str
    asked_at: datetime
    until: datetime
    extraction: Extraction
    action_id: str | None
    part: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RedlineOutcome:
    """The verdict of the rules.

    Attributes:
        decision: Speak or stay silent.
        rule: Rule that matched; also set where speaking waits or is switched off.
        reason: One word for the trace: rule name, "no_rule", "grace", "switched_off", ...
        facts: What the wording needs: names, days, times, labels. Also what the trace shows.
        conflict_key: Stable key of the conflict, if one was found.
        speak_at: Instant at which a question in its grace is asked, if it waits.
    """

    decision: RedlineDecision
    rule: RedlineRule | None
    reason: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    conflict_key: str | None = None
    speak_at: datetime | None = None

    @classmethod
    def silent(cls, reason: str) -> Self:
        """Return a verdict to say nothing, found by no rule."""
        return cls(decision=RedlineDecision.SILENT, rule=None, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Everything decided about one message; one line of `kinkeeper observe`.

    Attributes:
        tripwire_confidence: Score after context, in [0, 1].
        override: "attribution" where an answer was queued whatever its score.
        extraction: What was understood, if tier 2 ran.
        attribution_source: The channel's id of the message answered, if any.
        brain_relevance: Score of the best brain answer; None if none was asked or it timed out.
        redline: Verdict of the rules; None where a gate stopped earlier.
        reply: What is said in the group, if anything.
        action: Record of the pending action, if any.
        withdrawn_actions: Ids of actions this message took back.
        reason: Which step settled it, in one word.
        gates: Results in the order they were passed.
    """

    message_id: str
    tier1: Tier1Decision
    tripwire_confidence: float
    override: str | None
    patterns: tuple[str, ...]
    reason: str
    extraction: Extraction | None = None
    attribution_source: str | None = None
    brain_relevance: float | None = None
    redline: RedlineOutcome | None = None
    reply: str | None = None
    buttons: tuple[str, ...] = ()
    action: Mapping[str, Any] | None = None
    withdrawn_actions: tuple[str, ...] = ()
    gates: tuple[GateResult, ...] = ()


# JSON forms of extractions: what is stored and what `observe` prints. Both directions, nothing
# else.


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
    kind, task, required = (record["coordination_type"], record["task"], record["action_required"])
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
        type=record["type"], surface=record["surface"], start=start, end=end, value=record["value"]
    )
