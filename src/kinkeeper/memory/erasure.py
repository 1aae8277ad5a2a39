"""Forgetting for good: the words of a fact, or everything of a person, leave every table.

The journal can bring nothing of it back. The file itself is clean once the log is folded into it;
backups made before still hold it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Table, delete, or_, select

from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.memory.concepts import drop_facts
from kinkeeper.memory.episodes import CONTEXT, EPISODE, claim_reading, episodes_by_id, reply_id
from kinkeeper.memory.evidence import (
    STATEMENTS,
    add_verdicts,
    delete_statements,
    for_facts,
    out_of,
    statements_by_id,
    verdict_id,
    words_of,
)
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import (
    FACTS,
    delete_facts,
    facts_by_id,
    forget_vectors,
    load_fact,
    merged_into,
)
from kinkeeper.memory.journal import Cause, Change, changing
from kinkeeper.memory.memory_rows import in_parts, note_removals
from kinkeeper.memory.model import Episode, Fact, Ruling, Statement, Verdict
from kinkeeper.memory.redaction import GAP, cut_whole, cut_words, places_of, put_up
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
class Erasure:
    """What forgetting a fact takes away.

    Attributes:
        facts: The fact, those merged into it, and its words before a person edited it.
        statements: What they rest on.
        episodes: Turns that lose a part.
        change_set: Id of the change, once it was made.
    """

    facts: Sequence[Fact]
    statements: Sequence[Statement]
    episodes: Sequence[Episode]
    change_set: str | None = None


def preview_forget(conn: Connection, viewer: Viewer, fact_id: str) -> Erasure:
    """Return what forgetting a fact would take away.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    load_fact(conn, viewer, fact_id)
    gone = _versions(conn, viewer.household, fact_id)
    said = for_facts(conn, viewer.household, gone)
    spans = places_of(conn, viewer.household, said)
    held = episodes_by_id(conn, viewer.household, spans)
    return Erasure(facts=list(gone.values()), statements=said, episodes=list(held.values()))


def forget(
    conn: Connection, viewer: Viewer, fact_id: str, *, by: str | None, at: datetime
) -> Erasure:
    """Erase a fact and the words it rests on, and block them from being learnt again.

    Args:
        by: Member id of whoever wants it so.

    Raises:
        NotFoundError: There is no such fact for this viewer.
    """
    erasure = preview_forget(conn, viewer, fact_id)
    household = viewer.household
    gone = {fact.id for fact in erasure.facts}
    with changing(
        conn, household, cause=Cause.FORGET, summary="a fact was forgotten", by=by, at=at
    ) as change:
        _end_predecessors(conn, change, gone, at=at)
        if erasure.statements:
            put_up(conn, erasure.statements, by=by, at=at)
        cut_words(conn, household, erasure.statements)
        _delete_fact(conn, household, gone, [each.id for each in erasure.statements])
        settle(conn, change, {each.strand for each in erasure.statements}, at=at)
    return replace(erasure, change_set=change.made.id)


def take_back(conn: Connection, household: str, episode_id: str, *, by: str, at: datetime) -> bool:
    """Erase what a member said in a turn, and the facts that rest on that alone; it may be told and learnt again.

    Args:
        by: Member id of whoever said it, and takes it back.

    Returns:
        Whether anything of it was still there.
    """
    told = episodes_by_id(conn, household, [episode_id]).get(episode_id)
    if told is None or told.member != by or told.text == GAP:
        return False
    claim_reading(conn, household, episode_id)
    said = out_of(conn, household, [episode_id])
    mine = {each.id for each in said}
    held = for_facts(conn, household, {each.fact_id for each in said if each.fact_id})
    kept = {each.fact_id for each in held if each.id not in mine}
    gone = {each.fact_id for each in said if each.fact_id} - kept
    with changing(
        conn, household, cause=Cause.FORGET, summary="words were taken back", by=by, at=at
    ) as change:
        _delete_fact(conn, household, gone, [*mine])
        cut_whole(conn, household, episode_id)
        settle(conn, change, {each.strand for each in said}, at=at)
    return True


def _versions(conn: Connection, household: str, fact_id: str) -> dict[str, Fact]:
    """Return a fact, what was merged into it, and what it said before people edited it, by id."""
    found: dict[str, Fact] = {}
    wanted = [fact_id]
    while wanted:
        new = facts_by_id(conn, household, wanted)
        found |= new
        edits = for_facts(conn, household, new)
        former = [stable_id(household, "former", each.fact_id, each.id) for each in edits]
        merged = (fact.id for fact in merged_into(conn, household, new))
        wanted = [each for each in (*former, *merged) if each not in found]
    return found


def _end_predecessors(conn: Connection, change: Change, gone: set[str], *, at: datetime) -> None:
    """Let what the forgotten facts outdated stay outdated without them."""
    household = change.made.household
    query = select(facts.c.id, facts.c.valid_to).where(
        facts.c.household == household,
        facts.c.superseded_by.in_(sorted(gone)),
        facts.c.id.not_in(sorted(gone)),
    )
    ends = {row.id: row.valid_to for row in conn.execute(query)}
    for fact, words in words_of(conn, household, ends).items():
        verdict = Verdict(
            household=household,
            id=verdict_id(household, words.id, Ruling.ENDED.value),
            older=words.id,
            ruling=Ruling.ENDED,
            made_by=change.made.made_by or "upkeep",
            made_at=ends[fact] or at,
        )
        add_verdicts(conn, change, [verdict])


def _delete_fact(
    conn: Connection, household: str, fact_ids: Iterable[str], statement_ids: Sequence[str]
) -> None:
    """Remove the rows, what judged them, and the journal's images of them."""
    rows: Mapping[str, Sequence[str]] = {FACTS: sorted(fact_ids), STATEMENTS: statement_ids}
    drop_facts(conn, household, rows[FACTS])
    delete_facts(conn, household, rows[FACTS])
    delete_statements(conn, household, statement_ids)
    images, verdicts = memory_changes.c, memory_verdicts.c
    for table, ids in rows.items():
        for part in in_parts(ids):
            conn.execute(
                delete(memory_changes).where(
                    images.household == household,
                    images.row_table == table,
                    images.row_id.in_(part),
                )
            )
    for part in in_parts(statement_ids):
        conn.execute(
            delete(memory_verdicts).where(
                verdicts.household == household,
                or_(verdicts.older.in_(part), verdicts.newer.in_(part)),
            )
        )


# Erasing a person from memory: what they said, what is only theirs, and what others said of them.
#
# Unlike forgetting a fact it leaves no marks, so that whoever comes back begins anew. What others'
# own words hold of them beyond the sentences that were read out of it stays with these others.


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
    """Return what erasing a person takes away."""
    said = _ids(
        conn,
        episodes,
        household,
        episodes.c.member == member,
        episodes.c.speaker == member,
        episodes.c.scope == person_scope(member),
    )
    answers = [reply_id(household, each) for each in sorted(said)]
    own = sorted({*said, *episodes_by_id(conn, household, answers)})
    about = _ids(
        conn,
        statements,
        household,
        statements.c.speaker == member,
        statements.c.subject == member,
        statements.c.scope == person_scope(member),
    )
    read = {each.id: each for each in out_of(conn, household, own)}
    read |= statements_by_id(conn, household, about)
    theirs = _ids(
        conn,
        facts,
        household,
        facts.c.speaker == member,
        facts.c.subject == member,
        facts.c.scope == person_scope(member),
    )
    touched = sorted({*theirs, *(each.fact_id for each in read.values() if each.fact_id)})
    return Gone(episodes=own, statements=list(read.values()), facts=touched)


def erase_person(conn: Connection, household: str, member: str, *, at: datetime) -> Gone:
    """Erase what memory has of a person; facts that others support too are made of their words alone."""
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
            _delete_where(
                conn, memory_changes, household, images.row_table == table, images.row_id.in_(part)
            )
    for part in in_parts([*ids, *gone.episodes]):
        _delete_where(
            conn,
            memory_verdicts,
            household,
            or_(verdicts.older.in_(part), verdicts.newer.in_(part)),
        )
    _delete_where(
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
        _delete_where(conn, memory_questions, household, memory_questions.c.id.in_(part))


def _delete_where(
    conn: Connection, table: Table, household: str, *wanted: ColumnElement[bool]
) -> None:
    conn.execute(delete(table).where(table.c.household == household, *wanted))
