"""The journal of rows that people change: what was before and after, so that each can be taken back exactly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.store.tables import row_changes

Row = Mapping[str, Any]
"""What people change of a row: JSON-ready, and equal for equal contents."""

_journal = row_changes.c


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """One change of one row.

    Attributes:
        household: Tenant key.
        change_id: Identifies the change; applying it again does nothing, also after it was taken back.
        kind: What the row is: "task", "note".
        row_id: Which one.
        at: When, aware.
    """

    household: str
    change_id: str
    kind: str
    row_id: str
    at: datetime


def is_recorded(conn: Connection, change: RowChange) -> bool:
    """Whether the change was made before, taken back or not.

    Raises:
        ConflictError: Its id belongs to a change of something else.
    """
    query = select(_journal.kind, _journal.row_id).where(
        _journal.household == change.household, _journal.change_id == change.change_id
    )
    known = conn.execute(query).one_or_none()
    if known is not None and tuple(known) != (change.kind, change.row_id):
        raise ConflictError(
            f"change {change.change_id!r} was one of {known.kind} {known.row_id!r}; "
            "give every change its own id",
            change_id=change.change_id,
        )
    return known is not None


def record(conn: Connection, change: RowChange, before: Row | None, after: Row | None) -> None:
    """Journal a change in the transaction that makes it.

    Args:
        conn: Open connection, in a write transaction.
        change: The change.
        before: What was there; None where there was nothing.
        after: What is there now; None where it was removed.
    """
    latest = select(func.coalesce(func.max(_journal.revision), 0)).where(
        _journal.household == change.household,
        _journal.kind == change.kind,
        _journal.row_id == change.row_id,
    )
    values = {
        "household": change.household, "change_id": change.change_id, "kind": change.kind,
        "row_id": change.row_id, "revision": conn.execute(latest).scalar_one() + 1,
        "before": None if before is None else dict(before),
        "after": None if after is None else dict(after), "changed_at": change.at,
    }  # fmt: skip
    conn.execute(insert(row_changes).values(values))


def take_back(
    conn: Connection,
    household: str,
    change_id: str,
    *,
    at: datetime,
    read: Callable[[str], Row | None],
    write: Callable[[str, Row | None], None],
) -> None:
    """Put back exactly what was before a change; taking it back again does nothing.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        change_id: The change.
        at: When, aware.
        read: Returns what is there now under an id, if anything.
        write: Puts something under an id, or removes it where given None.

    Raises:
        NotFoundError: There is no such change.
        ConflictError: The row has changed since; the message names what of it.
    """
    mine = (_journal.household == household, _journal.change_id == change_id)
    entry = conn.execute(select(row_changes).where(*mine)).mappings().one_or_none()
    if entry is None:
        raise NotFoundError(f"there is no change {change_id!r}", change_id=change_id)
    if entry["undone_at"] is not None:
        return
    now, after = read(entry["row_id"]), entry["after"]
    if now != after:
        raise ConflictError(
            f"the {entry['kind']} {_differs(now, after)} since", row_id=entry["row_id"]
        )
    write(entry["row_id"], entry["before"])
    conn.execute(update(row_changes).where(*mine).values(undone_at=at))


def purge(conn: Connection, household: str, *, before: datetime) -> int:
    """Forget what was before and after changes made before then; they cannot be taken back any more.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        before: Aware.

    Returns:
        How many changes were forgotten.
    """
    old = (_journal.household == household, _journal.changed_at < before)
    return conn.execute(delete(row_changes).where(*old)).rowcount


def _differs(now: Row | None, after: Row | None) -> str:
    if now is None:
        return "was removed"
    if after is None:
        return "was put back"
    return f"was changed ({', '.join(name for name in after if now.get(name) != after[name])})"
