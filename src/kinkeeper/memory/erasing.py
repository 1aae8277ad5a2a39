"""Forgetting for good: the words of a fact leave every table, and a mark without words stays in their place.

The journal can bring nothing of it back. The file itself is clean once the log is folded into it;
backups made before still hold it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, delete, func, or_, select, update

from kinkeeper.core.ids import stable_id
from kinkeeper.memory.concepts import drop_facts
from kinkeeper.memory.counting import reserve
from kinkeeper.memory.episodes import CONTEXT, EPISODE, episodes_by_id
from kinkeeper.memory.evidence import (
    STATEMENTS,
    delete_statements,
    for_facts,
    out_of,
)
from kinkeeper.memory.fact_rows import FACTS, delete_facts, forget_vectors
from kinkeeper.memory.facts import facts_by_id, load_fact
from kinkeeper.memory.journal import Cause, Change, changing
from kinkeeper.memory.model import EmbedState, Episode, Fact, Statement, Viewer
from kinkeeper.memory.rows import in_parts
from kinkeeper.memory.rulings import Ruling, Verdict
from kinkeeper.memory.settling import settle
from kinkeeper.memory.tables import (
    episodes,
    facts,
    memory_changes,
    memory_verdicts,
    statements,
)
from kinkeeper.memory.tombstones import cut_out, put_up
from kinkeeper.memory.verdicts import add_verdict, verdict_id, words_of

_FOLLOWING = 2
"""How many later turns are learnt together with a turn."""


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
    spans = _spans(conn, viewer.household, said)
    held = episodes_by_id(conn, viewer.household, spans)
    return Erasure(facts=list(gone.values()), statements=said, episodes=list(held.values()))


def forget(
    conn: Connection, viewer: Viewer, fact_id: str, *, by: str | None, at: datetime
) -> Erasure:
    """Erase a fact and the words it rests on, and block them from being learnt again.

    Args:
        conn: In a write transaction.
        viewer: On whose behalf.
        fact_id: The fact.
        by: Member id of whoever wants it so.
        at: Present time, aware.

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
        _cut_episodes(conn, household, erasure.statements)
        _delete(conn, household, gone, [each.id for each in erasure.statements])
        settle(conn, change, {each.strand for each in erasure.statements}, at=at)
    return replace(erasure, change_set=change.made.id)


def _versions(conn: Connection, household: str, fact_id: str) -> dict[str, Fact]:
    """Return a fact, what was merged into it, and what it said before people edited it, by id."""
    found: dict[str, Fact] = {}
    wanted = [fact_id]
    while wanted:
        new = facts_by_id(conn, household, wanted)
        found |= new
        edits = for_facts(conn, household, new)
        former = [stable_id(household, "former", each.fact_id, each.id) for each in edits]
        merged = _merged_into(conn, household, list(new))
        wanted = [each for each in (*former, *merged) if each not in found]
    return found


def _merged_into(conn: Connection, household: str, ids: Sequence[str]) -> list[str]:
    query = select(facts.c.id).where(
        facts.c.household == household, facts.c.merged_into_id.in_(ids)
    )
    return list(conn.execute(query).scalars())


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
            household=household, id=verdict_id(household, words.id, Ruling.ENDED.value),
            older=words.id, ruling=Ruling.ENDED, made_by=change.made.made_by or "upkeep",
            made_at=ends[fact] or at,
        )  # fmt: skip
        add_verdict(conn, change, verdict)


def _spans(
    conn: Connection, household: str, said: Iterable[Statement]
) -> dict[str, list[tuple[int, int]]]:
    """Return by episode id where the words of statements stand, also repeated elsewhere."""
    spans: dict[str, set[tuple[int, int]]] = {}
    for each in said:
        if each.end > each.start:
            spans.setdefault(each.episode_id, set()).add((each.start, each.end))
        for episode_id, text in _episodes_with(conn, household, each.text):
            start = text.casefold().find(each.text.casefold())
            while start >= 0 and len(text.casefold()) == len(text):
                spans.setdefault(episode_id, set()).add((start, start + len(each.text)))
                start = text.casefold().find(each.text.casefold(), start + len(each.text))
    return {episode_id: _apart(found) for episode_id, found in spans.items()}


def _episodes_with(conn: Connection, household: str, words: str) -> list[tuple[str, str]]:
    """Return id and text of episodes that repeat words."""
    wanted = words.casefold().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    query = select(episodes.c.id, episodes.c.text).where(
        episodes.c.household == household,
        or_(
            func.lower(episodes.c.text).like(f"%{wanted}%", escape="\\"),
            episodes.c.text.contains(words, autoescape=True),
        ),
    )
    return [(row.id, row.text) for row in conn.execute(query)]


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, overlapping ones as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _cut_episodes(conn: Connection, household: str, said: Sequence[Statement]) -> None:
    spans = _spans(conn, household, said)
    erased = {each.id for each in said}
    for episode in episodes_by_id(conn, household, spans).values():
        cut = spans[episode.id]
        _write_text(conn, episode, cut_out(episode.text, cut))
        for each in out_of(conn, household, [episode.id]):
            if each.id not in erased:
                _shift(conn, each, cut)
        _learn_anew(conn, episode)


def _write_text(conn: Connection, episode: Episode, text: str) -> None:
    conn.execute(
        update(episodes)
        .where(episodes.c.household == episode.household, episodes.c.id == episode.id)
        .values(text=text, title=None, topic=None, seq=reserve(conn, episode.household))
    )


def _shift(conn: Connection, statement: Statement, cut: Sequence[tuple[int, int]]) -> None:
    """Let a statement that stays point to where its words stand now."""
    before = [span for span in cut if span[1] <= statement.start]
    offset = sum(end - start - 1 for start, end in before)
    if offset:
        conn.execute(
            update(statements)
            .where(statements.c.household == statement.household, statements.c.id == statement.id)
            .values(start_index=statement.start - offset, end_index=statement.end - offset)
        )


def _learn_anew(conn: Connection, episode: Episode) -> None:
    """Delete the vectors that know the words: of the turn, and of those that were learnt with it."""
    household = episode.household
    columns = episodes.c
    ids = [episode.id]
    if episode.session is not None:
        query = (
            select(columns.id)
            .where(
                columns.household == household,
                columns.session == episode.session,
                columns.said_at >= episode.said_at,
                columns.id != episode.id,
            )
            .order_by(columns.said_at, columns.seq)
            .limit(_FOLLOWING)
        )
        ids += conn.execute(query).scalars()
    forget_vectors(conn, household, EPISODE, [episode.id])
    forget_vectors(conn, household, CONTEXT, ids)
    conn.execute(
        update(episodes)
        .where(columns.household == household, columns.id.in_(ids))
        .values(embed_state=EmbedState.PENDING.value)
    )


def _delete(
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
