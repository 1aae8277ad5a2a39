"""Words that memory must not hold: cut out of what was said, and marked so that they are not learnt again."""

import hmac
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from kinkeeper.language.text import fold, mask_stops
from kinkeeper.memory.episodes import CONTEXT, EPISODE, episodes_by_id, reply_id
from kinkeeper.memory.evidence import out_of
from kinkeeper.memory.facts import forget_vectors
from kinkeeper.memory.memory_rows import in_parts, reserve
from kinkeeper.memory.model import EmbedState, Episode, Statement
from kinkeeper.memory.statement_match import own_voice
from kinkeeper.memory.statements.statement_reader import read_statement
from kinkeeper.memory.tables import episodes, memory_counters, memory_tombstones, statements

# What somebody wanted forgotten, without its words: what has its fingerprint is not learnt again.
#
# A fingerprint is a digest keyed with the household's own secret: of the words of a sentence, and
# of what it says of whom where that is understood, so that other words for the same do not bring it
# back. A mark holds for what the person who put it up says, and for what nobody of the household
# says in its audience. What another member tells of the same is theirs.

GAP = "…"
"""Stands where something was forgotten."""

_tombstones = memory_tombstones.c
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^\s.!?][^.!?\n]*[.!?]*")


def put_up(
    conn: Connection, statements: Sequence[Statement], *, by: str | None, at: datetime
) -> None:
    """Block what statements say from being learnt again.

    Args:
        statements: Of one household, at least one.
        by: Member id of whoever wants it so.
    """
    household = statements[0].household
    reserve(conn, household)
    key = _key(conn, household)
    scopes = {mark: each.scope for each in statements for mark in _every_mark(key, each)}
    # The first mark of some words is anybody's; who wants them forgotten besides has one of their own.
    taken = _known(conn, household, scopes)
    marks = {
        (_of_voice(key, mark, by) if mark in taken else mark): scope
        for mark, scope in scopes.items()
    }
    for each in statements:
        if each.speaker not in {by, None} and not _is_of_member(conn, each):
            marks |= {_of_voice(key, mark, each.speaker): each.scope for mark in _marks(key, each)}
    known = _known(conn, household, marks)
    rows = [
        {
            "household": household,
            "fingerprint": mark,
            "scope": scope,
            "forgotten_by": by,
            "forgotten_at": at,
        }
        for mark, scope in marks.items()
        if mark not in known
    ]
    if rows:
        conn.execute(insert(memory_tombstones), rows)


def lift(conn: Connection, statements: Sequence[Statement]) -> None:
    """Let statements be learnt that were blocked: somebody has asked for it by name."""
    for each in statements:
        key = _key(conn, each.household)
        bare = _every_mark(key, each)
        marks = sorted(bare | {_of_voice(key, mark, each.speaker) for mark in bare})
        conn.execute(
            delete(memory_tombstones).where(
                _tombstones.household == each.household, _tombstones.fingerprint.in_(marks)
            )
        )


def blocked(conn: Connection, statements: Sequence[Statement]) -> frozenset[str]:
    """Return the ids of those statements that must not be learnt again."""
    if not statements or not has_forgotten(conn, statements[0].household):
        return frozenset()
    household = statements[0].household
    key = _key(conn, household)
    marks = {each.id: _marks(key, each) for each in statements}
    every = {
        each.id: marks[each.id] | {_of_voice(key, mark, each.speaker) for mark in marks[each.id]}
        for each in statements
    }
    found = _known(conn, household, {mark for some in every.values() for mark in some})
    return frozenset(
        each.id
        for each in statements
        if any(
            mark not in marks[each.id] or _holds(found[mark], each.speaker, each.scope)
            for mark in every[each.id] & found.keys()
        )
    )


def without_forgotten(
    conn: Connection,
    household: str,
    text: str,
    *,
    scope: str,
    speaker: str | None = None,
    lead: int = 0,
) -> str:
    """Return a text without the sentences that its speaker wanted forgotten.

    Args:
        scope: Of those who may recall it.
        speaker: Who says it, or to whom it is answered; None where unknown: then what was forgotten in its scope goes.
        lead: So many words may stand before what was forgotten in its sentence: "remember that", "did I say that".
    """
    if not has_forgotten(conn, household):
        return text
    key = _key(conn, household)
    spans = [*_sentences(text, lead)]
    marks = {span: _words_mark(key, text[slice(*span)], speaker) for span in spans}
    own = {mark: _of_voice(key, mark, speaker) for mark in marks.values()}
    found = _known(conn, household, {*own, *own.values()})
    gone = {
        mark
        for mark, voiced in own.items()
        if voiced in found or (mark in found and _holds(found[mark], speaker, scope))
    }
    return cut_out(text, _apart(span for span, mark in marks.items() if mark in gone))


def _sentences(text: str, lead: int) -> Iterator[tuple[int, int]]:
    """Yield where sentences stand, and what is left of each without up to so many of its first words."""
    for found in _SENTENCE.finditer(mask_stops(text)):
        words = islice(_WORD.finditer(text, *found.span()), 1, lead + 1)
        yield from ((start, found.end()) for start in (found.start(), *(w.start() for w in words)))


def cut_out(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with a gap in the place of each span.

    Args:
        spans: Start and end, without overlaps.
    """
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + GAP + text[end:]
    return text


def _every_mark(key: bytes, statement: Statement) -> set[str]:
    """Return the marks of a statement, and those of its words when nobody knows who says them."""
    return _marks(key, statement) | _marks(key, replace(statement, speaker=None))


def _marks(key: bytes, statement: Statement) -> set[str]:
    texts = (statement.text, statement.narrative)
    marks = {_words_mark(key, text, statement.speaker) for text in texts}
    for reading in read_statement(statement.text)[:1]:
        if reading.is_known and reading.value:
            said = ("reading", statement.subject, reading.slot, *sorted(reading.value))
            marks.add(_digest(key, "\x1f".join(said)))
    return marks


def _words_mark(key: bytes, text: str, speaker: str | None) -> str:
    words = " ".join(_WORD.findall(fold(text).text))
    voice = own_voice(text, speaker)
    return _digest(key, f"{voice}\x1f{words}" if voice else words)


def _of_voice(key: bytes, mark: str, speaker: str | None) -> str:
    """Return the mark of what one person says, besides the first one of the same words."""
    return _digest(key, f"{mark}\x1f{speaker or ''}")


def _holds(first: tuple[str | None, str], speaker: str | None, scope: str) -> bool:
    """Return whether the first mark of some words, by whom and in which scope, holds for who says them, and to whom."""
    forgotten_by, forgotten_in = first
    return forgotten_by in {speaker, None} or (speaker is None and scope == forgotten_in)


def _is_of_member(conn: Connection, statement: Statement) -> bool:
    query = select(episodes.c.member).where(
        episodes.c.household == statement.household, episodes.c.id == statement.episode_id
    )
    return conn.execute(query).scalar() == statement.speaker


def _digest(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode(), "sha256").hex()


def _key(conn: Connection, household: str) -> bytes:
    query = select(memory_counters.c.secret).where(memory_counters.c.household == household)
    return bytes.fromhex(conn.execute(query).scalar_one_or_none() or "")


def has_forgotten(conn: Connection, household: str) -> bool:
    """Return whether anybody wanted anything forgotten for good."""
    query = select(_tombstones.fingerprint).where(_tombstones.household == household).limit(1)
    return conn.execute(query).first() is not None


def _known(
    conn: Connection, household: str, marks: Collection[str]
) -> dict[str, tuple[str | None, str]]:
    """Return by fingerprint who wanted it forgotten, and in which scope."""
    found: dict[str, tuple[str | None, str]] = {}
    for part in in_parts(sorted(marks)):
        query = select(_tombstones.fingerprint, _tombstones.forgotten_by, _tombstones.scope).where(
            _tombstones.household == household, _tombstones.fingerprint.in_(part)
        )
        found |= {row.fingerprint: (row.forgotten_by, row.scope) for row in conn.execute(query)}
    return found


# Cuts words out of episodes: what stays keeps its place, and whatever knew the words is learnt
# anew.

_FOLLOWING = 2
"""How many later turns are learnt together with a turn."""


def places_of(
    conn: Connection, household: str, said: Sequence[Statement]
) -> dict[str, list[tuple[int, int]]]:
    """Return by episode id where the words of statements stand, also where others repeat them.

    What the assistant answered may repeat them in words of its own, and counts as a whole.
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
    """Put a gap in the place of all that was said in a turn, and of what was answered."""
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
