"""Writing the rows of facts, with their change numbers and without vectors of words that are gone."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, delete, insert, update

from kinkeeper.memory.change_numbers import note_removals, reserve
from kinkeeper.memory.facts import FACT
from kinkeeper.memory.memory_rows import fact_row, in_parts
from kinkeeper.memory.model import Fact
from kinkeeper.memory.tables import facts, memory_vectors

FACTS = facts.name

_columns = facts.c
_KEY = ("household", "id")
_REPLACE = (
    update(facts)
    .where(_columns.household == bindparam("of_household"), _columns.id == bindparam("of_id"))
    .values({column.name: bindparam(column.name) for column in facts.c if column.name not in _KEY})
)


def insert_facts(conn: Connection, new: Sequence[Fact]) -> list[Fact]:
    """Store facts that are not known.

    Returns:
        The facts with their change numbers.
    """
    if not new:
        return []
    numbered = _numbered(conn, new)
    conn.execute(insert(facts), [fact_row(fact) for fact in numbered])
    return numbered


def replace_facts(conn: Connection, changed: Sequence[Fact]) -> list[Fact]:
    """Write facts in the place of those with their ids; vectors of other words go.

    Args:
        conn: In a write transaction.
        changed: All known; `PENDING_EMBED` where the words are not those of the stored vector.

    Returns:
        The facts with their change numbers.
    """
    if not changed:
        return []
    numbered = _numbered(conn, changed)
    rows = [fact_row(fact) for fact in numbered]
    for row in rows:
        row["of_household"], row["of_id"] = row.pop("household"), row.pop("id")
    conn.execute(_REPLACE, rows)
    return numbered


def forget_vectors(conn: Connection, household: str, kind: str, ids: Iterable[str]) -> None:
    """Delete the vectors of words that changed or are gone.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        kind: As in the table of vectors.
        ids: Whose.
    """
    vectors = memory_vectors.c
    for part in in_parts(sorted(set(ids))):
        conn.execute(
            delete(memory_vectors).where(
                vectors.household == household, vectors.kind == kind, vectors.id.in_(part)
            )
        )


def delete_facts(conn: Connection, household: str, ids: Iterable[str]) -> None:
    """Remove facts and their vectors: for undoing and erasing only."""
    gone = sorted(set(ids))
    for part in in_parts(gone):
        conn.execute(delete(facts).where(_columns.household == household, _columns.id.in_(part)))
    forget_vectors(conn, household, FACT, gone)
    note_removals(conn, household, FACT, gone)


def _numbered(conn: Connection, written: Sequence[Fact]) -> list[Fact]:
    first = reserve(conn, written[0].household, len(written))
    return [replace(fact, seq=first + place) for place, fact in enumerate(written)]
