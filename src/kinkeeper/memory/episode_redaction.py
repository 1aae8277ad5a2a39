"""Cuts words out of episodes: what stays keeps its place, and whatever knew the words is learnt anew."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, func, or_, select, update

from kinkeeper.memory.change_numbers import reserve
from kinkeeper.memory.episodes import CONTEXT, EPISODE, episodes_by_id, reply_id
from kinkeeper.memory.evidence import out_of
from kinkeeper.memory.fact_rows import forget_vectors
from kinkeeper.memory.model import EmbedState, Episode, Statement
from kinkeeper.memory.statement_match import own_voice
from kinkeeper.memory.tables import episodes, statements
from kinkeeper.memory.tombstones import GAP, cut_out

_FOLLOWING = 2
"""How many later turns are learnt together with a turn."""


def places_of(
    conn: Connection, household: str, said: Sequence[Statement]
) -> dict[str, list[tuple[int, int]]]:
    """Return by episode id where the words of statements stand, also where others repeat them.

    What the assistant answered may repeat them in words of its own, and counts as a whole.

    Args:
        conn: Open connection.
        household: Tenant key.
        said: The statements.
    """
    spans: dict[str, set[tuple[int, int]]] = {}
    for each in said:
        if each.end > each.start:
            spans.setdefault(each.episode_id, set()).add((each.start, each.end))
        for episode_id, text in _episodes_with(conn, household, each):
            start = text.casefold().find(each.text.casefold())
            while start >= 0 and len(text.casefold()) == len(text):
                spans.setdefault(episode_id, set()).add((start, start + len(each.text)))
                start = text.casefold().find(each.text.casefold(), start + len(each.text))
    answers = [reply_id(household, each.episode_id) for each in said]
    for reply in episodes_by_id(conn, household, answers).values():
        spans[reply.id] = {(0, len(reply.text))}
    return {episode_id: _apart(found) for episode_id, found in spans.items()}


def _episodes_with(conn: Connection, household: str, said: Statement) -> list[tuple[str, str]]:
    """Return id and text of episodes that repeat a statement; not what another member told, or was answered."""
    words = said.text
    wanted = words.casefold().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    query = select(
        episodes.c.id,
        episodes.c.text,
        episodes.c.is_assistant,
        episodes.c.member,
        episodes.c.scope,
        func.coalesce(episodes.c.member, episodes.c.speaker).label("speaker"),
    ).where(
        episodes.c.household == household,
        or_(
            func.lower(episodes.c.text).like(f"%{wanted}%", escape="\\"),
            episodes.c.text.contains(words, autoescape=True),
        ),
    )
    own = own_voice(words, said.speaker)
    return [
        (row.id, row.text)
        for row in conn.execute(query)
        if (row.is_assistant and row.scope == said.scope)
        or (
            (not row.is_assistant and row.member in {said.speaker, None})
            and (own_voice(words, row.speaker) in {"", own} or not own)
        )
    ]


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, overlapping ones as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def cut_words(conn: Connection, household: str, said: Sequence[Statement]) -> None:
    """Put a gap in the place of what statements say, wherever it stands.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        said: Statements that are not kept.
    """
    spans = places_of(conn, household, said)
    erased = {each.id for each in said}
    for episode in episodes_by_id(conn, household, spans).values():
        cut = spans[episode.id]
        _write_text(conn, episode, cut_out(episode.text, cut))
        for each in out_of(conn, household, [episode.id]):
            if each.id not in erased:
                _shift(conn, each, cut)
        _learn_anew(conn, episode)


def cut_whole(conn: Connection, household: str, episode_id: str) -> None:
    """Put a gap in the place of all that was said in a turn, and of what was answered.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        episode_id: Of what was said.
    """
    ids = [episode_id, reply_id(household, episode_id)]
    for episode in episodes_by_id(conn, household, ids).values():
        _write_text(conn, episode, GAP)
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
