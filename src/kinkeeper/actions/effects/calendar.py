"""Effects on the event graph, journaled there and revocable; and events as fields of an effect, exact as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, TypeAdapter
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution, Told, Touched
from kinkeeper.calendar import event_changes
from kinkeeper.calendar.event_changes import undo_change
from kinkeeper.calendar.event_limits import check_event
from kinkeeper.calendar.model import Event, Provenance
from kinkeeper.calendar.occurrences import end_of_day, occurrence_over_at, over_at
from kinkeeper.calendar.repository import find_event, find_override, list_overrides, load_event
from kinkeeper.calendar.search import private_to
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.time import Interval, day_over
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer, kept_to, person_of

# Events as JSON, and back (as a field of an effect): exact to the second, the zone kept by name.

_EVENT_FIELDS = frozenset(field.name for field in fields(Event))
_PROVENANCE_FIELDS = frozenset(field.name for field in fields(Provenance))


def _known_fields(value: Any) -> Any:
    if isinstance(value, Mapping):
        unknown = value.keys() - _EVENT_FIELDS
        provenance = value.get("provenance")
        if isinstance(provenance, Mapping):
            unknown |= provenance.keys() - _PROVENANCE_FIELDS
        if unknown:
            raise ValueError(f"an event has no field {', '.join(sorted(map(str, unknown)))}")
    return value


def _in_zone(event: Event) -> Event:
    try:
        zone = ZoneInfo(event.tz)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{event.tz!r} is not an IANA time zone") from error
    exdates = tuple(_aware(start, zone) for start in event.exdates)
    return replace(event, start=_aware(event.start, zone), exdates=exdates)


def _aware(start: datetime, zone: ZoneInfo) -> datetime:
    if start.tzinfo is None:
        raise ValueError(f"start {start} has no UTC offset")
    return start.astimezone(zone)


EventField = Annotated[Event, BeforeValidator(_known_fields), AfterValidator(_in_zone)]

_EVENTS: TypeAdapter[Event] = TypeAdapter(EventField)


def event_to_json(event: Event) -> dict[str, Any]:
    """Return an event as JSON: instants with offset, durations as ISO 8601."""
    record: dict[str, Any] = _EVENTS.dump_python(event, mode="json")
    return record


NonEmpty = Field(min_length=1)


class _WholeEvent(Effect):
    """Something done to an event as a whole.

    Attributes:
        event: As it shall be.
    """

    event: EventField

    @property
    def told(self) -> Told:
        """Its title and place."""
        return Told(_words(self.event))

    def narrowed(self, conn: Connection, household: str, scope: str) -> Self:
        """Return it with the event for fewer people."""
        kept = kept_to(self.event.scope, scope)
        owner = person_of(kept)
        event = private_to(self.event, owner) if owner else replace(self.event, scope=kept)
        return self.model_copy(update={"event": event})

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the event."""
        stored = find_event(conn, Viewer.whole(household), self.event.id)
        return (_touched(self.event.id, stored, self.event.scope),)

    def over_at(
        self, conn: Connection, household: Household, *, after: datetime
    ) -> datetime | None:
        """Return when the event is over, as it is now and as it shall be."""
        ends = [over_at(self.event, (), zone=household.zone, after=after)]
        stored = _stored_over_at(conn, household, self.event.id, after)
        return max(ends if stored is None else [*ends, stored])


class _NamedEvent(Effect):
    """Something done to an event that is named by its id.

    Attributes:
        event_id: The event.
    """

    event_id: str = NonEmpty

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the event."""
        stored = find_event(conn, Viewer.whole(household), self.event_id)
        return () if stored is None else (_touched(self.event_id, stored, self._after(stored)),)

    def _after(self, stored: Event) -> str:
        """Return the scope that the event gets."""
        return stored.scope

    def over_at(
        self, conn: Connection, household: Household, *, after: datetime
    ) -> datetime | None:
        """Return when the stored event is over."""
        return _stored_over_at(conn, household, self.event_id, after)


class AddEvent(_WholeEvent):
    """Put a new event into the graph."""

    effect: Literal["calendar.add_event"] = "calendar.add_event"

    def check(self, household: str) -> None:
        """Refuse an event of another household, or one that cannot be expanded."""
        _check_event(self.event, household)

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        scope = kept_to(self.event.scope, execution.scope)
        event = _confirmed(replace(self.event, scope=scope), execution)
        event_changes.add_event(conn, event, change_id=execution.change_id, at=execution.at)


class UpdateEvent(_WholeEvent):
    """Put an event in the place of the one with its id.

    Attributes:
        based_on: As it was when this was proposed; if it has changed since, nothing is written.
    """

    effect: Literal["calendar.update_event"] = "calendar.update_event"
    based_on: EventField | None = None

    @property
    def told(self) -> Told:
        """Its title and place, where they change."""
        before = "" if self.based_on is None else _words(self.based_on)
        return Told(_words(self.event), before, (*self.event.who, *self.event.responsible))

    def check(self, household: str) -> None:
        """Refuse an event of another household, or one that cannot be expanded."""
        _check_event(self.event, household)
        if self.based_on is not None and self.based_on.id != self.event.id:
            raise InputError(f"based_on is not event {self.event.id!r}")

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        if self.based_on is not None:
            stored = load_event(conn, Viewer.whole(execution.household), self.event.id)
            if stored != self.based_on:
                raise ConflictError(f"{stored.summary!r} has changed since this was proposed")
        event = _confirmed(self.event, execution)
        event_changes.update_event(conn, event, change_id=execution.change_id, at=execution.at)


class SetEventScope(_NamedEvent):
    """Let others see what an event is, or keep that to one member.

    Attributes:
        new_scope: Who may see it from then on.
    """

    effect: Literal["calendar.set_scope"] = "calendar.set_scope"
    new_scope: str = NonEmpty

    def check(self, household: str) -> None:
        """Accept any event; whether it exists shows when it is written."""

    def _after(self, stored: Event) -> str:
        """Return the scope that the event shall have."""
        return self.new_scope

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        stored = load_event(conn, Viewer.whole(execution.household), self.event_id)
        changed = replace(stored, scope=self.new_scope)
        event_changes.update_event(conn, changed, change_id=execution.change_id, at=execution.at)


class CancelEvent(_NamedEvent):
    """Let an event with all its occurrences take place no more."""

    effect: Literal["calendar.cancel_event"] = "calendar.cancel_event"

    def check(self, household: str) -> None:
        """Accept any event; whether it exists shows when it is written."""

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        event_changes.cancel_event(
            conn, execution.household, self.event_id, change_id=execution.change_id, at=execution.at
        )


class OccurrenceEffect(_NamedEvent):
    """Something done to one occurrence.

    Attributes:
        original_start: The start its rule gives, with offset.
    """

    original_start: AwareDatetime

    def over_at(
        self, conn: Connection, household: Household, *, after: datetime
    ) -> datetime | None:
        """Return when the occurrence is over, wherever it was moved to before."""
        zone = household.zone
        event = find_event(conn, Viewer.whole(household.id), self.event_id)
        if event is None:
            return day_over(self.original_start.astimezone(zone).date(), zone)
        changed = find_override(conn, household.id, self.event_id, self.original_start)
        return occurrence_over_at(event, changed, self.original_start, zone=zone)

    def check(self, household: str) -> None:
        """Accept any occurrence; whether it exists shows when it is written."""


class MoveOccurrence(OccurrenceEffect):
    """Let one occurrence take place at another time.

    Attributes:
        new_start: With offset.
        new_duration: Seconds or ISO 8601; the event's own where None.
    """

    effect: Literal["calendar.move_occurrence"] = "calendar.move_occurrence"
    new_start: AwareDatetime
    new_duration: timedelta | None = Field(default=None, ge=timedelta())

    def over_at(
        self, conn: Connection, household: Household, *, after: datetime
    ) -> datetime | None:
        """Return when the occurrence is over, where it is now and where it is to go."""
        before = super().over_at(conn, household, after=after)
        event = find_event(conn, Viewer.whole(household.id), self.event_id)
        length = self.new_duration
        if event is None:
            moved = day_over(self.new_start.astimezone(household.zone).date(), household.zone)
        else:
            ends = self.new_start + (event.duration if length is None else length)
            moved = end_of_day(event, Interval(self.new_start, ends), household.zone)
        return moved if before is None else max(before, moved)

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        event_changes.move_occurrence(
            conn,
            execution.household,
            self.event_id,
            self.original_start,
            new_start=self.new_start,
            new_duration=self.new_duration,
            change_id=execution.change_id,
            at=execution.at,
        )


class CancelOccurrence(OccurrenceEffect):
    """Let one occurrence not take place."""

    effect: Literal["calendar.cancel_occurrence"] = "calendar.cancel_occurrence"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        event_changes.cancel_occurrence(
            conn,
            execution.household,
            self.event_id,
            self.original_start,
            change_id=execution.change_id,
            at=execution.at,
        )


class AssignOccurrence(OccurrenceEffect):
    """Put members in charge of one occurrence.

    Attributes:
        responsible: Member ids; empty leaves nobody in charge.
    """

    effect: Literal["calendar.assign_occurrence"] = "calendar.assign_occurrence"
    responsible: tuple[str, ...]

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        event_changes.assign_occurrence(
            conn,
            execution.household,
            self.event_id,
            self.original_start,
            responsible=self.responsible,
            change_id=execution.change_id,
            at=execution.at,
        )


def undo(conn: Connection, execution: Execution) -> None:
    """Restore exactly what was before the change that `execution` names.

    Raises:
        ConflictError: It was changed again since.
        NotFoundError: There was no such change.
    """
    undo_change(conn, execution.household, execution.change_id, at=execution.at)


def _words(event: Event) -> str:
    return f"{event.summary}\n{event.place or ''}"


def _touched(event_id: str, stored: Event | None, after: str) -> Touched:
    """Return how a change touches an event: what others see is never one member's affair alone."""
    before = None if stored is None else stored.scope
    owner = person_of(after)
    maker = (stored.provenance.confirmed_by if stored else None) or owner
    return Touched(id=event_id, before=before, after=after, whose=maker if maker == owner else None)


def _stored_over_at(
    conn: Connection, household: Household, event_id: str, after: datetime
) -> datetime | None:
    stored = find_event(conn, Viewer.whole(household.id), event_id)
    if stored is None:
        return None
    changed = list_overrides(conn, household.id, event_id)
    return over_at(stored, changed, zone=household.zone, after=after)


def _check_event(event: Event, household: str) -> None:
    if event.household != household:
        raise InputError(f"event {event.id!r} belongs to another household")
    check_event(event)


def _confirmed(event: Event, execution: Execution) -> Event:
    provenance = replace(
        event.provenance, confirmed_by=execution.decided_by, action_id=execution.action_id
    )
    return replace(event, provenance=provenance)
