"""Looking through memory by hand: by the beginning of an id, by words, from its first day, with all evidence."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select

from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import find_fact, load_fact
from kinkeeper.memory.memory_rows import in_parts, statement_from_row
from kinkeeper.memory.model import Fact, Statement
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.memory.tables import facts, statements
from kinkeeper.store.visibility import in_own_scope


def load_by_beginning(conn: Connection, viewer: Viewer, beginning: str) -> Fact:
    """Return the one fact with that id, or whose id begins so.

    Args:
        conn: Any transaction.
        viewer: Who asks.
        beginning: Id, or its beginning.

    Raises:
        NotFoundError: There is none that this viewer may see.
        InputError: Several begin so.
    """
    exact = find_fact(conn, viewer, beginning)
    if exact is not None:
        return exact
    columns = facts.c
    query = (
        select(columns.id)
        .where(
            columns.household == viewer.household,
            in_own_scope(columns.scope),
            columns.id.startswith(beginning, autoescape=True),
        )
        .params(viewer.parameters)
        .limit(2)
    )
    found = conn.execute(query).scalars().all() if beginning else []
    if not found:
        raise NotFoundError(f"no memory has an id that begins with {beginning!r}", id=beginning)
    if len(found) > 1:
        raise InputError(f"several memories begin with {beginning!r}; give more of the id")
    return load_fact(conn, viewer, found[0])


def first_remembered(conn: Connection, viewer: Viewer) -> datetime | None:
    """Return when the first of what a viewer may see was stored, if there is anything."""
    columns = facts.c
    found: datetime | None = conn.execute(
        select(func.min(columns.created_at))
        .where(columns.household == viewer.household, in_own_scope(columns.scope))
        .params(viewer.parameters)
    ).scalar()
    return found


def evidence_of(
    conn: Connection, viewer: Viewer, fact_ids: Collection[str]
) -> dict[str, list[Statement]]:
    """Return what several facts rest on, oldest first, by fact id."""
    said = statements.c
    found: dict[str, list[Statement]] = {}
    for part in in_parts(sorted(set(fact_ids))):
        query = (
            select(statements)
            .where(
                said.household == viewer.household,
                in_own_scope(said.scope),
                said.fact_id.in_(part),
            )
            .params(viewer.parameters)
            .order_by(said.said_at, said.id)
        )
        for row in conn.execute(query).mappings():
            found.setdefault(row["fact_id"], []).append(statement_from_row(dict(row)))
    return found


def sharing_words(known: Sequence[Fact], text: str) -> list[Fact]:
    """Return the facts that share words with a text, those that share most first. Pure.

    Args:
        known: In the order wanted among equals.
        text: What they are to be about.
    """
    wanted = _words(text)
    counted = [(len(wanted & _words(fact.narrative)), fact) for fact in known]
    shared = [(count, fact) for count, fact in counted if count]
    return [fact for _, fact in sorted(shared, key=lambda each: -each[0])]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for reading in read_statement(text) for word in reading.words)
