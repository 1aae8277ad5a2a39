"""The one search of memory: everything that recalls goes through it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from threading import Lock
from time import monotonic
from types import MappingProxyType
from zoneinfo import ZoneInfo

import numpy as np
import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.confidence import GONE, OFFERED
from kinkeeper.memory.episodes import EPISODE
from kinkeeper.memory.facts import FACT
from kinkeeper.memory.finding.candidates import Question, gather
from kinkeeper.memory.finding.index_sync import (
    Following,
    Reader,
    read_episodes,
    read_facts,
    read_former_facts,
)
from kinkeeper.memory.finding.ranker import Pool, distinct, pooled
from kinkeeper.memory.finding.shelf import Admission, Shelf
from kinkeeper.memory.finding.signals import periods_of, with_names, without_names
from kinkeeper.memory.finding.vectors import VectorKind
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key, shown
from kinkeeper.models.embedding.calibration import Calibration, calibration_of
from kinkeeper.models.embedding.embedder import Embedder, HashingEmbedder, Vectors
from kinkeeper.observability.failures import repeat
from kinkeeper.store.store import Store

__all__ = [
    "ACTIVE_CONFIDENCE",
    "PASSIVE_CONFIDENCE",
    "PATIENCE",
    "Finder",
    "Found",
    "Hit",
    "HitKind",
    "Order",
    "Search",
    "compares_meaning",
]

log = structlog.get_logger()

ACTIVE_CONFIDENCE, PASSIVE_CONFIDENCE = GONE, OFFERED
"""Facts at or below it are not found: by who searches, and by what flows into a turn unasked."""

PATIENCE = 1.0
"""How long a search waits at most, in seconds, for what was not read since the start."""

_SPARE = 5
_STEP_SECONDS = 0.05
_BETWEEN_LOOKS_SECONDS = 60
_REMEMBERED_QUERIES = 256


class Order(StrEnum):
    """What comes first."""

    RELEVANCE = "relevance"
    """What answers the query best."""
    CONTEXT = "context"
    """What a context is served best by: close to the query, sure, and recent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What to look for.

    Attributes:
        text: Words; of several turns, simply all of them.
        kinds: What may be found, at least one.
        limit: Most hits, > 0.
        min_confidence: Facts at or below it are left out.
        min_relevance: Hits below it are left out.
        order: What comes first.
        is_diverse: Whether of hits that say the same only one is kept.
        without: Ids that are left out.
        with_assistant: Whether what the assistant said may be found.
        as_of: As of when, aware: what held then, as far as is known now, and what had been said by then. None:
            what holds now. A time to come is now.
        speakers: Only what one of these said, by their ids or names in small letters; None: whoever said it.
    """

    text: str
    viewer: Viewer
    now: datetime
    kinds: Sequence[HitKind] = (HitKind.FACT, HitKind.EPISODE)
    limit: int = 5
    min_confidence: float = ACTIVE_CONFIDENCE
    min_relevance: float = 0.0
    order: Order = Order.RELEVANCE
    is_diverse: bool = True
    without: frozenset[str] = frozenset()
    with_assistant: bool = False
    as_of: datetime | None = None
    speakers: frozenset[str] | None = None

    def may_be(self, hit: Hit) -> bool:
        """Whether the one who said something is among those whose words are wanted."""
        return self.speakers is None or (hit.speaker or "").casefold() in self.speakers

    @property
    def moment(self) -> datetime:
        """As of when what is found holds."""
        return self.now if self.as_of is None else min(self.as_of, self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found.

    Attributes:
        hits: Best first.
        relevance: Of the most relevant hit; 0 where there is none.
        is_complete: Whether all that is stored was searched; shortly after a start, only the newest is.
        by_meaning: Whether meaning was compared, and not only words.
    """

    hits: tuple[Hit, ...]
    relevance: float
    is_complete: bool
    by_meaning: bool


class Finder:
    """Finds what one household remembers; one in a process.

    Args:
        zone: In which dates of queries are read.
        embedder: Tells what texts mean; without one, or with one that compares spelling only, words decide.
        locale: Decides the order of numeric dates.
        called: Names of members by other words for them, in lower case.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        zone: ZoneInfo,
        embedder: Embedder | None = None,
        locale: str = "en-US",
        called: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._store = store
        self._household = household
        self._zone = zone
        self._locale = locale
        self._called = called
        self._embedder = embedder if compares_meaning(embedder) else None
        self._calibration: Calibration | None = None
        self._vectors: dict[str, Vectors] = {}
        self._lock = Lock()
        self._begun = asyncio.Event()
        self._followed: Mapping[HitKind, Following] = _shelves(household, self._embedder)
        # Read only once somebody asks for what held at another time.
        self._former = _following_facts(household, self._embedder, read=read_former_facts)

    async def search(self, search: Search, *, patience: float = PATIENCE) -> Found:
        """Return what is remembered of something.

        Args:
            patience: How long at most to wait for what was not read since the start, in seconds.

        Raises:
            UnavailableError: The database cannot be read.
        """
        self._begun.set()
        search = replace(search, text=with_names(search.text, self._called))
        vector = await self._vector(search)
        return await self._store.read(
            lambda conn: self.search_now(conn, search, vector, patience=patience)
        )

    async def prepare(self) -> None:
        """Read all that is to be searched, in steps between which others may search."""
        while not await self._store.read(self._step):
            pass

    async def read_ahead(self) -> None:
        """Once somebody has searched, read what is left, so that no more searches wait for it; until cancelled.

        It takes half the time of one thread at most: people are talking.
        """
        rest = partial(asyncio.sleep, _BETWEEN_LOOKS_SECONDS)
        await repeat(self._read_on, rest, name="memory.reading_ahead")

    async def _read_on(self) -> None:
        await self._begun.wait()
        is_complete = False
        while not is_complete:
            is_complete = await self._store.read(self._step)
            await asyncio.sleep(_STEP_SECONDS)

    async def chosen_from(self, search: Search) -> Pool:
        """Return all that a search chooses from, for whoever fits or explains how it chooses.

        Raises:
            UnavailableError: The database cannot be read.
        """
        await self.prepare()
        vector = await self._vector(search)
        return await self._store.read(lambda conn: self._pool(conn, search, vector))

    def search_now(
        self,
        conn: Connection,
        search: Search,
        vector: Vectors | None,
        *,
        patience: float = PATIENCE,
    ) -> Found:
        """Return what `search` does, on the calling thread.

        Args:
            vector: What its text means: shape (dimension,); None where nothing tells.
            patience: As for `search`.
        """
        with self._lock:
            deadline = monotonic() + patience
            searched = self._searched(search)
            for _, followed in searched:
                followed.catch_up(conn, deadline=deadline)
            pool = self._pool(conn, search, vector)
            complete = all(followed.is_complete for _, followed in searched)
        hits = self._shown(conn, search, pool)
        return Found(
            hits=hits,
            relevance=max((hit.relevance for hit in hits), default=0.0),
            is_complete=complete,
            by_meaning=vector is not None,
        )

    def _step(self, conn: Connection) -> bool:
        with self._lock:
            for followed in self._followed.values():
                followed.catch_up(conn, deadline=monotonic() + _STEP_SECONDS)
            return all(followed.is_complete for followed in self._followed.values())

    async def _remembers_anything(self) -> bool:
        """Tell whether there is something to compare: no model is loaded for an empty memory."""
        if not self._has_read_anything:
            # The newest tell who speaks here, before the query's vector is made without their names.
            await self._store.read(self._step)
        return self._has_read_anything

    @property
    def _has_read_anything(self) -> bool:
        return any(len(followed.shelf) for followed in self._followed.values())

    async def _vector(self, search: Search) -> Vectors | None:
        """Return what a query means but for the names of those who speak.

        A name makes a query like all that its bearer ever said. Whose words are meant is told by the leg of speakers.
        """
        if self._embedder is None or not search.text.strip():
            return None
        if not await self._remembers_anything():
            return None
        shelves = [followed.shelf for followed in self._followed.values()]
        text = without_names(search.text, _speakers_named(search.text, shelves))
        if text in self._vectors:
            return self._vectors[text]
        try:
            if self._calibration is None:
                self._calibration = await calibration_of(self._embedder)
            vector: Vectors = (await self._embedder.embed([text]))[0]
        except UnavailableError as error:
            log.warning("memory.search.by_words_only", reason=type(error).__name__)
            return None
        while len(self._vectors) >= _REMEMBERED_QUERIES:
            del self._vectors[next(iter(self._vectors))]
        self._vectors[text] = vector
        return vector

    def _searched(self, search: Search) -> list[tuple[HitKind, Following]]:
        searched = [(kind, self._followed[kind]) for kind in search.kinds]
        if search.as_of is not None and HitKind.FACT in search.kinds:
            searched.append((HitKind.FACT, self._former))
        return searched

    def _pool(self, conn: Connection, search: Search, vector: Vectors | None) -> Pool:
        question = Question(
            text=search.text,
            vector=vector,
            periods=periods_of(search.text, search.now.astimezone(self._zone), locale=self._locale),
            model=self._embedder.model if self._embedder else "",
            admission=Admission(
                viewer=search.viewer,
                now=search.moment.timestamp(),
                above=search.min_confidence,
                without=search.without,
                with_assistant=search.with_assistant,
            ),
        )
        shelves = [(kind, followed.shelf) for kind, followed in self._searched(search)]
        names = _speakers_named(search.text, [shelf for _, shelf in shelves])
        found = [
            (
                kind,
                gather(conn, self._household, shelf, _put_to(kind, question, search), names=names),
            )
            for kind, shelf in shelves
        ]
        return pooled(found, self._calibration if vector is not None else None)

    def _shown(self, conn: Connection, search: Search, pool: Pool) -> tuple[Hit, ...]:
        ranked = pool.by_relevance() if search.order is Order.RELEVANCE else pool.for_context()
        relevant = np.flatnonzero(pool.relevances >= search.min_relevance)
        order = relevant[np.argsort(-ranked[relevant], kind="stable")]
        hits: list[Hit] = []
        meanings: dict[Key, Vectors] = {}
        # What was left out as outdated or said twice makes room for what comes next.
        page = search.limit + _SPARE
        for start in range(0, len(order), page):
            places = order[start : start + page].tolist()
            rows = shown(
                conn,
                search.viewer,
                [pool.keys[place] for place in places],
                now=search.moment,
                above=search.min_confidence,
                is_past=search.as_of is not None,
            )
            hits += [
                _scored(rows[pool.keys[place]], pool, place, float(ranked[place]))
                for place in places
                if pool.keys[place] in rows and search.may_be(rows[pool.keys[place]])
            ]
            # Of equal worth, what was said last comes first, whenever it arrived.
            hits.sort(key=lambda hit: (-hit.score, -hit.at.timestamp(), hit.text))
            if search.is_diverse:
                meanings |= pool.meanings_of(places)
                hits = distinct(hits, meanings, self._calibration)
            if len(hits) >= search.limit:
                break
        return tuple(hits[: search.limit])


def compares_meaning(embedder: Embedder | None) -> bool:
    """Tell whether an embedder tells what texts mean; one that only compares spelling adds nothing to words.

    Args:
        embedder: Any; None tells nothing.
    """
    return embedder is not None and not isinstance(embedder, HashingEmbedder)


def _shelves(household: str, embedder: Embedder | None) -> dict[HitKind, Following]:
    model = embedder.model if embedder else None
    return {
        HitKind.EPISODE: Following(
            household,
            kind=EPISODE,
            read=read_episodes,
            model=model,
            shelf=Shelf(VectorKind.EPISODE, VectorKind.CONTEXT),
        ),
        HitKind.FACT: _following_facts(household, embedder, read=read_facts),
    }


def _speakers_named(text: str, shelves: Iterable[Shelf]) -> frozenset[str]:
    return frozenset[str]().union(*(shelf.speakers_named(text) for shelf in shelves))


def _following_facts(household: str, embedder: Embedder | None, *, read: Reader) -> Following:
    return Following(
        household,
        kind=FACT,
        read=read,
        model=embedder.model if embedder else None,
        shelf=Shelf(VectorKind.FACT),
    )


def _put_to(kind: HitKind, question: Question, search: Search) -> Question:
    """Return a question as it is put to what is of a kind: words are as old as they are, facts as they hold."""
    if search.as_of is None or kind is HitKind.FACT:
        return question
    said_by = replace(question.admission, said_by=search.moment.timestamp())
    return replace(question, admission=said_by)


def _scored(hit: Hit, pool: Pool, place: int, score: float) -> Hit:
    parts = {name: float(scores[place]) for name, scores in pool.legs.items()}
    return replace(hit, score=score, relevance=float(pool.relevances[place]), parts=parts)
