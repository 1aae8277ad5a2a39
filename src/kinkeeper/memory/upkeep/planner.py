"""Looks at what is new in memory beside all that is known, and plans what is to be done; writes nothing."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.memory.facts import facts_by_id, replaced_by
from kinkeeper.memory.finding.vectors import VectorKind
from kinkeeper.memory.ingest import speaker_of
from kinkeeper.memory.model import Category, Episode, Fact, Statement
from kinkeeper.memory.statement_match import is_one_voice
from kinkeeper.memory.statements.relation import WORTH_ASKING, chance_left_open
from kinkeeper.memory.timeline import canonical
from kinkeeper.memory.upkeep.batch import Asked, Asking, ModelBatch
from kinkeeper.memory.upkeep.neighbourhood import Neighbourhood, Neighbours, Window, read_window
from kinkeeper.memory.upkeep.pair_search import (
    Judged,
    decide_pairs,
    facts_met_by,
    facts_sharing_keys,
    judged,
    may_support,
    pair_of,
    rivals_of,
    supports,
    words_of_facts,
)
from kinkeeper.memory.upkeep.questions import (
    Answer,
    Question,
    QuestionKind,
    known_ids,
    question_id,
    waiting,
)
from kinkeeper.memory.upkeep.recurrence import Propose, Recurrence, Recurring, Theme
from kinkeeper.memory.upkeep.runs import Cost
from kinkeeper.models.embedding.calibration import Calibration
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


# What a run has found and wants to do; made beside everybody else's work, applied later in one
# transaction.


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done.

    Attributes:
        window: What was looked at.
        support: Ids of the episodes that bear out facts, by the facts' ids.
        findings: How facts relate, by the rules.
        verdicts: How facts relate, by a model.
        questions: That were not asked before.
        answers: A model's, by the questions' ids.
        moot: Ids of questions that need no answer any more.
        themes: What was told again and again.
        counts: Of whatever was looked at, found or left out, by name.
        seconds: Each step took, by its name.
        remarks: What could not be done, and why.
    """

    window: Window
    support: Mapping[str, Sequence[str]] = field(default_factory=dict)
    findings: Sequence[Judged] = ()
    verdicts: Sequence[Judged] = ()
    questions: Sequence[Question] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    moot: Sequence[str] = ()
    themes: Sequence[Theme] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    remarks: Sequence[str] = ()


Progress = Callable[[str], None]
"""Told the name of each step that begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a run works with.

    Attributes:
        people: Member ids by folded name or alias.
        zone: Whose days and nights are meant.
        likeness: Of the model whose vectors are stored; None where there are none that tell meaning.
        batch: Asks a model what rules cannot decide; None leaves it open.
        propose: Asks a person about what was only overheard; None leaves it.
    """

    people: Mapping[str, str]
    zone: ZoneInfo
    likeness: Calibration | None = None
    batch: ModelBatch | None = None
    propose: Propose | None = None


class Planner:
    """Makes one plan."""

    def __init__(
        self, store: Store, household: str, tools: Tools, *, now: datetime, progress: Progress
    ) -> None:
        self._store = store
        self._household = household
        self._tools = tools
        self._now = now
        self._progress = progress
        self._seconds: dict[str, float] = {}
        self._counts: Counter[str] = Counter()
        self._neighbourhood = (
            Neighbourhood(store, household, tools.likeness) if tools.likeness else None
        )
        self._open = OpenChanges(store, household, self._neighbourhood, now=now)
        self._asking = Asking(store, household, tools.batch, now=now) if tools.batch else None

    async def plan(self) -> Plan:
        """Return what is to be done."""
        with self._step("read what is new"):
            window = await self._store.read(lambda conn: read_window(conn, self._household))
        with self._step("compare meanings"):
            neighbours = Neighbours()
            if self._neighbourhood is not None:
                neighbours = await self._neighbourhood.of(window)
        with self._step("find support"):
            support = await self._support(window.episodes, neighbours.episodes)
        with self._step("find repeated statements"):
            recurring = await self._recurring(window.episodes)
        with self._step("compare facts"):
            findings, questions = await self._meet(window.facts, neighbours.facts)
        with self._step("find possible changes"):
            opened = await self._open.among(window.facts)
            dead = await self._store.read(lambda conn: moot(conn, self._household, now=self._now))
            questions = [*questions, *opened]
        with self._step("ask the model"):
            asked = await self._asking.about(questions) if self._asking else Asked()
        self._counts |= {
            "new episodes": len(window.episodes),
            "new facts": len(window.facts),
            "facts compared": neighbours.compared,
            "clusters": recurring.clusters,
            "may have changed": len(opened),
            "sent to a model": asked.cases,
            "settled by a model": len(asked.answers),
        }
        return Plan(
            window=window,
            support=support,
            findings=findings,
            verdicts=asked.verdicts,
            questions=questions,
            answers=asked.answers,
            moot=(*asked.moot, *dead),
            themes=recurring.themes,
            counts=dict(self._counts),
            seconds=self._seconds,
            remarks=(recurring.remark,) if recurring.remark else (),
        )

    async def _recurring(self, new: Sequence[Episode]) -> Recurring:
        if self._neighbourhood is None:
            return Recurring()
        looking = Recurrence(
            self._store,
            self._household,
            self._neighbourhood,
            people=self._tools.people,
            zone=self._tools.zone,
        )
        return await looking.among(new)

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        self._progress(name)
        start = perf_counter()
        yield
        self._seconds[name] = round(perf_counter() - start, 3)

    async def _support(
        self, new: Sequence[Episode], alike: Mapping[str, Mapping[str, float]]
    ) -> dict[str, list[str]]:
        episodes = [each for each in new if may_support(each)]
        sharing = await self._store.read(
            lambda conn: facts_sharing_keys(
                conn, self._household, episodes, people=self._tools.people
            )
        )
        near = {each.id: {*sharing.get(each.id, ()), *alike.get(each.id, ())} for each in episodes}
        wanted = {fact for facts in near.values() for fact in facts}
        facts = await self._store.read(lambda conn: facts_by_id(conn, self._household, wanted))
        words = await self._store.read(lambda conn: words_of_facts(conn, self._household, wanted))
        found: defaultdict[str, list[str]] = defaultdict(list)
        for episode in sorted(episodes, key=lambda each: (each.said_at, each.id)):
            speaker = speaker_of(episode)
            for key in sorted(near[episode.id] & words.keys()):
                self._counts["supports looked at"] += 1
                likeness = alike.get(episode.id, {}).get(key)
                if _is_open_to(facts[key], episode) and supports(
                    words[key], episode, speaker=speaker, likeness=likeness
                ):
                    found[key].append(episode.id)
        return dict(found)

    async def _meet(
        self, changed: Sequence[Fact], near: frozenset[tuple[str, str]]
    ) -> tuple[Sequence[Judged], Sequence[Question]]:
        ids = {each.id for each in changed} | {each for pair in near for each in pair}
        words = await self._store.read(lambda conn: words_of_facts(conn, self._household, ids))
        doubted = [each for each in changed if each.is_contradicted]
        rivals = await self._store.read(
            lambda conn: rivals_of(conn, self._household, doubted, words)
        )
        ids = {each for pair in rivals for each in pair}
        words |= await self._store.read(lambda conn: words_of_facts(conn, self._household, ids))
        # What lies in one strand has met already, when it was written.
        strangers = {
            (one, other)
            for one, other in near
            if one in words and other in words and words[one].strand != words[other].strand
        }
        pairs = await self._unsettled(strangers | rivals)
        wanted = {each for pair in pairs for each in pair}
        facts = await self._store.read(lambda conn: facts_by_id(conn, self._household, wanted))
        active = {key: fact for key, fact in facts.items() if fact.is_current(self._now)}
        self._counts["pairs compared"] += len(pairs)
        decided = decide_pairs(await asyncio.to_thread(judged, pairs, active, words), now=self._now)
        self._counts["settled by rules"] += len(decided.findings)
        self._counts["left open"] += len(decided.questions)
        doubted_now = [each for each in decided.doubted if each.ids not in rivals]
        known = await self._store.read(
            lambda conn: known_ids(conn, self._household, {each.id for each in decided.questions})
        )
        questions = [each for each in decided.questions if each.id not in known]
        return (*decided.findings, *doubted_now), questions

    async def _unsettled(self, pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return the pairs that nobody was asked about, or has decided, before."""
        ids = {
            question_id(kind, pair): pair
            for pair in pairs
            for kind in (QuestionKind.CONTRADICTION, QuestionKind.UPDATE, QuestionKind.MERGE)
        }
        known = await self._store.read(lambda conn: known_ids(conn, self._household, ids))
        return pairs - {ids[each] for each in known}


def _is_open_to(fact: Fact, episode: Episode) -> bool:
    """Whether an episode could be new evidence of a fact."""
    return (
        fact.status.is_active
        and fact.scope == episode.scope
        and episode.said_at > fact.last_evidence_at
        and episode.id not in fact.derived_from
    )
