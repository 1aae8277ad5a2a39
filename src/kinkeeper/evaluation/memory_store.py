"""The household's own memory as what finds turns again: a database, its index and its search, as in use."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.evaluation.memory_finders import Embed, Hit
from kinkeeper.evaluation.memory_gold import Turn
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.embedding import EmbeddingWork
from kinkeeper.memory.finding.search import PASSIVE_CONFIDENCE, Finder, Search
from kinkeeper.memory.finding.showing import HitKind
from kinkeeper.memory.model import Episode, Origin, Viewer
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.store.store import Store

_BETWEEN_TURNS = timedelta(seconds=30)


class WaitingEmbedder:
    """An embedder out of a function that blocks.

    Args:
        embed: Makes the vectors.
        model: Their name.
        dimension: Numbers a vector.
    """

    def __init__(self, embed: Embed, model: str, dimension: int) -> None:
        self._embed = embed
        self.model = model
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text."""
        return self._embed(texts)


class StoredMemory:
    """Keeps turns as episodes of a household of its own, and finds them with the search in use.

    Args:
        store: Holds other conversations' households beside this one.
        household: A tenant key that nothing else has.
        embedder: Tells what texts mean, if anything does.
        runner: Runs what waits for the database.
    """

    def __init__(
        self, store: Store, household: str, embedder: WaitingEmbedder | None, runner: asyncio.Runner
    ) -> None:
        self.store = store
        self.household = household
        self.finder = Finder(store, household, zone=ZoneInfo("UTC"), embedder=embedder)
        self.now = datetime.min.replace(tzinfo=UTC)
        self._work = EmbeddingWork(store, household, embedder)
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
                    household=self.household, id=turn.key, session=turn.session, text=turn.text,
                    speaker=turn.speaker, said_at=at, origin=Origin.SAID,
                )
            )  # fmt: skip
        if episodes:
            self.now = max(self.now, *(each.said_at for each in episodes)) + _BETWEEN_TURNS
            self.store.write_now(lambda conn: insert_episodes(conn, episodes, at=self.now))
            self._runner.run(self._work.finish())

    def find(self, question: str, limit: int) -> Sequence[Hit]:
        """Return what is found, by somebody who sees all of the household."""
        search = Search(
            text=question, viewer=self._viewer, now=self.now, kinds=(HitKind.EPISODE,), limit=limit
        )
        found = self._runner.run(self.finder.search(search))
        return [Hit(key=hit.id, relevance=hit.relevance) for hit in found.hits]

    def foresee(self, recent: Sequence[Turn], limit: int) -> Sequence[Hit]:
        """Return what streaming finds by what was said last."""
        search = Search(
            text="\n".join(turn.text for turn in recent), viewer=self._viewer, now=self.now,
            kinds=(HitKind.EPISODE,), limit=limit, min_confidence=PASSIVE_CONFIDENCE,
        )  # fmt: skip
        found = self._runner.run(self.finder.search(search))
        return [Hit(key=hit.id, relevance=hit.relevance) for hit in found.hits]

    @property
    def _viewer(self) -> Viewer:
        return Viewer.of(self.household)
