"""What is remembered about the last turns of a thread, found ahead of the next one.

While a turn is answered, the turns before it are searched for in the background; the next turn takes what was
found, and goes on without where nothing is there yet. Only ids are kept between: what is shown is read when it
is taken, so that nothing that was superseded, forgotten or hidden meanwhile can come out.
"""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter
from typing import TypeVar

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.finding.ranker import FORESEEN
from kinkeeper.memory.finding.search import PASSIVE_CONFIDENCE, Finder, Search
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.memory.model import Episode, EpisodeKind
from kinkeeper.observability.failures import surviving
from kinkeeper.store.commits import AFTERWARDS
from kinkeeper.store.store import Store

log = structlog.get_logger()
_Kept = TypeVar("_Kept")

MOST_FACTS, MOST_EPISODES = 5, 5
_TURNS = 2
_MOST_THREADS = 256
_PATIENCE_SECONDS = 5.0
_LAST_AGAIN = 0.5
_TAKEN_UP = 0.5
"""Share of a memory's new words that an answer holds which took it up."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A talk as one person has it.

    Attributes:
        viewer: On whose behalf memory is read.
        session: Its id.
    """

    viewer: Viewer
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What was found for a thread, as it stands now.

    Attributes:
        facts: At most MOST_FACTS, best first.
        episodes: At most MOST_EPISODES, best first.
        is_cold: Whether nothing had been looked up (yet).
    """

    facts: Sequence[Hit] = ()
    episodes: Sequence[Hit] = ()
    is_cold: bool = False


COLD = Streamed(is_cold=True)


@dataclass(slots=True)
class StreamingFigures:
    """What streaming did since the process began.

    Attributes:
        failed: Look-ups that could not be made.
        warm: Turns for which something had been looked up.
        cold: Turns that went on without.
        streamed: Memories handed to turns.
        used: Of them, those that the turn's answer took up.
        seconds: Time that look-ups took in the background.
    """

    turns: int = 0
    searched: int = 0
    failed: int = 0
    warm: int = 0
    cold: int = 0
    streamed: int = 0
    used: int = 0
    seconds: float = 0.0


class Streaming:
    """Looks up, for one household, what its threads will want next.

    `run` has to be running for anything to be looked up.
    """

    def __init__(self, store: Store, finder: Finder, clock: Clock) -> None:
        self._store = store
        self._finder = finder
        self._clock = clock
        self._wanted: OrderedDict[Thread, None] = OrderedDict()
        self._found: OrderedDict[Thread, Sequence[Hit]] = OrderedDict()
        self._handed: OrderedDict[Thread, Sequence[Hit]] = OrderedDict()
        self._is_something_wanted = asyncio.Event()
        self.figures = StreamingFigures()

    def turn_ended(self, thread: Thread, *, asked: str = "", answered: str = "") -> None:
        """Have the last turns of a thread looked up; costs the caller nothing.

        Args:
            thread: Whose turns are stored; of several wishes for it the last counts.
            asked: What the person said in the turn.
        """
        handed = self._handed.pop(thread, ())
        self.figures.turns += 1
        self.figures.used += sum(is_taken_up(hit.text, asked, answered) for hit in handed)
        _keep(self._wanted, thread, None)
        self._is_something_wanted.set()

    async def take(self, thread: Thread) -> Streamed:
        """Return what was looked up for a thread, at once; cold where nothing was.

        Args:
            thread: The one whose next turn begins.
        """
        found = self._found.get(thread)
        if found is None:
            self.figures.cold += 1
            return COLD
        here = await self._as_it_stands(thread.viewer, [hit.key for hit in found])
        # In the order and with the scores of the search; the words are those of now.
        hits = [replace(here[hit.key], score=hit.score) for hit in found if hit.key in here]
        _keep(self._handed, thread, hits)
        self.figures.warm += 1
        self.figures.streamed += len(hits)
        return Streamed(
            facts=[hit for hit in hits if hit.kind is HitKind.FACT],
            episodes=[hit for hit in hits if hit.kind is HitKind.EPISODE],
        )

    async def _as_it_stands(self, viewer: Viewer, keys: Sequence[Key]) -> Mapping[Key, Hit]:
        if not keys:
            return {}
        now = self._clock.now()
        return await self._store.read(
            lambda conn: shown(conn, viewer, keys, now=now, above=PASSIVE_CONFIDENCE)
        )

    async def run(self) -> None:
        """Look up what is wanted, until cancelled."""
        while True:
            await self._is_something_wanted.wait()
            self._is_something_wanted.clear()
            await asyncio.sleep(AFTERWARDS.total_seconds())
            await self.catch_up()

    async def catch_up(self) -> None:
        """Look up all that is wanted by now."""
        while self._wanted:
            thread, _ = self._wanted.popitem(last=False)
            await self._search_for(thread)

    async def _search_for(self, thread: Thread) -> None:
        began = perf_counter()
        with surviving("memory.streaming", foreseen=(UnavailableError, TimeoutError)) as search:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                _keep(self._found, thread, await self._look_up(thread))
        if search.error is not None:
            self.figures.failed += 1
            return
        self.figures.searched += 1
        self.figures.seconds += perf_counter() - began

    async def _look_up(self, thread: Thread) -> Sequence[Hit]:
        turns = await self._store.read(lambda conn: last_turns(conn, thread))
        ids = frozenset(turn.id for turn in turns)
        texts = [turn.text for turn in turns]
        now = self._clock.now()
        facts = await foresee(
            self._finder,
            texts,
            thread.viewer,
            now=now,
            kind=HitKind.FACT,
            limit=MOST_FACTS,
            without=ids,
        )
        told = {episode for fact in facts for episode in fact.provenance}
        episodes = await foresee(
            self._finder,
            texts,
            thread.viewer,
            now=now,
            kind=HitKind.EPISODE,
            limit=MOST_EPISODES,
            without=ids | told,
        )
        return [*facts, *episodes]


def _keep(threads: OrderedDict[Thread, _Kept], thread: Thread, value: _Kept) -> None:
    threads[thread] = value
    threads.move_to_end(thread)
    while len(threads) > _MOST_THREADS:
        threads.popitem(last=False)


def is_taken_up(memory: str, asked: str, answered: str) -> bool:
    """Tell whether an answer says something out of a memory that the question did not say already. Pure."""
    new = {*stems(memory)} - {*stems(asked)}
    return bool(new) and len(new & {*stems(answered)}) >= _TAKEN_UP * len(new)


async def foresee(
    finder: Finder,
    turns: Sequence[str],
    viewer: Viewer,
    *,
    now: datetime,
    kind: HitKind,
    limit: int,
    without: frozenset[str] = frozenset(),
) -> list[Hit]:
    """Return what turns call for, best first: found by all of their words, and again by the last one's.

    What was said last tells more of what comes next. What one of the two searches does not find counts as
    the least that it does find.

    Args:
        turns: Their words, oldest first.
        limit: Most hits, > 0.
        without: Ids that are left out.
    """
    if not turns:
        return []
    weight_of = {turns[-1]: _LAST_AGAIN, "\n".join(turns): 1.0}
    asked = Search(
        text="",
        viewer=viewer,
        now=now,
        kinds=(kind,),
        limit=limit,
        min_confidence=PASSIVE_CONFIDENCE,
        min_relevance=FORESEEN,
        without=without,
    )
    hit_of: dict[str, Hit] = {}
    searched: list[tuple[float, Mapping[str, float]]] = []
    for text, weight in weight_of.items():
        found = (await finder.search(replace(asked, text=text))).hits
        hit_of |= {hit.id: hit for hit in found}
        searched.append((weight, {hit.id: hit.score for hit in found}))
    worth = _added_up(searched)
    best = sorted(hit_of.values(), key=lambda hit: -worth[hit.id])[:limit]
    return [replace(hit, score=worth[hit.id]) for hit in best]


def _added_up(searched: Sequence[tuple[float, Mapping[str, float]]]) -> Mapping[str, float]:
    """Return the weighted sum of each id's scores."""
    worth: defaultdict[str, float] = defaultdict(float)
    ids = {each for _, scores in searched for each in scores}
    for weight, scores in searched:
        least = min(scores.values(), default=0.0)
        for each in ids:
            worth[each] += weight * scores.get(each, least)
    return worth


def last_turns(conn: Connection, thread: Thread) -> Sequence[Episode]:
    """Return what was said last in a thread, oldest first: people's words, the assistant's where there are none."""
    latest = list_episodes(
        conn, thread.viewer, session=thread.session, kind=EpisodeKind.TURN, limit=2 * _TURNS
    )
    people = [turn for turn in latest if not turn.is_assistant]
    return (people or latest)[:_TURNS][::-1]
