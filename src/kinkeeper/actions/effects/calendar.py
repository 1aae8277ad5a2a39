"""Effects on the event graph; every one is journaled there and can be taken back."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Literal

from pydantic import AwareDatetime, Field
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.actions.effects.events import EventField
from kinkeeper.calendar import changes
from kinkeeper.calendar.model import Event
from kinkeeper.calendar.repository import find_event, load_event
from kinkeeper.calendar.undo import undo_change
from kinkeeper.calendar.validity import check_event
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.household.viewing import Viewer, person_scope

NonEmpty = Field(min_length=1)


class _WholeEvent(Effect):
    """Something done to an event as a whole.

    Attributes:
        event: As it shall be.
    """

    event: EventField

    def scopes(self, conn: Connection, household: str) -> Collection[str]:
        """Return who may see the event, before and after."""
        return {self.event.scope, *_stored_scopes(conn, household, self.event.id)}

    @property
    def touched(self) -> Collection[str]:
        """Id of the event."""
        return (self.event.id,)

    def concerns_only(self, member_id: str) -> bool:
        """Whether only that member may see it."""
        return self.event.scope == person_scope(member_id)


class _NamedEvent(Effect):
    """Something done to an event that is named by its id.

    Attributes:
        event_id: The event.
    """

    event_id: str = NonEmpty

    def scopes(self, conn: Connection, household: str) -> Collection[str]:
        """Return who may see the event."""
        return _stored_scopes(conn, household, self.event_id)

    @property
    def touched(self) -> Collection[str]:
        """Id of the event."""
        return (self.event_id,)


class AddEvent(_WholeEvent):
    """Put a new event into the graph."""

    effect: Literal["calendar.add_event"] = "calendar.add_event"

    def check(self, household: str) -> None:
        """Refuse an event of another household, or one that cannot be expanded."""
        _check_event(self.event, household)

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        event = _confirmed(self.event, execution)
        changes.add_event(conn, event, change_id=execution.change_id, at=execution.at)


class UpdateEvent(_WholeEvent):
    """Put an event in the place of the one with its id.

    Attributes:
        based_on: As it was when this was proposed; if it has changed since, nothing is written.
    """

    effect: Literal["calendar.update_event"] = "calendar.update_event"
    based_on: EventField | None = None

    def check(self, household: str) -> None:
        """Refuse an event of another household, or one that cannot be expanded."""
        _check_event(self.event, household)
        if self.based_on is not None and self.based_on.id != self.event.id:
            raise InputError(f"based_on is another event than {self.event.id!r}")

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        if self.based_on is not None:
            stored = load_event(conn, Viewer.whole(execution.household), self.event.id)
            if stored != self.based_on:
                raise ConflictError(f"{stored.summary!r} has changed since this was proposed")
        event = _confirmed(self.event, execution)
        changes.update_event(conn, event, change_id=execution.change_id, at=execution.at)


class SetEventScope(_NamedEvent):
    """Let others see what an event is, or keep that to one member.

    Attributes:
        new_scope: Who may see it from then on.
    """

    effect: Literal["calendar.set_scope"] = "calendar.set_scope"
    new_scope: str = NonEmpty

    def scopes(self, conn: Connection, household: str) -> Collection[str]:
        """Return who may see the event, before and after."""
        return {*super().scopes(conn, household), self.new_scope}

    def check(self, household: str) -> None:
        """Accept any event; whether it exists shows when it is written."""

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        stored = load_event(conn, Viewer.whole(execution.household), self.event_id)
        changed = replace(stored, scope=self.new_scope)
        changes.update_event(conn, changed, change_id=execution.change_id, at=execution.at)


class CancelEvent(_NamedEvent):
    """Let an event with all its occurrences take place no more."""

    effect: Literal["calendar.cancel_event"] = "calendar.cancel_event"

    def check(self, household: str) -> None:
        """Accept any event; whether it exists shows when it is written."""

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        changes.cancel_event(
            conn,
            execution.household,
            self.event_id,
            change_id=execution.change_id,
            at=execution.at,
        )


class _OccurrenceEffect(_NamedEvent):
    """Something done to one occurrence.

    Attributes:
        original_start: The start its rule gives, with offset.
    """

    original_start: AwareDatetime

    def check(self, household: str) -> None:
        """Accept any occurrence; whether it exists shows when it is written."""


class MoveOccurrence(_OccurrenceEffect):
    """Let one occurrence take place at another time.

    Attributes:
        new_start: With offset.
        new_duration: Seconds or ISO 8601; the event's own where None.
    """

    effect: Literal["calendar.move_occurrence"] = "calendar.move_occurrence"
    new_start: AwareDatetime
    new_duration: timedelta | None = Field(default=None, ge=timedelta())

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        changes.move_occurrence(
            conn,
            execution.household,
            self.event_id,
            self.original_start,
            new_start=self.new_start,
            new_duration=self.new_duration,
            change_id=execution.change_id,
            at=execution.at,
        )


class CancelOccurrence(_OccurrenceEffect):
    """Let one occurrence not take place."""

    effect: Literal["calendar.cancel_occurrence"] = "calendar.cancel_occurrence"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        changes.cancel_occurrence(
            conn,
            execution.household,
            self.event_id,
            self.original_start,
            change_id=execution.change_id,
            at=execution.at,
        )


class AssignOccurrence(_OccurrenceEffect):
    """Put members in charge of one occurrence.

    Attributes:
        responsible: Member ids; empty leaves nobody in charge.
    """

    effect: Literal["calendar.assign_occurrence"] = "calendar.assign_occurrence"
    responsible: tuple[str, ...]

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        changes.assign_occurrence(
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


def _stored_scopes(conn: Connection, household: str, event_id: str) -> Collection[str]:
    stored = find_event(conn, Viewer.whole(household), event_id)
    return () if stored is None else (stored.scope,)


def _check_event(event: Event, household: str) -> None:
    if event.household != household:
        raise InputError(f"event {event.id!r} belongs to another household")
    check_event(event)


def _confirmed(event: Event, execution: Execution) -> Event:
    provenance = replace(
        event.provenance, confirmed_by=execution.decided_by, action_id=execution.action_id
    )
    return replace(event, provenance=provenance)
