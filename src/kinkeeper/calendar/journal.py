"""The journal of changes: what was before and after each, and which were undone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, func, insert, or_, select, update

from kinkeeper.calendar.tables import event_changes
from kinkeeper.core.errors import ConflictError, NotFoundError

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
        household: Tenant key.
        change_id: Identifies the change.
        event_id: Event that is changed.
        operation: What is done.
        at: When, aware.
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
        change: The change.
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
        conn: Open connection, in a write transaction.
        change: The change.
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
    """Return a journaled change.

    Raises:
        NotFoundError: There is none with that id.
    """
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
        entry: The change.
        at: When, aware.
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
