"""What somebody wanted forgotten, without its words: what has its fingerprint is not learnt again.

A fingerprint is a digest keyed with the household's own secret: of the words of a sentence, and of
what it says of whom where that is understood, so that other words for the same do not bring it back.
"""

import hmac
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from kinkeeper.language.folding import fold
from kinkeeper.memory.bearing import own_voice
from kinkeeper.memory.counting import reserve
from kinkeeper.memory.model import Statement
from kinkeeper.memory.rows import in_parts
from kinkeeper.memory.statements.reading import read_statement
from kinkeeper.memory.tables import memory_counters, memory_tombstones

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
        conn: In a write transaction.
        statements: Of one household, at least one.
        by: Member id of whoever wants it so.
        at: When, aware.
    """
    household = statements[0].household
    reserve(conn, household)
    key = _key(conn, household)
    marks = {mark: each.scope for each in statements for mark in _every_mark(key, each)}
    rows = [
        {
            "household": household, "fingerprint": mark, "scope": scope, "forgotten_by": by,
            "forgotten_at": at,
        }
        for mark, scope in marks.items()
        if mark not in _known(conn, household, marks)
    ]  # fmt: skip
    if rows:
        conn.execute(insert(memory_tombstones), rows)


def lift(conn: Connection, statements: Sequence[Statement]) -> None:
    """Let statements be learnt that were blocked: somebody has asked for it by name."""
    for each in statements:
        marks = sorted(_every_mark(_key(conn, each.household), each))
        conn.execute(
            delete(memory_tombstones).where(
                _tombstones.household == each.household, _tombstones.fingerprint.in_(marks)
            )
        )


def blocked(conn: Connection, statements: Sequence[Statement]) -> frozenset[str]:
    """Return the ids of those statements that must not be learnt again."""
    if not statements or not _has_any(conn, statements[0].household):
        return frozenset()
    household = statements[0].household
    key = _key(conn, household)
    marks = {each.id: _marks(key, each) for each in statements}
    found = _known(conn, household, {mark for some in marks.values() for mark in some})
    return frozenset(each for each, some in marks.items() if not found.isdisjoint(some))


def without_forgotten(
    conn: Connection, household: str, text: str, *, speaker: str | None = None
) -> str:
    """Return a text without the sentences that somebody wanted forgotten.

    Args:
        conn: Open connection.
        household: Tenant key.
        text: Any.
        speaker: Who says it, if known: "I" of somebody else is nobody's who wanted it forgotten.
    """
    if not _has_any(conn, household):
        return text
    key = _key(conn, household)
    spans = [(found.start(), found.end()) for found in _SENTENCE.finditer(text)]
    marks = {span: _words_mark(key, text[slice(*span)], speaker) for span in spans}
    found = _known(conn, household, set(marks.values()))
    return cut_out(text, [span for span, mark in marks.items() if mark in found])


def cut_out(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with a gap in the place of each span.

    Args:
        text: Any.
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


def _digest(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode(), "sha256").hex()


def _key(conn: Connection, household: str) -> bytes:
    query = select(memory_counters.c.secret).where(memory_counters.c.household == household)
    return bytes.fromhex(conn.execute(query).scalar_one_or_none() or "")


def _has_any(conn: Connection, household: str) -> bool:
    query = select(_tombstones.fingerprint).where(_tombstones.household == household).limit(1)
    return conn.execute(query).first() is not None


def _known(conn: Connection, household: str, marks: Collection[str]) -> set[str]:
    found: set[str] = set()
    for part in in_parts(sorted(marks)):
        query = select(_tombstones.fingerprint).where(
            _tombstones.household == household, _tombstones.fingerprint.in_(part)
        )
        found |= set(conn.execute(query).scalars())
    return found
