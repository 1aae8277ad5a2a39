"""What an action would change in the calendar: before and after, as values and in words. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.registry import read_effects
from kinkeeper.calendar.model import Event, EventKind, Occurrence
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import Interval
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import NOBODY, People, Person

_OF_CALENDAR = (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)


class Verb(StrEnum):
    """What is done to the calendar."""

    ADD = "add"
    MOVE = "move"
    CANCEL = "cancel"
    CANCEL_SERIES = "cancel_series"
    ASSIGN = "assign"
    UPDATE = "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something that stands, or would stand, in the calendar.

    Attributes:
        interval: When; whole days where `all_day`.
        all_day: Whether it has dates only.
        who: Member ids taking part.
        responsible: Member ids in charge.
        place: Place id or free text, if any.
        event_id: Event it belongs to.
        original_start: Which occurrence of a series it is, if one of the graph.
        repeats: Whether it is a series.
    """

    title: str
    kind: EventKind
    interval: Interval
    all_day: bool
    who: tuple[str, ...]
    responsible: tuple[str, ...]
    place: str | None
    event_id: str
    original_start: datetime | None = None
    repeats: bool = False

    def day(self, zone: ZoneInfo) -> date:
        """Return the local day it starts on."""
        return self.interval.start.astimezone(zone).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change: what is there, and what would be.

    Attributes:
        before: What is there now; None of something new, or of what is gone meanwhile.
        after: What would be there; None where it is cancelled.
    """

    verb: Verb
    before: Piece | None
    after: Piece | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What stands in the calendar of all that some actions would touch.

    Attributes:
        events: By id.
        occurrences: By event id and original start, as they are after all changes for one day.
    """

    events: Mapping[str, Event]
    occurrences: Mapping[tuple[str, datetime], Occurrence]


def touched(effects: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, datetime | None]]:
    """Return the events, with the occurrence where it is one alone, that frozen effects would touch."""
    found: set[tuple[str, datetime | None]] = set()
    for effect in effects:
        if not str(effect.get("effect")).startswith("calendar."):
            continue
        if "event_id" in effect:
            start = effect.get("original_start")
            found.add((effect["event_id"], datetime.fromisoformat(start) if start else None))
        elif "based_on" in effect:
            found.add((effect["event"]["id"], None))
    return frozenset(found)


def changes_of(
    household: str, effects: Sequence[Mapping[str, Any]], standing: Standing
) -> tuple[Change, ...]:
    """Return what frozen effects would change in the calendar; other effects are left out.

    Raises:
        InputError: An effect is unknown or does not fit.
    """
    return tuple(
        _change(effect, standing)
        for effect in read_effects(household, effects)
        if isinstance(effect, _OF_CALENDAR)
    )


def piece_of_event(event: Event) -> Piece:
    """Return an event as a piece of the calendar, at its first occurrence."""
    return Piece(
        title=event.summary,
        kind=event.kind,
        all_day=event.all_day,
        who=event.who,
        interval=Interval(event.start, event.start + event.duration),
        responsible=event.responsible,
        place=event.place,
        event_id=event.id,
        repeats=event.rrule is not None,
    )


def piece_of(occurrence: Occurrence) -> Piece:
    """Return one occurrence as a piece of the calendar."""
    return replace(
        piece_of_event(occurrence.event),
        interval=occurrence.interval,
        responsible=occurrence.responsible,
        place=occurrence.place,
        original_start=occurrence.original_start,
    )


def _change(effect: Effect, standing: Standing) -> Change:
    match effect:
        case AddEvent():
            return Change(verb=Verb.ADD, before=None, after=piece_of_event(effect.event))
        case UpdateEvent():
            before = _series(effect.event.id, standing)
            return Change(verb=Verb.UPDATE, before=before, after=piece_of_event(effect.event))
        case CancelEvent():
            before = _series(effect.event_id, standing)
            is_series = before is not None and before.repeats
            verb = Verb.CANCEL_SERIES if is_series else Verb.CANCEL
            return Change(verb=verb, before=before, after=None)
        case MoveOccurrence():
            return _moved(effect, standing)
        case AssignOccurrence():
            before = _one(effect.event_id, effect.original_start, standing)
            after = replace(before, responsible=effect.responsible) if before else None
            return Change(verb=Verb.ASSIGN, before=before, after=after)
        case CancelOccurrence():
            before = _one(effect.event_id, effect.original_start, standing)
            return Change(verb=Verb.CANCEL, before=before, after=None)
        case _:
            raise InvariantError(f"the pages cannot show the effect {effect.effect!r}")


def _moved(effect: MoveOccurrence, standing: Standing) -> Change:
    before = _one(effect.event_id, effect.original_start, standing)
    if before is None:
        return Change(verb=Verb.MOVE, before=None, after=None)
    length = before.interval.duration if effect.new_duration is None else effect.new_duration
    span = Interval(effect.new_start, effect.new_start + length)
    return Change(verb=Verb.MOVE, before=before, after=replace(before, interval=span))


def _series(event_id: str, standing: Standing) -> Piece | None:
    event = standing.events.get(event_id)
    return None if event is None else piece_of_event(event)


def _one(event_id: str, original_start: datetime, standing: Standing) -> Piece | None:
    found = standing.occurrences.get((event_id, original_start))
    return None if found is None else piece_of(found)


# Changes of the calendar as lines a person reads before saying yes. Pure.

_HEADINGS = {
    Verb.ADD: "New event",
    Verb.MOVE: "Moves",
    Verb.CANCEL: "Removed",
    Verb.CANCEL_SERIES: "Removed",
    Verb.ASSIGN: "New person in charge",
    Verb.UPDATE: "Changes",
}
_SERIES_HEADINGS = {Verb.CANCEL_SERIES: "Whole series removed", Verb.UPDATE: "Whole series changed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceLine:
    """One side of a change.

    Attributes:
        when: Day and time, in few words.
        spoken: The same in full.
        people: Who takes part.
        owners: Who is in charge.
        place: Display name, if any.
    """

    title: str
    when: str
    spoken: str
    people: tuple[Person, ...]
    owners: tuple[Person, ...]
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """One change, before and after.

    Attributes:
        heading: What happens, in words.
        before: What is there; None of something new.
        after: What would be there; None where it is taken out.
        is_gone: Whether what it would change is no longer there.
    """

    heading: str
    before: PieceLine | None
    after: PieceLine | None
    is_gone: bool


@dataclass(frozen=True, slots=True)
class DiffWords:
    """Puts changes into words.

    Attributes:
        people: The household's.
        places: Names by id.
    """

    people: People
    places: Mapping[str, str]
    wording: Wording

    def lines(self, changes: Iterable[Change]) -> tuple[ChangeLine, ...]:
        """Return a line for each change."""
        return tuple(self._line(change) for change in changes)

    def jobs(self, pieces: Iterable[Piece]) -> tuple[ChangeLine, ...]:
        """Return a line for each new entry that still lacks its owner."""
        return tuple(
            ChangeLine(
                heading="New event, assigned to the person you choose",
                before=None,
                after=replace(self.piece(piece), owners=(NOBODY,)),
                is_gone=False,
            )
            for piece in pieces
        )

    def piece(self, piece: Piece) -> PieceLine:
        """Return one piece of the calendar in words."""
        wording = self.wording
        day = piece.day(wording.zone)
        each_week = " (repeats)" if piece.repeats and piece.original_start is None else ""
        clock = "all day" if piece.all_day else wording.span(piece.interval)
        is_due = piece.kind is EventKind.DEADLINE
        return PieceLine(
            title=piece.title,
            when=f"{'due ' if is_due else ''}{wording.day(day)}, {clock}{each_week}",
            spoken=f"{wording.long_day(day)}, {clock}",
            people=self.people.each(piece.who),
            owners=self.people.each(piece.responsible),
            place=self.places.get(piece.place or "", piece.place or ""),
        )

    def _line(self, change: Change) -> ChangeLine:
        before = None if change.before is None else self.piece(change.before)
        after = None if change.after is None else self.piece(change.after)
        return ChangeLine(
            heading=_heading(change),
            before=before,
            after=after,
            is_gone=before is None and change.verb is not Verb.ADD,
        )


def _heading(change: Change) -> str:
    """Return what happens; a whole series is named only where there is one."""
    of_series = any(piece is not None and piece.repeats for piece in (change.before, change.after))
    series = _SERIES_HEADINGS if of_series else {}
    return series.get(change.verb, _HEADINGS[change.verb])
