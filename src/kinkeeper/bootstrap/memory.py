"""What finds a household's memories and makes their vectors, by the settings."""

from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property

import structlog

from kinkeeper.bootstrap.embedder import close_embedder, lasting_embedder
from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.model import Household
from kinkeeper.memory.episodes import count_episodes
from kinkeeper.memory.facts import count_facts
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import Finder, compares_meaning
from kinkeeper.memory.finding.vectors import VectorKind, count_vectors
from kinkeeper.memory.model import FactStatus
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

log = structlog.get_logger()

_CHECK = "memory search"
_MANY_WAITING = 2_000


class Recall:
    """The one finder of a household in this process, and what makes the vectors it compares.

    Args:
        settings: In force.
        household: Whose memories.
        store: Its database.
    """

    def __init__(self, settings: Settings, household: Household, store: Store) -> None:
        self._settings = settings
        self._household = household
        self._store = store

    @cached_property
    def finder(self) -> Finder:
        """Finds the household's memories."""
        return Finder(
            self._store, self._household.id, zone=self._household.zone, embedder=self.embedder,
            locale=self._household.locale, called=self._household.called,
        )  # fmt: skip

    async def embed(self, every: timedelta) -> None:
        """Make the vectors of what is new, until cancelled; then let go of the embedder.

        Args:
            every: How often to look, > 0.
        """
        try:
            await EmbeddingWork(self._store, self._household.id, self.embedder).run(every)
        finally:
            await close_embedder(self.embedder)

    async def embed_newest(self) -> None:
        """Make the vectors of what is newest, for whoever has just written it."""
        try:
            await EmbeddingWork(self._store, self._household.id, self.embedder).run_once()
        except UnavailableError as error:
            log.warning("memory.embedding.postponed", reason=type(error).__name__)
        finally:
            await close_embedder(self.embedder)

    @cached_property
    def embedder(self) -> Embedder | None:
        """Tells what texts mean; None where nothing does."""
        return meaning_embedder(self._settings)


def meaning_embedder(settings: Settings) -> Embedder | None:
    """Return what tells what texts mean; None where nothing does, or it cannot be used.

    Args:
        settings: In force.
    """
    try:
        embedder = lasting_embedder(settings)
    except UnavailableError as error:
        log.warning("memory.by_words_only", reason=str(error))
        return None
    return embedder if compares_meaning(embedder) else None


def memory_findings(
    settings: Settings, households: Sequence[Household], store: Store
) -> Sequence[Finding]:
    """Tell what is remembered, and whether it is found by its meaning. Blocks.

    Args:
        settings: In force.
        households: Whose memories.
        store: Their database.
    """
    embedder = meaning_embedder(settings)
    model = None if embedder is None else embedder.model
    return tuple(_finding(store, household.id, model) for household in households)


def _finding(store: Store, household: str, model: str | None) -> Finding:
    episodes = store.read_now(lambda conn: count_episodes(conn, household))
    facts = store.read_now(lambda conn: count_facts(conn, household))
    vectors = store.read_now(lambda conn: count_vectors(conn, household))
    waiting = episodes["pending"] + facts.get(FactStatus.PENDING_EMBED, 0)
    kept = sum(count for status, count in facts.items() if status.is_active)
    found = f"{episodes['all']:,} episodes and {kept:,} facts"
    if model is None:
        return ok(_CHECK, f"{found}, found by their words; EMBEDDER=minilm also compares meaning")
    ours = sum(count for (made_by, kind), count in vectors.items()
               if made_by == model and kind is not VectorKind.CONTEXT)  # fmt: skip
    found = f"{found}, {ours:,} of them also found by meaning ({model})"
    if waiting > _MANY_WAITING:
        remedy = (
            "a worker indexes the rest: make sure that `kinkeeper serve` or `worker` is running"
        )
        return warning(_CHECK, f"{found}; {waiting:,} not indexed yet", remedy)
    return ok(_CHECK, found)
