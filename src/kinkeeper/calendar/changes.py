"""Changes that a person can take back: each writes the graph and the journal together.

A change is identified by the id its caller gives: applying it again does nothing, also after it
was undone. It can be undone unless what it touched was changed again since.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from kinkeeper.calendar.journal import (
    Change,
    Entry,
    Operation,
    check_is_latest,
    is_journaled,
    load_entry,
    mark_undone,
    record,
)
from kinkeeper.calendar.model import Event, EventState, Override
from kinkeeper.calendar.recurrence import produces
from kinkeeper.calendar.repository import (
    delete_event,
    delete_override,
    find_event,
    find_override,
    insert_event,
    load_event,
    put_override,
    replace_event,
)
from kinkeeper.calendar.rows import event_from_row, event_row, override_from_row, override_row
from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.time import as_utc


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
    change = _change_of(event, Operation.ADD_EVENT, change_id, at)
    if not is_journaled(conn, change):
        before = find_event(conn, event.household, event.id)
        insert_event(conn, event)
        record(conn, change, None if before is None else event_row(before), event_row(event))
    return change_id


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
    return _replace(conn, event, _change_of(event, Operation.UPDATE_EVENT, change_id, at))


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
    cancelled = replace(load_event(conn, household, event_id), state=EventState.CANCELLED)
    return _replace(conn, cancelled, _change_of(cancelled, Operation.CANCEL_EVENT, change_id, at))


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
    change = Change(
        household=household,
        change_id=change_id,
        event_id=event_id,
        operation=Operation.MOVE_OCCURRENCE,
        at=at,
        original_start=as_utc(original_start),
    )
    moved = {"start": as_utc(new_start), "duration": new_duration, "state": None}
    return _override(conn, change, moved)


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
    change = Change(
        household=household,
        change_id=change_id,
        event_id=event_id,
        operation=Operation.CANCEL_OCCURRENCE,
        at=at,
        original_start=as_utc(original_start),
    )
    return _override(conn, change, {"state": EventState.CANCELLED})


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
    change = Change(
        household=household,
        change_id=change_id,
        event_id=event_id,
        operation=Operation.ASSIGN_OCCURRENCE,
        at=at,
        original_start=as_utc(original_start),
    )
    return _override(conn, change, {"responsible": tuple(responsible)})


def undo_change(conn: Connection, household: str, change_id: str, *, at: datetime) -> None:
    """Restore exactly what was before a change; undoing it again does nothing.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        change_id: The change.
        at: When it is undone, aware.

    Raises:
        NotFoundError: There is no such change.
        ConflictError: The event was changed again since; the message names by what.
    """
    entry = load_entry(conn, household, change_id)
    if entry.undone_at is not None:
        return
    check_is_latest(conn, entry)
    if entry.change.original_start is None:
        _restore_event(conn, entry)
    else:
        _restore_override(conn, entry, entry.change.original_start)
    mark_undone(conn, entry, at)


def _change_of(event: Event, operation: Operation, change_id: str, at: datetime) -> Change:
    return Change(
        household=event.household,
        change_id=change_id,
        event_id=event.id,
        operation=operation,
        at=at,
    )


def _replace(conn: Connection, event: Event, change: Change) -> str:
    if not is_journaled(conn, change):
        before = load_event(conn, event.household, event.id)
        replace_event(conn, event)
        record(conn, change, event_row(before), event_row(event))
    return change.change_id


def _override(conn: Connection, change: Change, fields: Mapping[str, Any]) -> str:
    if is_journaled(conn, change) or change.original_start is None:
        return change.change_id
    event = load_event(conn, change.household, change.event_id)
    start = change.original_start
    if not produces(event, start):
        raise NotFoundError(f"event {event.id!r} has no occurrence at {start:%Y-%m-%dT%H:%MZ}")
    before = find_override(conn, change.household, event.id, start)
    is_revived = "state" in fields
    is_gone = before is not None and before.state is EventState.CANCELLED and not is_revived
    if is_gone or event.state is EventState.CANCELLED:
        raise ConflictError(
            f"event {event.id!r} at {start:%Y-%m-%dT%H:%MZ} is cancelled; undo that first",
            event_id=event.id,
        )
    after = replace(before or Override(event_id=event.id, original_start=start), **fields)
    put_override(conn, change.household, after)
    record(conn, change, None if before is None else override_row(before), override_row(after))
    return change.change_id


def _restore_event(conn: Connection, entry: Entry) -> None:
    change = entry.change
    now = find_event(conn, change.household, change.event_id)
    _check_unchanged(entry, None if now is None else event_row(now))
    if entry.before is None:
        delete_event(conn, change.household, change.event_id)
    else:
        replace_event(conn, event_from_row(entry.before))


def _restore_override(conn: Connection, entry: Entry, original_start: datetime) -> None:
    change = entry.change
    now = find_override(conn, change.household, change.event_id, original_start)
    _check_unchanged(entry, None if now is None else override_row(now))
    if entry.before is None:
        delete_override(conn, change.household, override_from_row(entry.after))
    else:
        put_override(conn, change.household, override_from_row(entry.before))


def _check_unchanged(entry: Entry, now: Mapping[str, Any] | None) -> None:
    if now == entry.after:
        return
    after = entry.after
    fields = ["removed"] if now is None else [key for key in after if now.get(key) != after[key]]
    raise ConflictError(
        f"event {entry.change.event_id!r} was changed since: {', '.join(fields)}",
        event_id=entry.change.event_id,
    )
