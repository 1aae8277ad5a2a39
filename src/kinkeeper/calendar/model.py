"""Events of the event graph: frozen values, closed unions, no I/O."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.language.text import one_line

UNTITLED: Final = "(untitled)"
"""What an event is called whose title says nothing."""


class EventKind(StrEnum):
    """What an event is."""

    BOOKING = "booking"  # somebody is busy with it: practice, dentist
    CARE = "care"  # an adult does something for a child: pickup, dropoff, cover
    BREAK = "break"  # all-day background that books nobody: school holiday
    DEADLINE = "deadline"  # due on a day: a car service


class EventState(StrEnum):
    """Where an event or a single occurrence stands."""

    CONFIRMED = "confirmed"
    CANCELLED = "cancelled"


class SourceType(StrEnum):
    """Where something was learnt."""

    SEED = "SEED"
    OBSERVER = "OBSERVER"
    CHAT = "CHAT"
    EMAIL_MANUAL = "EMAIL_MANUAL"
    ICS = "ICS"
    CLI = "CLI"
    WEB = "WEB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Why an event is in the graph.

    Attributes:
        source_id: Id within that kind: seed id, message id, ICS UID.
        confirmed_by: Member id of the person whose yes wrote it; None for seeds and imports.
        action_id: Pending action that was executed, if any.
    """

    source_type: SourceType
    source_id: str
    confirmed_by: str | None = None
    action_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One node of the event graph; possibly recurring.

    Attributes:
        id: Stable id (deterministic from its source).
        scope: Who may see it: HOUSEHOLD_SCOPE or "person:<member id>"; others are told when that member is busy.
        summary: One line.
        activity: Activity id or generic word's canonical name, if any.
        task: For care: pickup, dropoff, cover, attend, ...
        who: Member ids taking part (children of a booking, children cared for).
        responsible: Member ids in charge.
        place: Place id or free text, if any.
        start: Aware, in the zone of `tz`: first occurrence.
        duration: >= 0.
        all_day: Dates only; start at local midnight.
        tz: IANA zone in which the recurrence is expanded.
        rrule: RFC 5545 rule without prefix, if recurring.
        exdates: Aware starts that are left out.
        provenance: Why it is here.
        about: Id of the event this care concerns, if any.
    """

    id: str
    household: str
    kind: EventKind
    summary: str
    start: datetime
    duration: timedelta
    tz: str
    provenance: Provenance
    scope: str = HOUSEHOLD_SCOPE
    activity: str | None = None
    task: str | None = None
    who: tuple[str, ...] = ()
    responsible: tuple[str, ...] = ()
    place: str | None = None
    all_day: bool = False
    rrule: str | None = None
    exdates: tuple[datetime, ...] = ()
    state: EventState = EventState.CONFIRMED
    about: str | None = None

    def __post_init__(self) -> None:
        """Keep every text as one line without invisible characters, wherever it came from."""
        clean = {
            "summary": one_line(self.summary) or UNTITLED,
            "place": _one_line(self.place),
            "activity": _one_line(self.activity),
            "task": _one_line(self.task),
            "who": tuple(map(one_line, self.who)),
            "responsible": tuple(map(one_line, self.responsible)),
        }
        for name, value in clean.items():
            object.__setattr__(self, name, value)


class Change(StrEnum):
    """What an open proposal would do to an occurrence."""

    ADD = "add"
    MOVE = "move"
    CANCEL = "cancel"
    ASSIGN = "assign"
    UPDATE = "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An open proposal about an occurrence; nobody has confirmed it yet.

    Attributes:
        claimed_by: Member ids of those who would be in charge; several where several claim it.
        asked: Member ids of those who were asked to be in charge.
        leaves: Member ids of those in charge who no longer would be, where nobody else would be.
        moved_to: When the occurrence would take place, if the proposal would move it.
        moved_from: When it takes place until then.
        said: What people called it where the proposal comes from: "plumber" of a repair.
    """

    action_id: str
    change: Change
    claimed_by: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    moved_to: Interval | None = None
    moved_from: Interval | None = None
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One instance of an event in time, with what was changed for this one alone.

    Attributes:
        event: The event it belongs to.
        original_start: Aware start that the rule gives; identifies the occurrence.
        interval: When it really takes place (moved occurrences differ from the rule).
        state: Cancelled occurrences are only returned when asked for.
        responsible: In charge of this one; the event's own unless overridden.
        place: Where this one is; the event's own unless overridden.
        waiting: Open proposals about it, oldest first.
        is_confirmed: Whether it is in the calendar; False where only an open proposal would put it there.
    """

    event: Event
    original_start: datetime
    interval: Interval
    state: EventState
    responsible: tuple[str, ...]
    place: str | None
    waiting: tuple[Waiting, ...] = ()
    is_confirmed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """What was changed for one occurrence alone; None leaves a field as the event has it.

    Attributes:
        event_id: Event it belongs to.
        original_start: Aware start that the rule gives.
        start: Aware new start, if moved.
        duration: New length, >= 0, if changed.
        state: CANCELLED where this one does not take place.
        responsible: In charge of this one.
    """

    event_id: str
    original_start: datetime
    start: datetime | None = None
    duration: timedelta | None = None
    state: EventState | None = None
    responsible: tuple[str, ...] | None = None
    place: str | None = None

    def __post_init__(self) -> None:
        """Keep the place as one line without invisible characters."""
        object.__setattr__(self, "place", _one_line(self.place))


def _one_line(text: str | None) -> str | None:
    return one_line(text) or None if text else None
