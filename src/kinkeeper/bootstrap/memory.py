"""What finds a household's memories, makes their vectors and reads them out of exchanges, by the settings."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cached_property
from time import perf_counter
from typing import Protocol, runtime_checkable

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.session_words import propose_statements
from kinkeeper.conversation.context.repository import ENCODING
from kinkeeper.conversation.encoding.job import Encoding
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household, members_by_name
from kinkeeper.jobs.job import Pace, RowWorker
from kinkeeper.memory.episodes import count_episodes
from kinkeeper.memory.extraction_job import SessionReading
from kinkeeper.memory.facts import count_facts
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import Finder, compares_meaning
from kinkeeper.memory.finding.vectors import VectorKind, count_vectors
from kinkeeper.memory.model import Episode, FactStatus, Observation
from kinkeeper.models.embedding.cache import CachedEmbedder
from kinkeeper.models.embedding.embedder import Embedder, HashingEmbedder
from kinkeeper.models.embedding.minilm import REMEDY, shared_minilm, weights_path
from kinkeeper.models.endpoints import Dialect, Endpoint
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice
from kinkeeper.store.store import Store

# The settings of embeddings as an embedder, and what a check of it finds.


@runtime_checkable
class _Connected(Protocol):
    """An embedder that holds a connection."""

    async def close(self) -> None:
        """Close it."""


_EMBEDDER_CHECK = "embedder"
_SAMPLE = ("Who picks up the children tomorrow?", "Tomorrow someone has to fetch the kids.")


@asynccontextmanager
async def embedder_opened(settings: Settings) -> AsyncIterator[Embedder | None]:
    """Yield what turns texts into vectors for the length of the block; None where nothing is to.

    The model inside this process is shared and stays loaded; a server's connection is closed.
    """
    embedder = lasting_embedder(settings)
    try:
        yield embedder
    finally:
        await close_embedder(embedder)


def lasting_embedder(settings: Settings) -> Embedder | None:
    """Return what turns texts into vectors, for one event loop that closes it; None where nothing is to."""
    if not settings.embedder.is_remote:
        return local_embedder(settings.embedder)
    from kinkeeper.models.connection import ServerConnection  # noqa: PLC0415 - loads the library for HTTP
    from kinkeeper.models.embedding.remote import RemoteEmbedder, RemoteModel  # noqa: PLC0415

    dialect = Dialect(settings.embedder.value)
    endpoint = Endpoint(
        url=str(settings.embedder_url), api_key=settings.embedder_api_key, dialect=dialect
    )
    connection = ServerConnection(endpoint, allows_public=settings.allow_remote_model_for_chat)
    model = RemoteModel(
        name=str(settings.embedder_model),
        dialect=dialect,
        timeout=timedelta(seconds=settings.embedder_timeout_seconds),
    )
    return RemoteEmbedder(connection, model)


async def close_embedder(embedder: object) -> None:
    """Close a server's connection; what is inside this process stays loaded.

    Args:
        embedder: As `lasting_embedder` returned it.
    """
    if isinstance(embedder, _Connected):
        await embedder.close()


def local_embedder(choice: EmbedderChoice) -> Embedder | None:
    """Return what turns texts into vectors inside this process; None where nothing is to.

    Args:
        choice: AUTO, MINILM, HASHING or NONE.
    """
    if choice is EmbedderChoice.NONE:
        return None
    weights = None if choice is EmbedderChoice.HASHING else weights_path()
    if weights is not None:
        return shared_minilm(weights)
    if choice is EmbedderChoice.MINILM:
        raise UnavailableError(f"EMBEDDER=minilm is not installed; {REMEDY}")
    return HashingEmbedder()


def remembering(embedder: Embedder, store: Store, household: str, clock: Clock) -> Embedder:
    """Return an embedder that computes no text of a household twice, where that is worth a look."""
    if isinstance(embedder, HashingEmbedder):
        return embedder  # faster than the database
    return CachedEmbedder(embedder, store, household, clock)


def embedder_finding(settings: Settings) -> Finding:
    """Return what a check of the embedder finds; a server is asked for two vectors. Blocks."""
    try:
        return asyncio.run(_tried(settings))
    except UnavailableError as error:
        return warning(
            _EMBEDDER_CHECK, str(error), "texts are compared by their words until this is fixed"
        )


async def _tried(settings: Settings) -> Finding:
    async with embedder_opened(settings) as embedder:
        if embedder is None:
            return ok(_EMBEDDER_CHECK, "none (EMBEDDER=none); texts are compared by their words")
        start = perf_counter()
        vectors = await embedder.embed(_SAMPLE)
        milliseconds = 1000 * (perf_counter() - start)
        found = f"{embedder.model}, loaded in {milliseconds:.0f} ms ({vectors.shape[1]} dimensions)"
        if settings.embedder is EmbedderChoice.AUTO and isinstance(embedder, HashingEmbedder):
            return ok(
                _EMBEDDER_CHECK,
                f"{found}; compares spelling, not meaning; to compare meaning, {REMEDY}",
            )
        return ok(_EMBEDDER_CHECK, found)


log = structlog.get_logger()

_CHECK = "memory search"
_MANY_WAITING = 2_000


class Recall:
    """The one finder of a household in this process, and what makes the vectors it compares."""

    def __init__(self, settings: Settings, household: Household, store: Store) -> None:
        self._settings = settings
        self._household = household
        self._store = store

    @cached_property
    def finder(self) -> Finder:
        """Finds the household's memories."""
        return Finder(
            self._store,
            self._household.id,
            zone=self._household.zone,
            embedder=self.embedder,
            locale=self._household.locale,
            called=self._household.called,
        )

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
    """Return what tells what texts mean; None where nothing does, or it cannot be used."""
    try:
        embedder = lasting_embedder(settings)
    except UnavailableError as error:
        log.warning("memory.by_words_only", reason=str(error))
        return None
    return embedder if compares_meaning(embedder) else None


def memory_findings(
    settings: Settings, households: Sequence[Household], store: Store
) -> Sequence[Finding]:
    """Tell what is remembered, and whether it is found by its meaning. Blocks."""
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
    ours = sum(
        count
        for (made_by, kind), count in vectors.items()
        if made_by == model and kind is not VectorKind.CONTEXT
    )
    found = f"{found}, {ours:,} of them also found by meaning ({model})"
    if waiting > _MANY_WAITING:
        remedy = (
            "a worker indexes the rest: make sure that `kinkeeper serve` or `worker` is running"
        )
        return warning(_CHECK, f"{found}; {waiting:,} not indexed yet", remedy)
    return ok(_CHECK, found)


# What makes gists, episodes and facts out of exchanges, for one household of a process.


def reading_of(household: Household, store: Store, clock: Clock) -> SessionReading:
    """Return what reads facts out of what was said in a household's sessions."""

    def propose(conn: Connection, episode: Episode, found: Sequence[Observation]) -> None:
        propose_statements(conn, household, episode, found, now=clock.now())

    return SessionReading(
        store,
        household.id,
        people=members_by_name(household),
        guardians=household.guardians,
        zone=household.zone,
        locale=household.locale,
        clock=clock,
        propose=propose,
    )


def encoding_of(household: Household, store: Store, clock: Clock) -> Encoding:
    """Return what encodes a household's exchanges."""
    return Encoding(store, household, clock=clock, reading=reading_of(household, store, clock))


def encoding_worker(household: Household, store: Store, clock: Clock, pace: Pace) -> RowWorker:
    """Return what has a household's exchanges encoded."""
    job = encoding_of(household, store, clock).as_job()
    return RowWorker(store, job, topic=(ENCODING, household.id), clock=clock, pace=pace)
