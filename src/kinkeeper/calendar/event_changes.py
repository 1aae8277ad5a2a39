"""Changes that a person can take back: the graph and its journal written together, and undone.

A change is identified by the id its caller gives: applying it again does nothing, also after it
was undone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select, update

from kinkeeper.calendar.event_rows import event_from_row, event_row, override_from_row, override_row
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
from kinkeeper.calendar.tables import event_changes
from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.time import as_utc
from kinkeeper.household.viewers import Viewer

# The journal of changes: what was before and after each, and which were undone.

_journal = event_changes.c


class Operation(StrEnum):
    """What a change did."""

    ADD_EVENT = "add_event"
    UPDATE_EVENT = "update_event"
    CANCEL_EVENT = "cancel_event"
    MOVE_OCCURRENCE = "move_occurrence"
    CANCEL_OCCURRENCE = "cancel_occurrence"
    ASSIGN_OCCURRENCE = "assign_occurrence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one event or one occurrence.

    Attributes:
        original_start: The one occurrence that is changed, in UTC; None for the whole event.
    """

    household: str
    change_id: str
    event_id: str
    operation: Operation
    at: datetime
    original_start: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A journaled change.

    Attributes:
        revision: Counts the changes of the event, from 1.
        before: Row of the event or override as it was; None where there was none.
        after: Row as the change left it.
        undone_at: When it was taken back; None while it holds.
    """

    change: Change
    revision: int
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    undone_at: datetime | None


def is_journaled(conn: Connection, change: Change) -> bool:
    """Whether the change was made before, undone or not.

    Raises:
        ConflictError: Its id belongs to a change of something else.
    """
    query = select(_journal.event_id, _journal.operation).where(
        _journal.household == change.household, _journal.change_id == change.change_id
    )
    known = conn.execute(query).one_or_none()
    if known is not None and tuple(known) != (change.event_id, change.operation.value):
        raise ConflictError(
            f"change id {change.change_id!r} is already used: {known.operation} of event {known.event_id!r}; "
            "give each change its own id",
            change_id=change.change_id,
        )
    return known is not None


def record(
    conn: Connection, change: Change, before: Mapping[str, Any] | None, after: Mapping[str, Any]
) -> None:
    """Journal a change in the transaction that makes it.

    Args:
        before: JSON-ready row as it was; None where there was none.
        after: JSON-ready row as it is now.
    """
    latest = select(func.coalesce(func.max(_journal.revision), 0)).where(
        _journal.household == change.household, _journal.event_id == change.event_id
    )
    values = {
        "household": change.household,
        "change_id": change.change_id,
        "event_id": change.event_id,
        "revision": conn.execute(latest).scalar_one() + 1,
        "operation": change.operation.value,
        "original_start": change.original_start,
        "before": before,
        "after": after,
        "changed_at": change.at,
    }
    conn.execute(insert(event_changes).values(values))


def load_entry(conn: Connection, household: str, change_id: str) -> Entry:
    """Return a journaled change."""
    query = select(event_changes).where(
        _journal.household == household, _journal.change_id == change_id
    )
    row = conn.execute(query).mappings().one_or_none()
    if row is None:
        raise NotFoundError(f"there is no change {change_id!r}", change_id=change_id)
    return Entry(
        change=Change(
            household=household,
            change_id=change_id,
            event_id=row["event_id"],
            operation=Operation(row["operation"]),
            at=row["changed_at"],
            original_start=row["original_start"],
        ),
        revision=row["revision"],
        before=row["before"],
        after=row["after"],
        undone_at=row["undone_at"],
    )


def check_is_latest(conn: Connection, entry: Entry) -> None:
    """Make sure that nothing the change touched was changed by a later one that holds.

    A change of the whole event touches all its occurrences.

    Raises:
        ConflictError: A later change holds; the message names it.
    """
    change = entry.change
    later = (
        select(_journal.change_id, _journal.operation)
        .where(
            _journal.household == change.household,
            _journal.event_id == change.event_id,
            _journal.revision > entry.revision,
            _journal.undone_at.is_(None),
        )
        .order_by(_journal.revision.desc())
    )
    if change.original_start is not None:
        same = _journal.original_start == change.original_start
        later = later.where(or_(_journal.original_start.is_(None), same))
    newer = conn.execute(later).first()
    if newer is not None:
        raise ConflictError(
            f"event {change.event_id!r} was changed again later, by {newer.operation} "
            f"{newer.change_id!r}; undo that first",
            event_id=change.event_id,
            change_id=newer.change_id,
        )


def mark_undone(conn: Connection, entry: Entry, at: datetime) -> None:
    """Note that a change holds no more.

    Args:
        conn: Open connection, in the transaction that restores what was before.
    """
    conn.execute(
        update(event_changes)
        .where(
            _journal.household == entry.change.household,
            _journal.change_id == entry.change.change_id,
        )
        .values(undone_at=at)
    )


def events_changed_by_people(conn: Connection, household: str) -> frozenset[str]:
    """Return the ids of events that were changed as a whole, by changes that hold."""
    query = select(_journal.event_id).where(
        _journal.household == household,
        _journal.original_start.is_(None),
        _journal.undone_at.is_(None),
    )
    return frozenset(conn.execute(query).scalars())


_Rows = tuple[Mapping[str, Any] | None, Mapping[str, Any]]
"""The row before a change, None where there was none, and after it."""


def add_event(conn: Connection, event: Event, *, change_id: str, at: datetime) -> str:
    """Write a new event.

    Returns:
        `change_id`.

    Raises:
        ConflictError: Another event has that id, or another change this change id.
    """

    def write() -> _Rows:
        before = find_event(conn, Viewer.whole(event.household), event.id)
        insert_event(conn, event)
        return None if before is None else event_row(before), event_row(event)

    change = _change(event.household, event.id, Operation.ADD_EVENT, change_id=change_id, at=at)
    return _journaled(conn, change, write)


def update_event(conn: Connection, event: Event, *, change_id: str, at: datetime) -> str:
    """Write an event in the place of the one with its id.

    Returns:
        `change_id`.

    Raises:
        ConflictError: Another change has this change id.
    """
    return _replace(conn, event, Operation.UPDATE_EVENT, change_id=change_id, at=at)


def cancel_event(
    conn: Connection, household: str, event_id: str, *, change_id: str, at: datetime
) -> str:
    """Let an event, with all its occurrences, take place no more.

    Returns:
        `change_id`.

    Raises:
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
        original_start: Aware start that the event's rule gives.
        new_duration: >= 0; None keeps the event's.

    Returns:
        `change_id`.

    Raises:
        ConflictError: Another change has this change id, or the whole event is cancelled.
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
        original_start: Aware start that the event's rule gives.

    Returns:
        `change_id`.

    Raises:
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
        original_start: Aware start that the event's rule gives.
        responsible: Member ids; empty leaves it without anyone in charge.

    Returns:
        `change_id`.

    Raises:
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


# Taking back a journaled change: exactly what was before it, unless what it touched was changed
# again since.


def undo_change(conn: Connection, household: str, change_id: str, *, at: datetime) -> None:
    """Restore exactly what was before a change; undoing it again does nothing.

    Raises:
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


def _restore_event(conn: Connection, entry: Entry) -> None:
    change = entry.change
    now = find_event(conn, Viewer.whole(change.household), change.event_id)
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
        f"event {entry.change.event_id!r} has been changed since: {', '.join(fields)}",
        event_id=entry.change.event_id,
    )
