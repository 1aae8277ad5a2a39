"""The household's own memory as what finds turns again: a database, its index and its search, as in use."""

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from evals.memory_finders import Hit
from evals.memory_gold import Turn
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.prefetch import foresee
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.ranker import Pool
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.finding.visible_results import HitKind
from kinkeeper.memory.model import Episode, Origin
from kinkeeper.models.embedding.embedder import Embedder, Vectors
from kinkeeper.store.store import Store

_BETWEEN_TURNS = timedelta(seconds=30)
_Result = TypeVar("_Result")


class RememberingEmbedder:
    """An embedder that makes no vector twice, whoever asks: the same texts are looked for in many ways.

    Args:
        embedder: Makes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def model(self) -> str:
        """Which model makes the vectors."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text."""
        missing = [*dict.fromkeys(text for text in texts if text not in self._known)]
        if missing:
            made = await self._embedder.embed(missing)
            self._known |= zip(missing, made, strict=True)
        return np.stack([self._known[text] for text in texts])

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """Return what `embed` does. Blocks; not to be called where an event loop runs."""
        return asyncio.run(self.embed(texts))


class StoredMemory:
    """Keeps turns as episodes of a household of its own, and finds them with the search in use.

    Args:
        store: Holds other conversations' households beside this one.
        household: A tenant key that nothing else has.
        embedder: Tells what texts mean, if anything does.
        runner: Runs what waits for the database.
    """

    def __init__(
        self, store: Store, household: str, embedder: Embedder | None, *, runner: asyncio.Runner
    ) -> None:
        self._store = store
        self._viewer = Viewer.of(household)
        self._finder = Finder(store, household, zone=ZoneInfo("UTC"), embedder=embedder)
        self._work = EmbeddingWork(store, household, embedder)
        self._now = datetime.min.replace(tzinfo=UTC)
        self._runner = runner

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns and make their vectors."""
        episodes: list[Episode] = []
        for turn in turns:
            # Turns of a session share its time; their order has to be told.
            is_next = episodes and episodes[-1].session == turn.session
            at = episodes[-1].said_at + _BETWEEN_TURNS if is_next else turn.said_at
            episodes.append(
                Episode(
                    household=self._viewer.household,
                    id=turn.key,
                    session=turn.session,
                    text=turn.text,
                    speaker=turn.speaker,
                    said_at=at,
                    origin=Origin.SAID,
                )
            )
        if episodes:
            self._now = max(self._now, *(each.said_at for each in episodes)) + _BETWEEN_TURNS
            self._store.write_now(lambda conn: insert_episodes(conn, episodes, at=self._now))
            self._run(self._work.finish())

    def find(self, question: str, limit: int) -> Sequence[Hit]:
        """Return what is found, by somebody who sees all of the household."""
        found = self._run(self._finder.search(self._search(question, limit)))
        return [Hit(key=hit.id, relevance=hit.relevance) for hit in found.hits]

    def pool(self, question: str) -> Pool:
        """Return what `find` chooses from."""
        return self._run(self._finder.chosen_from(self._search(question, limit=1)))

    def foresee(self, recent: Sequence[Turn], limit: int) -> Sequence[Hit]:
        """Return what streaming finds by what was said last."""
        found = self._run(
            foresee(
                self._finder,
                [turn.text for turn in recent],
                self._viewer,
                now=self._now,
                kind=HitKind.EPISODE,
                limit=limit,
            )
        )
        return [Hit(key=hit.id, relevance=hit.relevance) for hit in found]

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Return what work comes to. A runner spells out whatever it returns; that costs more than most searches."""
        results: list[_Result] = []

        async def kept() -> None:
            results.append(await work)

        self._runner.run(kept())
        return results[0]

    def _search(self, text: str, limit: int) -> Search:
        return Search(
            text=text, viewer=self._viewer, now=self._now, kinds=(HitKind.EPISODE,), limit=limit
        )
