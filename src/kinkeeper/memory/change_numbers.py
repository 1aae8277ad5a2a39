"""Change numbers of a household's memory: whoever keeps an index reads only what has a higher one."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy import Connection, bindparam, insert, select, update

from kinkeeper.memory.tables import memory_counters, memory_removals
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared

T = TypeVar("T")

TOPIC = "memory"
"""What a commit that changes memory touches."""

_SECRET_BYTES = 32

_counters = memory_counters.c

_LAST = Prepared(select(_counters.seq).where(_counters.household == bindparam("household")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Generic[T]):
    """A row that was changed or is gone.

    Attributes:
        seq: Its change number.
        id: Of the row.
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
        conn: In a write transaction.
        household: Tenant key.
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
            "household": household, "seq": count, "secret": secrets.token_hex(_SECRET_BYTES),
            "mapped_seq": 0,
        }  # fmt: skip
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
        household: Tenant key.
        kind: "episode" or "fact".
        ids: Of the rows.
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
        conn: Open connection.
        household: Tenant key.
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
