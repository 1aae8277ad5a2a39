"""The journal of rows that people change: what was before and after, so that each can be taken back exactly."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Integer,
    String,
    Table,
    UniqueConstraint,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.store.prepared import Prepared
from kinkeeper.store.schema import Instant, metadata

# Tables that serve several packages: the journal of rows that people change.

_NULLABLE_JSON = JSON(none_as_null=True)

row_changes = Table(
    "row_changes",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("change_id", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("row_id", String(64), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("before", _NULLABLE_JSON),
    Column("after", _NULLABLE_JSON),
    Column("changed_at", Instant, nullable=False),
    Column("undone_at", Instant),
    UniqueConstraint("household", "kind", "row_id", "revision"),
)


Row = Mapping[str, Any]
"""What people change of a row: JSON-ready, and equal for equal contents."""

_journal = row_changes.c
_MADE = Prepared(
    select(_journal.kind, _journal.row_id).where(
        _journal.household == bindparam("household"), _journal.change_id == bindparam("change_id")
    )
)
_LAST = Prepared(
    select(func.coalesce(func.max(_journal.revision), 0)).where(
        *(_journal[name] == bindparam(name) for name in ("household", "kind", "row_id"))
    )
)
_INSERT = Prepared(
    insert(row_changes),
    ("household", "change_id", "kind", "row_id", "revision", "before", "after", "changed_at"),
)


class Write(Protocol):
    """Writes a row of one kind."""

    def __call__(
        self, conn: Connection, household: str, row_id: str, row: Row | None, /, *, at: datetime
    ) -> None:
        """Put something under an id of a household, or remove it where given None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The changes of one kind of row.

    Attributes:
        kind: What the rows are: "task", "note".
        read: Returns what stands under an id of a household, if anything does.
        write: Puts something there, or removes it.
    """

    kind: str
    read: Callable[[Connection, str, str], Row | None]
    write: Write

    def change(
        self,
        conn: Connection,
        household: str,
        row_id: str,
        after: Callable[[Row | None], Row | None],
        *,
        change_id: str,
        at: datetime,
    ) -> None:
        """Make a change and journal it; one that was made before is not made again, also after it was taken back.

        Args:
            after: Returns what shall stand there, given what does; None stands for nothing.

        Raises:
            ConflictError: The id belongs to a change of something else.
        """
        if self._is_made(conn, household, row_id, change_id):
            return
        before = self.read(conn, household, row_id)
        row = after(before)
        self.write(conn, household, row_id, row, at=at)
        of_row = {"household": household, "kind": self.kind, "row_id": row_id}
        values = {
            **of_row,
            "change_id": change_id,
            "revision": _LAST.execute(conn, of_row)[0][0] + 1,
            "before": before,
            "after": row,
            "changed_at": at,
        }
        _INSERT.execute(conn, values)

    def take_back(self, conn: Connection, household: str, change_id: str, *, at: datetime) -> None:
        """Put back exactly what was before a change; taking it back again does nothing.

        Raises:
            ConflictError: The row has changed since; the message names what of it.
        """
        mine = (_journal.household == household, _journal.change_id == change_id)
        entry = conn.execute(select(row_changes).where(*mine)).mappings().one_or_none()
        if entry is None:
            raise NotFoundError(f"there is no change {change_id!r}", change_id=change_id)
        if entry["undone_at"] is not None:
            return
        row_id, after = entry["row_id"], entry["after"]
        now = self.read(conn, household, row_id)
        if now != after:
            raise ConflictError(f"the {self.kind} {_differs(now, after)} since", row_id=row_id)
        self.write(conn, household, row_id, entry["before"], at=at)
        conn.execute(update(row_changes).where(*mine).values(undone_at=at))

    def _is_made(self, conn: Connection, household: str, row_id: str, change_id: str) -> bool:
        known = _MADE.execute(conn, {"household": household, "change_id": change_id})
        if known and tuple(known[0]) != (self.kind, row_id):
            kind, other_id = known[0]
            raise ConflictError(
                f"change id {change_id!r} is already used for {kind} {other_id!r}; "
                "give each change its own id",
                change_id=change_id,
            )
        return bool(known)


def changes_of(
    conn: Connection, household: str, kind: str, row_ids: Collection[str]
) -> list[tuple[str, Row, Row]]:
    """Return the changes of rows that hold, in their order: the row's id, what was before, what after.

    Making and removing a row is left out.
    """
    query = select(_journal.row_id, _journal.before, _journal.after).where(
        _journal.household == household,
        _journal.kind == kind,
        _journal.row_id.in_(row_ids),
        _journal.undone_at.is_(None),
    )
    rows = conn.execute(query.order_by(_journal.row_id, _journal.revision))
    return [(each.row_id, each.before, each.after) for each in rows if each.before and each.after]


def purge(conn: Connection, household: str, *, before: datetime) -> int:
    """Forget what was before and after changes made before then; they cannot be taken back any more.

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
