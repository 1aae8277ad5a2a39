"""Erasing a person from memory: what they said, what is only theirs, and what others said of them.

Unlike forgetting a fact it leaves no marks, so that whoever comes back begins anew. What others' own words hold of
them beyond the sentences that were read out of it stays with these others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Table, delete, or_, select

from kinkeeper.household.viewers import person_scope
from kinkeeper.memory.change_numbers import note_removals
from kinkeeper.memory.concepts import drop_facts
from kinkeeper.memory.episode_redaction import cut_words
from kinkeeper.memory.episodes import CONTEXT, EPISODE, episodes_by_id, reply_id
from kinkeeper.memory.evidence import (
    STATEMENTS,
    delete_statements,
    for_facts,
    out_of,
    statements_by_id,
)
from kinkeeper.memory.fact_rows import FACTS, delete_facts, forget_vectors
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.journal import Cause, changing
from kinkeeper.memory.memory_rows import in_parts
from kinkeeper.memory.model import Statement
from kinkeeper.memory.tables import (
    episodes,
    facts,
    memory_changes,
    memory_questions,
    memory_tombstones,
    memory_verdicts,
    statements,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What memory has of a person.

    Attributes:
        episodes: Ids of what they said, and of what was answered.
        statements: Read out of it, or of what others said of them.
        facts: Ids of what is theirs, about them, or rests on nothing else.
    """

    episodes: Sequence[str]
    statements: Sequence[Statement]
    facts: Sequence[str]


def memory_of(conn: Connection, household: str, member: str) -> Gone:
    """Return what erasing a person takes away.

    Args:
        conn: Any transaction.
        household: Tenant key.
        member: Member id.
    """
    said = _ids(
        conn, episodes, household,
        episodes.c.member == member, episodes.c.speaker == member,
        episodes.c.scope == person_scope(member),
    )  # fmt: skip
    answers = [reply_id(household, each) for each in sorted(said)]
    own = sorted({*said, *episodes_by_id(conn, household, answers)})
    about = _ids(
        conn, statements, household,
        statements.c.speaker == member, statements.c.subject == member,
        statements.c.scope == person_scope(member),
    )  # fmt: skip
    read = {each.id: each for each in out_of(conn, household, own)}
    read |= statements_by_id(conn, household, about)
    theirs = _ids(
        conn, facts, household,
        facts.c.speaker == member, facts.c.subject == member,
        facts.c.scope == person_scope(member),
    )  # fmt: skip
    touched = sorted({*theirs, *(each.fact_id for each in read.values() if each.fact_id)})
    return Gone(episodes=own, statements=list(read.values()), facts=touched)


def erase_person(conn: Connection, household: str, member: str, *, at: datetime) -> Gone:
    """Erase what memory has of a person; facts that others support too are made of their words alone.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        member: Member id.
        at: Present time, aware.
    """
    gone = memory_of(conn, household, member)
    ids = [each.id for each in gone.statements]
    with changing(
        conn, household, cause=Cause.FORGET, summary="a person was erased", by=None, at=at
    ) as change:
        left = [each for each in for_facts(conn, household, gone.facts) if each.id not in {*ids}]
        cut_words(conn, household, gone.statements)
        drop_facts(conn, household, gone.facts)
        delete_facts(conn, household, gone.facts)
        delete_statements(conn, household, ids)
        _delete_episodes(conn, household, gone.episodes)
        _delete_traces(conn, household, member, gone)
        settle(conn, change, {each.strand for each in (*gone.statements, *left)}, at=at)
    return gone


def _ids(
    conn: Connection, table: Table, household: str, *wanted: ColumnElement[bool]
) -> Collection[str]:
    query = select(table.c.id).where(table.c.household == household, or_(*wanted))
    return frozenset(conn.execute(query).scalars())


def _delete_episodes(conn: Connection, household: str, ids: Sequence[str]) -> None:
    for part in in_parts(ids):
        conn.execute(
            delete(episodes).where(episodes.c.household == household, episodes.c.id.in_(part))
        )
    for kind in (EPISODE, CONTEXT):
        forget_vectors(conn, household, kind, ids)
    note_removals(conn, household, EPISODE, ids)


def _delete_traces(conn: Connection, household: str, member: str, gone: Gone) -> None:
    """Delete what judged the rows, the journal's images of them, questions about them, and marks in their name."""
    ids = [each.id for each in gone.statements]
    images, verdicts, marks = memory_changes.c, memory_verdicts.c, memory_tombstones.c
    for table, rows in ((FACTS, gone.facts), (STATEMENTS, ids), (episodes.name, gone.episodes)):
        for part in in_parts(rows):
            _delete(
                conn, memory_changes, household, images.row_table == table, images.row_id.in_(part)
            )
    for part in in_parts([*ids, *gone.episodes]):
        _delete(
            conn,
            memory_verdicts,
            household,
            or_(verdicts.older.in_(part), verdicts.newer.in_(part)),
        )
    _delete(
        conn,
        memory_tombstones,
        household,
        or_(marks.scope == person_scope(member), marks.forgotten_by == member),
    )
    asked = select(memory_questions.c.id, memory_questions.c.facts).where(
        memory_questions.c.household == household
    )
    stale = [row.id for row in conn.execute(asked) if not set(gone.facts).isdisjoint(row.facts)]
    for part in in_parts(stale):
        _delete(conn, memory_questions, household, memory_questions.c.id.in_(part))


def _delete(conn: Connection, table: Table, household: str, *wanted: ColumnElement[bool]) -> None:
    conn.execute(delete(table).where(table.c.household == household, *wanted))
