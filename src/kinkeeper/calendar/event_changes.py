"""Changes that a person can take back: each writes the graph and the journal together.

A change is identified by the id its caller gives: applying it again does nothing, also after it
was undone.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from kinkeeper.calendar.event_rows import event_row, override_row
from kinkeeper.calendar.journal import (
    Change,
    Operation,
    is_journaled,
    record,
)
from kinkeeper.calendar.model import Event, EventState, Override
from kinkeeper.calendar.recurrence import produces
from kinkeeper.calendar.repository import (
    find_event,
    find_override,
    insert_event,
    load_event,
    put_override,
    replace_event,
)
from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.time import as_utc
from kinkeeper.household.viewers import Viewer

_Rows = tuple[Mapping[str, Any] | None, Mapping[str, Any]]
"""The row before a change, None where there was none, and after it."""


def add_event(conn: Connection, event: Event, *, change_id: str, at: datetime) -> str:
    """Write a new event.

    Args:
        conn: Open connection, in a write transaction.
        event: The event.
        change_id: Identifies this change.
        at: When it is made, aware.

    Returns:
        `change_id`.

    Raises:
        ConflictError: Another event has that id, or another change this change id.
        InputError: The event cannot be stored or expanded.
    """

    def write() -> _Rows:
        before = find_event(conn, Viewer.whole(event.household), event.id)
        insert_event(conn, event)
        return None if before is None else event_row(before), event_row(event)

    change = _change(event.household, event.id, Operation.ADD_EVENT, change_id=change_id, at=at)
    return _journaled(conn, change, write)


def update_event(conn: Connection, event: Event, *, change_id: str, at: datetime) -> str:
    """Write an event in the place of the one with its id.

    Args:
        conn: Open connection, in a write transaction.
        event: The event as it shall be.
        change_id: Identifies this change.
        at: When it is made, aware.

    Returns:
        `change_id`.

    Raises:
        NotFoundError: There is no event with that id.
        ConflictError: Another change has this change id.
        InputError: The event cannot be stored or expanded.
    """
    return _replace(conn, event, Operation.UPDATE_EVENT, change_id=change_id, at=at)


def cancel_event(
    conn: Connection, household: str, event_id: str, *, change_id: str, at: datetime
) -> str:
    """Let an event, with all its occurrences, take place no more.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        event_id: The event.
        change_id: Identifies this change.
        at: When it is made, aware.

    Returns:
        `change_id`.

    Raises:
        NotFoundError: There is no event with that id.
        ConflictError: Another change has this change id.
    """
    cancelled = replace(
        load_event(conn, Viewer.whole(household), event_id), state=EventState.CANCELLED
    )
    return _replace(conn, cancelled, Operation.CANCEL_EVENT, change_id=change_id, at=at)


def move_occurrence(
    conn: Connection,
    household: str,
    event_id: str,
    original_start: datetime,
    *,
    new_start: datetime,
    new_duration: timedelta | None,
    change_id: str,
    at: datetime,
) -> str:
    """Let one occurrence take place at another time; a cancelled one takes place again.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        event_id: The event.
        original_start: Aware start that the event's rule gives.
        new_start: Aware.
        new_duration: >= 0; None keeps the event's.
        change_id: Identifies this change.
        at: When it is made, aware.

    Returns:
        `change_id`.

    Raises:
        NotFoundError: There is no such occurrence.
        ConflictError: Another change has this change id, or the whole event is cancelled.
        InputError: The new time cannot be stored.
    """
    change = _change(
        household, event_id, Operation.MOVE_OCCURRENCE, original_start, change_id=change_id, at=at
    )
    moved = {"start": as_utc(new_start), "duration": new_duration, "state": None}
    return _override(conn, change, original_start, moved)


def cancel_occurrence(
    conn: Connection,
    household: str,
    event_id: str,
    original_start: datetime,
    *,
    change_id: str,
    at: datetime,
) -> str:
    """Let one occurrence not take place.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        event_id: The event.
        original_start: Aware start that the event's rule gives.
        change_id: Identifies this change.
        at: When it is made, aware.

    Returns:
        `change_id`.

    Raises:
        NotFoundError: There is no such occurrence.
        ConflictError: Another change has this change id, or the whole event is cancelled.
    """
    change = _change(
        household, event_id, Operation.CANCEL_OCCURRENCE, original_start, change_id=change_id, at=at
    )
    return _override(conn, change, original_start, {"state": EventState.CANCELLED})


def assign_occurrence(
    conn: Connection,
    household: str,
    event_id: str,
    original_start: datetime,
    *,
    responsible: tuple[str, ...],
    change_id: str,
    at: datetime,
) -> str:
    """Put members in charge of one occurrence.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        event_id: The event.
        original_start: Aware start that the event's rule gives.
        responsible: Member ids; empty leaves it without anyone in charge.
        change_id: Identifies this change.
        at: When it is made, aware.

    Returns:
        `change_id`.

    Raises:
        NotFoundError: There is no such occurrence.
        ConflictError: Another change has this change id, or what it names is cancelled.
    """
    change = _change(
        household, event_id, Operation.ASSIGN_OCCURRENCE, original_start, change_id=change_id, at=at
    )
    return _override(conn, change, original_start, {"responsible": tuple(responsible)})


def _change(
    household: str,
    event_id: str,
    operation: Operation,
    original_start: datetime | None = None,
    *,
    change_id: str,
    at: datetime,
) -> Change:
    return Change(
        household=household,
        change_id=change_id,
        event_id=event_id,
        operation=operation,
        at=at,
        original_start=None if original_start is None else as_utc(original_start),
    )


def _journaled(conn: Connection, change: Change, write: Callable[[], _Rows]) -> str:
    """Write and journal a change, unless it was made before; return its id."""
    if not is_journaled(conn, change):
        before, after = write()
        record(conn, change, before, after)
    return change.change_id


def _replace(
    conn: Connection, event: Event, operation: Operation, *, change_id: str, at: datetime
) -> str:
    def write() -> _Rows:
        before = load_event(conn, Viewer.whole(event.household), event.id)
        replace_event(conn, event)
        return event_row(before), event_row(event)

    change = _change(event.household, event.id, operation, change_id=change_id, at=at)
    return _journaled(conn, change, write)


def _override(
    conn: Connection, change: Change, original_start: datetime, fields: Mapping[str, Any]
) -> str:
    start = as_utc(original_start)

    def write() -> _Rows:
        event = load_event(conn, Viewer.whole(change.household), change.event_id)
        if not produces(event, start):
            raise NotFoundError(f"event {event.id!r} has no occurrence at {start:%Y-%m-%dT%H:%MZ}")
        before = find_override(conn, change.household, event.id, start)
        _check_takes_place(event, before, start, is_revived="state" in fields)
        after = replace(before or Override(event_id=event.id, original_start=start), **fields)
        put_override(conn, change.household, after)
        return None if before is None else override_row(before), override_row(after)

    return _journaled(conn, change, write)


def _check_takes_place(
    event: Event, override: Override | None, start: datetime, *, is_revived: bool
) -> None:
    """Refuse to change what is cancelled, unless the change says anew whether it takes place."""
    is_gone = override is not None and override.state is EventState.CANCELLED and not is_revived
    if is_gone or event.state is EventState.CANCELLED:
        raise ConflictError(
            f"event {event.id!r} at {start:%Y-%m-%dT%H:%MZ} is cancelled; undo that first",
            event_id=event.id,
        )
