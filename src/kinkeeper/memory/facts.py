"""Facts as they stand: reading them, and writing their rows."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, or_, select, update

from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.memory_rows import (
    Changed,
    fact_from_row,
    fact_row,
    in_parts,
    note_removals,
    removed,
    reserve,
    statement_from_row,
)
from kinkeeper.memory.model import ACTIVE_STATUSES, Category, Fact, FactStatus, Statement
from kinkeeper.memory.tables import facts, memory_vectors, statements
from kinkeeper.store.prepared import in_own_scope

FACT = "fact"

_columns = facts.c


def find_fact(conn: Connection, viewer: Viewer, fact_id: str) -> Fact | None:
    """Return a fact, whatever its status; None where there is none or the viewer may not see it."""
    row = conn.execute(_seen_by(viewer).where(_columns.id == fact_id)).mappings().one_or_none()
    return None if row is None else fact_from_row(row)


def load_fact(conn: Connection, viewer: Viewer, fact_id: str) -> Fact:
    """Return a fact, whatever its status.

    Raises:
        NotFoundError: There is none that this viewer may see.
    """
    found = find_fact(conn, viewer, fact_id)
    if found is None:
        raise NotFoundError(f"there is no fact {fact_id!r}", id=fact_id)
    return found


def merged_into(conn: Connection, household: str, fact_ids: Iterable[str]) -> list[Fact]:
    """Return the facts that were merged into any of these, of all scopes."""
    return [
        fact_from_row(row)
        for part in in_parts(sorted(set(fact_ids)))
        for row in conn.execute(
            select(facts).where(_columns.household == household, _columns.merged_into_id.in_(part))
        ).mappings()
    ]


def list_facts(
    conn: Connection,
    viewer: Viewer,
    *,
    now: datetime,
    categories: Collection[Category] = (),
    since: datetime | None = None,
    limit: int = 1000,
) -> list[Fact]:
    """Return facts that hold now, newest words first.

    Args:
        categories: Only of these, where given.
        since: Only what was said or supported since, where given.
        limit: Most of them, > 0.
    """
    query = _seen_by(viewer).where(
        _columns.status.in_(ACTIVE_STATUSES),
        _columns.held_from <= now,
        or_(_columns.valid_to.is_(None), _columns.valid_to > now),
    )
    if categories:
        query = query.where(_columns.category.in_(sorted(each.value for each in categories)))
    if since is not None:
        query = query.where(_columns.last_evidence_at >= since)
    query = query.order_by(_columns.said_at.desc(), _columns.id).limit(limit)
    return _facts(conn, query)


def facts_seen(conn: Connection, viewer: Viewer, ids: Iterable[str]) -> dict[str, Fact]:
    """Return the facts of some ids that a viewer may see, by id and whatever their status."""
    found = facts_by_id(conn, viewer.household, ids)
    return {each.id: each for each in found.values() if viewer.sees(each.scope)}


def facts_by_id(conn: Connection, household: str, ids: Iterable[str]) -> dict[str, Fact]:
    """Return facts by id, of all scopes and whatever their status; unknown ones are left out."""
    found: dict[str, Fact] = {}
    for part in in_parts(sorted(set(ids))):
        query = select(facts).where(_columns.household == household, _columns.id.in_(part))
        found |= {fact.id: fact for fact in _facts(conn, query)}
    return found


def replaced_by(conn: Connection, household: str, ids: Iterable[str]) -> frozenset[str]:
    """Return those of the facts that took the place of another."""
    found: set[str] = set()
    for part in in_parts(sorted(set(ids))):
        query = select(_columns.superseded_by).where(
            _columns.household == household, _columns.superseded_by.in_(part)
        )
        found.update(conn.execute(query).scalars())
    return frozenset(found)


def facts_changed(
    conn: Connection, household: str, *, after_seq: int, limit: int = 1000
) -> list[Changed[Fact]]:
    """Return facts of all scopes that were changed or are gone, in the order of their numbers.

    Args:
        after_seq: Last number that is known already.
        limit: Most of them, > 0.
    """
    query = (
        select(facts)
        .where(_columns.household == household, _columns.seq > after_seq)
        .order_by(_columns.seq)
        .limit(limit)
    )
    here = [Changed(seq=fact.seq, id=fact.id, value=fact) for fact in _facts(conn, query)]
    gone: list[Changed[Fact]] = removed(conn, household, FACT, after_seq=after_seq, limit=limit)
    return sorted([*here, *gone], key=lambda change: change.seq)[:limit]


def mark_facts_embedded(conn: Connection, household: str, ids: Iterable[str]) -> None:
    """Note that the dense leg knows facts, in the transaction that stores their vectors."""
    for part in in_parts(sorted(set(ids))):
        conn.execute(
            update(facts)
            .where(
                _columns.household == household,
                _columns.id.in_(part),
                _columns.status == FactStatus.PENDING_EMBED.value,
            )
            .values(status=FactStatus.ACTIVE.value)
        )


def count_facts(conn: Connection, household: str) -> dict[FactStatus, int]:
    """Return how many facts there are of each status; a status without any is left out."""
    query = (
        select(_columns.status, func.count())
        .where(_columns.household == household)
        .group_by(_columns.status)
    )
    return {FactStatus(status): count for status, count in conn.execute(query)}


def statements_of(conn: Connection, viewer: Viewer, fact_id: str) -> list[Statement]:
    """Return what a fact rests on, oldest first."""
    said = statements.c
    query = (
        select(statements)
        .where(
            said.household == viewer.household, in_own_scope(said.scope), said.fact_id == fact_id
        )
        .params(viewer.parameters)
        .order_by(said.said_at, said.id)
    )
    return [statement_from_row(row) for row in conn.execute(query).mappings()]


def _seen_by(viewer: Viewer) -> Select[Any]:
    seen = (_columns.household == viewer.household, in_own_scope(_columns.scope))
    return select(facts).where(*seen).params(viewer.parameters)


def _facts(conn: Connection, query: Select[Any]) -> list[Fact]:
    return [fact_from_row(row) for row in conn.execute(query).mappings()]


# Writing the rows of facts, with their change numbers and without vectors of words that are gone.

FACTS = facts.name

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
        kind: As in the table of vectors.
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
