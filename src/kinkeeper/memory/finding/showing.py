"""What was found, as it may be shown now: read afresh, so that nothing outdated comes out of an index or cache."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, RowMapping, Select, Table, and_, bindparam, select

from kinkeeper.memory.confidence import GONE, confidence_now
from kinkeeper.memory.episodes import EPISODE, outdated_spans
from kinkeeper.memory.facts import FACT
from kinkeeper.memory.model import Category, Episode, Fact, Viewer
from kinkeeper.memory.rows import episode_from_row, fact_from_row, in_parts
from kinkeeper.memory.tables import episodes, facts, statements

is_said_in = and_(
    episodes.c.household == statements.c.household, episodes.c.id == statements.c.episode_id
)
"""Joins a statement with the episode it was read out of."""


def _seen(table: Table) -> Select[Any]:
    """Return the query of rows that somebody may see; put together once, asked for with every search."""
    return select(table).where(
        table.c.household == bindparam("household"),
        table.c.id.in_(bindparam("ids", expanding=True)),
        table.c.scope.in_(bindparam("scopes", expanding=True)),
    )


_SEEN_EPISODES, _SEEN_FACTS = _seen(episodes), _seen(facts)
_CUT = "…"
_NOT_WORDS = " \t\r\n…,.;:!?-–—\"'()"


class HitKind(StrEnum):
    """What was found."""

    EPISODE = EPISODE
    FACT = FACT


class Key(NamedTuple):
    """Which row."""

    kind: HitKind
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something that was found.

    Attributes:
        id: Of its row.
        kind: What it is.
        text: What may be shown: of an episode, without what is outdated.
        category: Of a fact.
        confidence: How sure one may be of a fact now; 1 of an episode: it was said.
        at: When it was said.
        created_at: When a fact was first remembered.
        speaker: Who said it last, as named where it was said, if known.
        session: Of an episode.
        scope: Who may recall it.
        provenance: Ids of the episodes it rests on; of an episode, its own.
        score: What hits are ordered by.
        relevance: Chance that it bears on the query.
        parts: What the score was made of.
    """

    id: str
    kind: HitKind
    text: str
    category: Category | None
    confidence: float
    at: datetime
    created_at: datetime
    speaker: str | None
    session: str | None
    scope: str
    provenance: tuple[str, ...]
    score: float = 0.0
    relevance: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Which row it is."""
        return Key(self.kind, self.id)


def shown(
    conn: Connection, viewer: Viewer, keys: Collection[Key], *, now: datetime, above: float = GONE
) -> dict[Key, Hit]:
    """Return rows as they may be shown now; what may not be seen, or holds no more, is left out.

    Args:
        conn: Open connection.
        viewer: Who sees it.
        keys: Which rows.
        now: Aware.
        above: Facts at or below this confidence are left out.
    """
    found: dict[Key, Hit] = {}
    said = [key.id for key in keys if key.kind is HitKind.EPISODE]
    cuts = outdated_spans(conn, viewer.household, said) if said else {}
    for row in _rows(conn, _SEEN_EPISODES, viewer, said):
        episode = episode_from_row(dict(row))
        if text := still_true(episode.text, cuts.get(episode.id, ())):
            found[Key(HitKind.EPISODE, episode.id)] = _episode_hit(episode, text)
    held = [key.id for key in keys if key.kind is HitKind.FACT]
    said_by = _speakers(conn, viewer.household, held) if held else {}
    for row in _rows(conn, _SEEN_FACTS, viewer, held):
        fact = fact_from_row(dict(row))
        confidence = confidence_now(fact, now)
        if fact.is_current(now) and row["due_at"] > now and confidence > above:
            found[Key(HitKind.FACT, fact.id)] = _fact_hit(fact, confidence, said_by.get(fact.id))
    return found


def still_true(text: str, outdated: Sequence[tuple[int, int]]) -> str:
    """Return a text without its outdated parts; empty where no word remains, as of what was erased.

    Args:
        text: As it was said.
        outdated: Start and end of each part, in order.
    """
    parts, at = [], 0
    for start, end in outdated:
        parts.append(text[at : max(at, start)])
        at = max(at, end)
    parts.append(text[at:])
    if not any(part.strip(_NOT_WORDS) for part in parts):
        return ""
    return f" {_CUT} ".join(part.strip() for part in parts).strip() if outdated else text


def _rows(
    conn: Connection, seen: Select[Any], viewer: Viewer, ids: Sequence[str]
) -> Iterable[RowMapping]:
    for part in in_parts(ids):
        asked = {"household": viewer.household, "ids": part, "scopes": sorted(viewer.scopes)}
        yield from conn.execute(seen, asked).mappings().all()


def _speakers(conn: Connection, household: str, fact_ids: Sequence[str]) -> dict[str, str]:
    """Return who said each fact last, as named where it was said."""
    found: dict[str, str] = {}
    for part in in_parts(fact_ids):
        query = (
            select(statements.c.fact_id, episodes.c.speaker)
            .join(episodes, is_said_in)
            .where(
                statements.c.household == household, statements.c.fact_id.in_(part),
                episodes.c.speaker.is_not(None),
            )
            .order_by(statements.c.said_at, statements.c.id.desc())
        )  # fmt: skip
        found |= {row.fact_id: row.speaker for row in conn.execute(query).all()}
    return found


def _episode_hit(episode: Episode, text: str) -> Hit:
    return Hit(
        id=episode.id, kind=HitKind.EPISODE, text=text, category=None, confidence=1.0,
        at=episode.said_at, created_at=episode.said_at, speaker=episode.speaker,
        session=episode.session, scope=episode.scope, provenance=(episode.id,),
    )  # fmt: skip


def _fact_hit(fact: Fact, confidence: float, speaker: str | None) -> Hit:
    return Hit(
        id=fact.id, kind=HitKind.FACT, text=fact.narrative, category=fact.category,
        confidence=confidence, at=fact.said_at, created_at=fact.created_at, speaker=speaker,
        session=None, scope=fact.scope, provenance=tuple(fact.derived_from),
    )  # fmt: skip
