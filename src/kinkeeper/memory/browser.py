"""Looking through memory by hand: by words and ids, with all evidence, and how a fact became what it is."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, func, or_, select

from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import FACTS, find_fact, load_fact
from kinkeeper.memory.journal import ChangeSet, images_of_row
from kinkeeper.memory.memory_rows import (
    fact_from_row,
    fact_row,
    in_parts,
    row_of,
    statement_from_row,
)
from kinkeeper.memory.model import Fact, FactStatus, Statement
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.memory.tables import facts, statements
from kinkeeper.store.prepared import in_own_scope


def load_by_beginning(conn: Connection, viewer: Viewer, beginning: str) -> Fact:
    """Return the one fact with that id, or whose id begins so.

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
                said.household == viewer.household, in_own_scope(said.scope), said.fact_id.in_(part)
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
    """
    wanted = _words(text)
    counted = [(len(wanted & _words(fact.narrative)), fact) for fact in known]
    shared = [(count, fact) for count, fact in counted if count]
    return [fact for _, fact in sorted(shared, key=lambda each: -each[0])]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for reading in read_statement(text) for word in reading.words)


# What held at some time, and how a fact became what it is.

_columns = facts.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A fact as one change left it.

    Attributes:
        change: Who changed it, when and why; None for how it was before anything that is still kept.
    """

    change: ChangeSet | None
    fact: Fact


def as_of(conn: Connection, viewer: Viewer, instant: datetime) -> list[Fact]:
    """Return what held at an instant, as far as is known now, oldest first."""
    query = (
        select(facts)
        .where(
            _columns.household == viewer.household,
            in_own_scope(_columns.scope),
            _columns.status != FactStatus.MERGED_INTO.value,
            _columns.held_from <= instant,
            or_(_columns.valid_to.is_(None), _columns.valid_to > instant),
            # What faded was held until it had faded.
            or_(
                _columns.status != FactStatus.DEPRECATED.value,
                and_(_columns.archived_at.is_not(None), _columns.archived_at > instant),
            ),
        )
        .params(viewer.parameters)
        .order_by(_columns.held_from, _columns.id)
    )
    return [fact_from_row(row) for row in conn.execute(query).mappings()]


def history(conn: Connection, viewer: Viewer, fact_id: str) -> list[Version]:
    """Return the versions of a fact that a viewer may see, newest first; changes that were taken back are left out.

    What a fact said before it was shared stays with those who could see it then.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    versions = _versions(conn, load_fact(conn, viewer, fact_id))
    return [each for each in versions if viewer.sees(each.fact.scope)]


def _versions(conn: Connection, fact: Fact) -> Iterator[Version]:
    for change, image in images_of_row(conn, fact.household, FACTS, fact.id):
        yield Version(change=change, fact=fact)
        if image.before is None:
            return
        fact = fact_from_row({**fact_row(fact), **row_of(facts, image.before)})
    yield Version(change=None, fact=fact)
