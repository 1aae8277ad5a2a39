"""Rows of memory: how they are written and read back, and the number that each change of one takes."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Table, bindparam, insert, select, update

from kinkeeper.core.time import from_text, to_text
from kinkeeper.memory.confidence import leaves_at
from kinkeeper.memory.model import (
    Category,
    EmbedState,
    Episode,
    EpisodeKind,
    Fact,
    FactStatus,
    Origin,
    Row,
    Standing,
    Statement,
    StatementType,
)
from kinkeeper.memory.tables import memory_counters, memory_removals
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared
from kinkeeper.store.schema import Instant

T = TypeVar("T")

IDS_PER_QUERY = 500
"""Databases limit the parameters of one statement."""

_EPISODE_FIELDS = tuple(field.name for field in fields(Episode))
_STATEMENT_COLUMNS = {
    field.name: {"start": "start_index", "end": "end_index"}.get(field.name, field.name)
    for field in fields(Statement)
}
_FACT_FIELDS = tuple(field.name for field in fields(Fact))


def in_parts(values: Sequence[T], size: int = IDS_PER_QUERY) -> Iterator[Sequence[T]]:
    """Yield values in parts that fit one statement."""
    for at in range(0, len(values), size):
        yield values[at : at + size]


def episode_row(episode: Episode) -> dict[str, Any]:
    """Return the row of an episode, without what only the store knows (key, reading, stored when)."""
    return {name: _stored(getattr(episode, name)) for name in _EPISODE_FIELDS}


def episode_from_row(row: Row) -> Episode:
    """Return the episode of a stored row."""
    values = {name: row[name] for name in _EPISODE_FIELDS}
    values |= {
        "kind": EpisodeKind(row["kind"]),
        "participants": tuple(row["participants"]),
        "origin": Origin(row["origin"]),
        "embed_state": EmbedState(row["embed_state"]),
    }
    return Episode(**values)


def statement_row(statement: Statement) -> dict[str, Any]:
    """Return the row of a statement."""
    return {
        column: _stored(getattr(statement, name)) for name, column in _STATEMENT_COLUMNS.items()
    }


def statement_from_row(row: Row) -> Statement:
    """Return the statement of a stored row."""
    values = {name: row[column] for name, column in _STATEMENT_COLUMNS.items()}
    values |= {
        "category": Category(row["category"]),
        "type": StatementType(row["type"]),
        "origin": Origin(row["origin"]),
        "standing": Standing(row["standing"]),
    }
    return Statement(**values)


def fact_row(fact: Fact) -> dict[str, Any]:
    """Return the row of a fact, with when it leaves retrieval."""
    values = {name: _stored(getattr(fact, name)) for name in _FACT_FIELDS}
    return values | {"due_at": leaves_at(fact)}


def fact_from_row(row: Row) -> Fact:
    """Return the fact of a stored row."""
    values = {name: row[name] for name in _FACT_FIELDS}
    values |= {
        "category": Category(row["category"]),
        "type": StatementType(row["type"]),
        "details": tuple(row["details"]),
        "origin": Origin(row["origin"]),
        "derived_from": tuple(row["derived_from"]),
        "status": FactStatus(row["status"]),
    }
    return Fact(**values)


def image_of(row: Row) -> dict[str, Any]:
    """Return a row as JSON can hold it."""
    return {
        name: to_text(value) if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def row_of(table: Table, image: Row) -> dict[str, Any]:
    """Return the row of an image: its instants as such again.

    Args:
        image: Made by `image_of`; may lack columns.
    """
    return {
        name: from_text(value)
        if isinstance(table.c[name].type, Instant) and value is not None
        else value
        for name, value in image.items()
    }


def _stored(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


# Change numbers of a household's memory: whoever keeps an index reads only what has a higher one.

TOPIC = "memory"
"""What a commit that changes memory touches."""

_SECRET_BYTES = 32

_counters = memory_counters.c

_LAST = Prepared(select(_counters.seq).where(_counters.household == bindparam("household")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Generic[T]):
    """A row that was changed or is gone.

    Attributes:
        value: As it is now; None where it is gone.
    """

    seq: int
    id: str
    value: T | None


def reserve(conn: Connection, household: str, count: int = 1) -> int:
    """Take change numbers for rows that are written in this transaction, and say that memory changes.

    Whoever reserves holds the household's counter until the commit, so that numbers become visible
    in their order.

    Args:
        count: How many, > 0.

    Returns:
        The first of them; the others follow it.
    """
    touch(conn, TOPIC, household)
    taken = conn.execute(
        update(memory_counters)
        .where(_counters.household == household)
        .values(seq=_counters.seq + count)
        .returning(_counters.seq)
    ).scalar_one_or_none()
    if taken is None:
        values = {
            "household": household,
            "seq": count,
            "secret": secrets.token_hex(_SECRET_BYTES),
            "mapped_seq": 0,
        }
        conn.execute(insert(memory_counters), values)
        return 1
    return int(taken) - count + 1


def last_seq(conn: Connection, household: str) -> int:
    """Return the highest change number of a household, 0 where nothing was ever stored."""
    rows = _LAST.execute(conn, {"household": household})
    return int(rows[0][0]) if rows else 0


def note_removals(conn: Connection, household: str, kind: str, ids: Iterable[str]) -> None:
    """Tell followers that rows are gone.

    Args:
        conn: In the transaction that deletes them.
        kind: "episode" or "fact".
    """
    gone = sorted(set(ids))
    if not gone:
        return
    first = reserve(conn, household, len(gone))
    rows = [
        {"household": household, "seq": first + place, "kind": kind, "id": each}
        for place, each in enumerate(gone)
    ]
    conn.execute(insert(memory_removals), rows)


def removed(
    conn: Connection, household: str, kind: str, *, after_seq: int, limit: int
) -> list[Changed[T]]:
    """Return rows that are gone, in the order of their change numbers.

    Args:
        kind: "episode" or "fact".
        after_seq: Last number that is known already.
        limit: Most rows, > 0.
    """
    columns = memory_removals.c
    query = (
        select(columns.seq, columns.id)
        .where(columns.household == household, columns.kind == kind, columns.seq > after_seq)
        .order_by(columns.seq)
        .limit(limit)
    )
    return [Changed(seq=row.seq, id=row.id, value=None) for row in conn.execute(query)]
