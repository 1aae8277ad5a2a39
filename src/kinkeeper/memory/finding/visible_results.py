"""What was found, as it may be shown now: read afresh, so that nothing outdated comes out of an index or cache."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, select

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.confidence import GONE, confidence_now
from kinkeeper.memory.episodes import EPISODE, outdated_spans
from kinkeeper.memory.facts import FACT
from kinkeeper.memory.memory_rows import fact_from_row
from kinkeeper.memory.model import Category, Fact
from kinkeeper.memory.tables import episodes, facts, statements
from kinkeeper.store.prepared import Prepared, in_own_scope, is_one_of

is_said_in = and_(
    episodes.c.household == statements.c.household, episodes.c.id == statements.c.episode_id
)
"""Joins a statement with the episode it was read out of."""


def _seen(table: Table, *columns: ColumnElement[Any]) -> Prepared:
    """Return the query of rows that somebody may see, which is asked for with every search."""
    return Prepared(
        select(*columns).where(
            table.c.household == bindparam("household"),
            is_one_of(table.c.id, "ids"),
            # Joined with nothing: SQLite would go through all that may be seen by an index of scopes.
            in_own_scope(table.c.scope.concat("")),
        )
    )


_SEEN_EPISODES = _seen(
    episodes,
    episodes.c.id,
    episodes.c.text,
    episodes.c.said_at.label("at"),
    episodes.c.speaker,
    episodes.c.session,
    episodes.c.scope,
)
_SEEN_FACTS = _seen(facts, *facts.c)
_SPEAKERS = Prepared(
    select(statements.c.fact_id, episodes.c.speaker)
    .join(episodes, is_said_in)
    .where(
        statements.c.household == bindparam("household"),
        is_one_of(statements.c.fact_id, "facts"),
        episodes.c.speaker.is_not(None),
    )
    .order_by(statements.c.said_at, statements.c.id.desc())
)
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
        text: What may be shown: of an episode, without what is outdated.
        confidence: How sure one may be of a fact now; 1 of an episode: it was said.
        at: When it was said.
        created_at: When a fact was first remembered.
        speaker: Who said it last, as named where it was said, if known.
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
    conn: Connection,
    viewer: Viewer,
    keys: Collection[Key],
    *,
    now: datetime,
    above: float = GONE,
    is_past: bool = False,
) -> dict[Key, Hit]:
    """Return rows as they may be shown now; what may not be seen, or holds no more, is left out.

    Args:
        above: Facts at or below this confidence are left out.
        is_past: Whether `now` is a time in the past: what held then is shown, whatever became of it.
    """
    found: dict[Key, Hit] = {}
    said = [key.id for key in keys if key.kind is HitKind.EPISODE]
    cuts = outdated_spans(conn, viewer.household, said, at=now, is_past=is_past) if said else {}
    for row in _SEEN_EPISODES.mappings(conn, _asked(viewer, said)) if said else ():
        if text := still_true(row["text"], cuts.get(row["id"], ())):
            found[Key(HitKind.EPISODE, row["id"])] = _episode_hit(row | {"text": text})
    held = [key.id for key in keys if key.kind is HitKind.FACT]
    said_by = _speakers(conn, viewer.household, held) if held else {}
    for values in _SEEN_FACTS.mappings(conn, _asked(viewer, held)) if held else ():
        fact = fact_from_row(values)
        confidence = confidence_now(fact, now)
        holds = fact.held_at(now) if is_past else fact.is_current(now)
        if holds and values["due_at"] > now and confidence > above:
            found[Key(HitKind.FACT, fact.id)] = _fact_hit(fact, confidence, said_by.get(fact.id))
    return found


def still_true(text: str, outdated: Sequence[tuple[int, int]]) -> str:
    """Return a text without its outdated parts; empty where no word remains, as of what was erased.

    Args:
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


def _asked(viewer: Viewer, ids: Sequence[str]) -> Mapping[str, Any]:
    return viewer.parameters | {"household": viewer.household, "ids": ids}


def _speakers(conn: Connection, household: str, fact_ids: Sequence[str]) -> dict[str, str]:
    """Return who said each fact last, as named where it was said."""
    return dict(_SPEAKERS.execute(conn, {"household": household, "facts": fact_ids}))  # type: ignore[arg-type]  # rows of two


def _episode_hit(row: Mapping[str, Any]) -> Hit:
    return Hit(
        **row,
        kind=HitKind.EPISODE,
        category=None,
        confidence=1.0,
        created_at=row["at"],
        provenance=(row["id"],),
    )


def _fact_hit(fact: Fact, confidence: float, speaker: str | None) -> Hit:
    return Hit(
        id=fact.id,
        kind=HitKind.FACT,
        text=fact.narrative,
        category=fact.category,
        confidence=confidence,
        at=fact.said_at,
        created_at=fact.created_at,
        speaker=speaker,
        session=None,
        scope=fact.scope,
        provenance=tuple(fact.derived_from),
    )
