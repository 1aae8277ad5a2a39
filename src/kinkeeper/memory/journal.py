"""The journal of memory: what every change made different, row by row, and taking it back.

A change-set is one transaction. It holds an image of each row it touched: the columns that are
different, as they were and as they became; None where there was no row. Taking it back puts the
earlier values in their places again, unless a later change rests on them. Whether the dense leg
knows a row is not part of it: a row whose words came back is learnt anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, insert, select, tuple_, update

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.memory.memory_rows import image_of, in_parts, reserve
from kinkeeper.memory.tables import memory_change_sets, memory_changes

_sets = memory_change_sets.c
_images = memory_changes.c

ARITHMETIC = frozenset({"confidence", "decayed_until", "due_at"})
"""Columns in which upkeep keeps count: what they say later does not rest on what they said."""


class Cause(StrEnum):
    """Why memory was changed."""

    WRITE = "write"
    IMPORT = "import"
    CORRECT = "correct"
    EDIT = "edit"
    WRONG = "wrong"
    RETRACT = "retract"
    PRIVATE = "private"
    DECIDE = "decide"
    CONSOLIDATE = "consolidate"
    FORGET = "forget"
    MEND = "mend"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """One change.

    Attributes:
        number: Orders the household's changes.
        cause: Why it was made.
        summary: In one line, without words of what is remembered.
        made_by: Member id, "model", "upkeep", or None where a message did it.
        undone_at: When it was taken back; None while it holds.
    """

    household: str
    id: str
    number: int
    cause: Cause
    summary: str
    made_by: str | None
    made_at: datetime
    undone_at: datetime | None = None
    undone_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What a change made different in one row.

    Attributes:
        table: Name of the table.
        before: Columns as they were; None where there was no such row.
        after: The same columns as they became; empty for a new row.
    """

    table: str
    row_id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]

    @property
    def touched(self) -> frozenset[str] | None:
        """Columns that became different; None for a new row."""
        return None if self.before is None else frozenset(self.before)


class Change:
    """A change while it is being made: collects images. Made by `changing`."""

    def __init__(self, made: ChangeSet) -> None:
        self.made = made
        self._before: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._after: dict[tuple[str, str], Mapping[str, Any]] = {}

    def note(
        self, table: str, row_id: str, before: Mapping[str, Any] | None, after: Mapping[str, Any]
    ) -> None:
        """Keep an image.

        Args:
            table: Name of the table.
            before: The row as it was; None where there was none.
            after: The row as it is now; the same columns.
        """
        place = (table, row_id)
        self._before.setdefault(place, None if before is None else image_of(before))
        self._after[place] = image_of(after)

    def images(self) -> list[Image]:
        """Return what became different, in the order in which rows were touched first."""
        found = []
        for (table, row_id), before in self._before.items():
            if before is None:
                found.append(Image(table=table, row_id=row_id, before=None, after={}))
                continue
            after = self._after[table, row_id]
            columns = [name for name in before if name != "seq" and before[name] != after[name]]
            if columns:
                image = Image(
                    table=table,
                    row_id=row_id,
                    before={name: before[name] for name in columns},
                    after={name: after[name] for name in columns},
                )
                found.append(image)
        return found


@contextmanager
def changing(
    conn: Connection, household: str, *, cause: Cause, summary: str, by: str | None, at: datetime
) -> Iterator[Change]:
    """Collect what a transaction changes, and journal it at the end of the block if it is anything.

    Args:
        cause: Why.
        summary: In one line, without words of what is remembered.
        by: Member id, "model" or "upkeep"; None where a message does it.
    """
    number = reserve(conn, household)
    change = Change(
        ChangeSet(
            household=household,
            id=stable_id(household, "memory change", number),
            number=number,
            cause=cause,
            summary=summary,
            made_by=by,
            made_at=at,
        )
    )
    yield change
    images = change.images()
    if not images:
        return
    made = change.made
    conn.execute(
        insert(memory_change_sets),
        {
            "household": household,
            "id": made.id,
            "number": number,
            "cause": cause.value,
            "summary": summary,
            "made_by": by,
            "made_at": at,
        },
    )
    conn.execute(
        insert(memory_changes),
        [
            {
                "household": household,
                "change_set": made.id,
                "position": place,
                "row_table": image.table,
                "row_id": image.row_id,
                "before": image.before,
                "after": image.after,
            }
            for place, image in enumerate(images)
        ],
    )


def find_change(conn: Connection, household: str, change_set: str) -> ChangeSet:
    """Return a change.

    Raises:
        NotFoundError: There is none with that id.
    """
    query = select(memory_change_sets).where(_sets.household == household, _sets.id == change_set)
    row = conn.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no memory change {change_set!r}", id=change_set)
    return _change_set(row)


def list_changes(
    conn: Connection, household: str, *, before: int | None = None, limit: int = 50
) -> list[ChangeSet]:
    """Return changes, newest first.

    Args:
        before: Only those with a lower number, where given.
        limit: Most of them, > 0.
    """
    query = select(memory_change_sets).where(_sets.household == household)
    if before is not None:
        query = query.where(_sets.number < before)
    rows = conn.execute(query.order_by(_sets.number.desc()).limit(limit))
    return [_change_set(row) for row in rows]


def images_of(conn: Connection, household: str, change_set: str) -> list[Image]:
    """Return what a change made different; nothing where its images were purged."""
    query = (
        select(memory_changes)
        .where(_images.household == household, _images.change_set == change_set)
        .order_by(_images.position)
    )
    return [_image(row) for row in conn.execute(query)]


def images_of_row(
    conn: Connection, household: str, table: str, row_id: str
) -> list[tuple[ChangeSet, Image]]:
    """Return what changes that hold made different in one row, newest first."""
    query = (
        select(memory_change_sets, memory_changes)
        .join(
            memory_changes,
            and_(_images.household == _sets.household, _images.change_set == _sets.id),
        )
        .where(
            _sets.household == household,
            _images.row_table == table,
            _images.row_id == row_id,
            _sets.undone_at.is_(None),
        )
        .order_by(_sets.number.desc())
    )
    return [(_change_set(row), _image(row)) for row in conn.execute(query)]


def why_not_undoable(conn: Connection, change: ChangeSet) -> str | None:
    """Return why a change cannot be taken back; None where it can."""
    if change.undone_at is not None:
        return "it has already been undone"
    if change.cause is Cause.FORGET:
        return "what was forgotten has been erased"
    images = images_of(conn, change.household, change.id)
    if not images:
        return "it is too old: the earlier state is no longer kept"
    later = _later_on(conn, change, images)
    if later is None:
        return None
    return f"{later.cause} of {later.made_at:%Y-%m-%d %H:%M} UTC changed the same thing later; undo that first"


def check_undoable(conn: Connection, change: ChangeSet) -> None:
    """Make sure that a change can be taken back.

    Raises:
        ConflictError: It cannot; the message says why, and names what has to go first.
    """
    why = why_not_undoable(conn, change)
    if why is not None:
        raise ConflictError(f"this memory change cannot be undone: {why}", id=change.id)


def mark_undone(conn: Connection, change: ChangeSet, *, by: str | None, at: datetime) -> None:
    """Note that a change holds no more, in the transaction that restores what was before."""
    conn.execute(
        update(memory_change_sets)
        .where(_sets.household == change.household, _sets.id == change.id)
        .values(undone_at=at, undone_by=by)
    )


def purge_images(conn: Connection, household: str, *, older_than: datetime) -> int:
    """Let go of what was before old changes: they cannot be taken back any more.

    Args:
        older_than: Changes made before, aware.

    Returns:
        How many images were purged.
    """
    old = select(_sets.id).where(_sets.household == household, _sets.made_at < older_than)
    purged = conn.execute(
        delete(memory_changes).where(_images.household == household, _images.change_set.in_(old))
    )
    return purged.rowcount


def _later_on(conn: Connection, change: ChangeSet, images: Sequence[Image]) -> ChangeSet | None:
    """Return the latest change that rests on what this one did."""
    touched = {(image.table, image.row_id): image.touched for image in images}
    latest: ChangeSet | None = None
    for part in in_parts(sorted(touched)):
        query = (
            select(memory_change_sets, memory_changes)
            .join(
                memory_changes,
                and_(_images.household == _sets.household, _images.change_set == _sets.id),
            )
            .where(
                _sets.household == change.household,
                _sets.number > change.number,
                _sets.undone_at.is_(None),
                tuple_(_images.row_table, _images.row_id).in_(part),
            )
            .order_by(_sets.number.desc())
        )
        for row in conn.execute(query):
            image = _image(row)
            if (latest is None or row.number > latest.number) and _rests_on(
                image, touched[image.table, image.row_id]
            ):
                latest = _change_set(row)
    return latest


def _rests_on(later: Image, touched: frozenset[str] | None) -> bool:
    columns = later.touched
    if columns is None:
        return True
    if "scope" in columns:
        # Taking back what is older would tell those who see the row now what it said to others then.
        return True
    columns -= ARITHMETIC
    return bool(columns) if touched is None else bool(columns & touched)


def _change_set(row: Row[Any]) -> ChangeSet:
    return ChangeSet(
        household=row.household,
        id=row.id,
        number=row.number,
        cause=Cause(row.cause),
        summary=row.summary,
        made_by=row.made_by,
        made_at=row.made_at,
        undone_at=row.undone_at,
        undone_by=row.undone_by,
    )


def _image(row: Row[Any]) -> Image:
    return Image(table=row.row_table, row_id=row.row_id, before=row.before, after=row.after or {})
