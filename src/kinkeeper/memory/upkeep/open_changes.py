"""Looks among new facts for what may have changed without its words being sure of it: questions, never findings."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.memory.facts import facts_by_id, replaced_by
from kinkeeper.memory.finding.vectors import VectorKind
from kinkeeper.memory.model import Category, Fact, Statement
from kinkeeper.memory.statement_match import is_one_voice
from kinkeeper.memory.statements.relation import WORTH_ASKING, chance_left_open
from kinkeeper.memory.timeline import canonical
from kinkeeper.memory.upkeep.neighbourhood import Neighbourhood
from kinkeeper.memory.upkeep.pair_search import facts_met_by, pair_of, words_of_facts
from kinkeeper.memory.upkeep.questions import (
    Question,
    QuestionKind,
    known_ids,
    question_id,
    waiting,
)
from kinkeeper.store.store import Store

MOST_A_NIGHT = 10
"""Pairs that one night asks about."""

MOST_WAITING = 30
"""Pairs that wait at a time; while nobody answers these, nothing new is asked."""

PATIENCE = timedelta(days=30)
"""After how long a question that nobody answered makes room for others."""

UNSURE = "the newer one may mean that the older one is no longer true, but its wording is not clear"

_SHORT_LIVED = frozenset((Category.EMOTIONAL, Category.TECHNICAL))

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPair:
    """Two facts of which the newer one may have outdated the older one.

    Attributes:
        older: Id of the fact that held first.
        newer: Id of the other.
        chance: That it has, between 0 and 1.
    """

    older: str
    newer: str
    chance: float


class OpenChanges:
    """Finds for one household what a person is to be asked.

    Args:
        neighbourhood: Tells meanings; None where nothing does.
    """

    def __init__(
        self, store: Store, household: str, neighbourhood: Neighbourhood | None, *, now: datetime
    ) -> None:
        self._store = store
        self._household = household
        self._neighbourhood = neighbourhood
        self._now = now

    async def among(self, changed: Sequence[Fact]) -> Sequence[Question]:
        """Return questions that were not asked before, the likeliest of each new fact."""
        ids = {each.id for each in changed}
        met = await self._store.read(lambda conn: self._met(conn, ids))
        likeness = await self._likenesses(met.pairs)
        found = await asyncio.to_thread(lambda: [*_judged(met, likeness)])
        room = await self._store.read(self._room)
        return [
            Question(kind=QuestionKind.UPDATE, facts=pair_of(each.older, each.newer), why=UNSURE)
            for each in likeliest(found)[:room]
        ]

    def _met(self, conn: Connection, ids: set[str]) -> "_Met":
        words = words_of_facts(conn, self._household, ids)
        near = facts_met_by(conn, self._household, words)
        pairs = {pair_of(fact, each) for fact, mates in near.items() for each in mates - {fact}}
        asked = {question_id(kind, pair): pair for pair in pairs for kind in QuestionKind}
        pairs -= {asked[each] for each in known_ids(conn, self._household, asked)}
        every = {each for pair in pairs for each in pair}
        facts = facts_by_id(conn, self._household, every)
        return _Met(
            pairs=sorted(pairs),
            facts={key: each for key, each in facts.items() if self._is_lasting(each)},
            words=words_of_facts(conn, self._household, every),
            settled=replaced_by(conn, self._household, every),
        )

    def _is_lasting(self, fact: Fact) -> bool:
        return fact.is_current(self._now) and fact.category not in _SHORT_LIVED

    def _room(self, conn: Connection) -> int:
        open_now = waiting(conn, self._household, QuestionKind.UPDATE, limit=MOST_WAITING)
        return min(MOST_A_NIGHT, MOST_WAITING - len(open_now))

    async def _likenesses(self, pairs: Iterable[_Pair]) -> Mapping[_Pair, float]:
        """Return how alike the meanings of pairs are; those without vectors are left out."""
        if self._neighbourhood is None:
            return {}
        ids = {each for pair in pairs for each in pair}
        vectors = await self._neighbourhood.vectors(VectorKind.FACT, ids)
        return {
            pair: self._neighbourhood.likeness(*(vectors[each] for each in pair))
            for pair in pairs
            if vectors.keys() >= {*pair}
        }


def moot(conn: Connection, household: str, *, now: datetime) -> Sequence[str]:
    """Return the ids of questions that nobody answered in time, or that no longer ask one thing of one audience."""
    asked = waiting(conn, household, QuestionKind.UPDATE, limit=MOST_WAITING)
    late = waiting(
        conn, household, QuestionKind.UPDATE, limit=MOST_WAITING, asked_by=now - PATIENCE
    )
    facts = facts_by_id(conn, household, (key for each in asked for key in each.facts))
    scopes = {key: fact.scope for key, fact in facts.items() if fact.is_current(now)}
    split = (each for each in asked if len({scopes.get(key, key) for key in each.facts}) > 1)
    return sorted({each.id for each in (*late, *split)})


def likeliest(found: Iterable[OpenPair]) -> Sequence[OpenPair]:
    """Return the likeliest pair of each newer fact, and of each older one, the likeliest first. Pure."""
    kept: list[OpenPair] = []
    taken: set[str] = set()
    for each in sorted(found, key=lambda pair: (-pair.chance, pair.older, pair.newer)):
        if each.newer not in taken and each.older not in taken:
            kept.append(each)
            taken |= {each.newer, each.older}
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class _Met:
    """Pairs of facts that share words nobody else has in common.

    Attributes:
        pairs: Ids.
        facts: Those in use that are meant to last.
        words: What tells each fact best.
        settled: Facts that took another's place already.
    """

    pairs: Sequence[_Pair]
    facts: Mapping[str, Fact]
    words: Mapping[str, Statement]
    settled: frozenset[str]


def _judged(met: _Met, likeness: Mapping[_Pair, float]) -> Iterator[OpenPair]:
    for pair in met.pairs:
        if not met.facts.keys() >= {*pair} or not met.words.keys() >= {*pair}:
            continue
        older, newer = sorted((met.words[each] for each in pair), key=canonical)
        older_id, newer_id = sorted(pair, key=lambda each: canonical(met.words[each]))
        if not _may_be_asked(older, newer) or newer_id in met.settled:
            continue
        chance = chance_left_open(older.text, newer.text, likeness=likeness.get(pair))
        if chance >= WORTH_ASKING:
            yield OpenPair(older=older_id, newer=newer_id, chance=chance)


def _may_be_asked(older: Statement, newer: Statement) -> bool:
    """Whether the newer one could take the older one's place: told later, in one voice, by who may tell."""
    is_later = older.episode_id != newer.episode_id and older.held_from < newer.held_from
    return is_later and newer.standing >= older.standing and is_one_voice(older, newer)
