"""The settings of embeddings as an embedder, and what a check of it finds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from time import perf_counter
from typing import Protocol, runtime_checkable

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.models.embedding.cache import CachedEmbedder
from kinkeeper.models.embedding.embedder import Embedder, HashingEmbedder
from kinkeeper.models.embedding.minilm import REMEDY, shared_minilm, weights_path
from kinkeeper.models.endpoints import Dialect, Endpoint
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.embeddings import EmbedderChoice
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


@runtime_checkable
class _Connected(Protocol):
    """An embedder that holds a connection."""

    async def close(self) -> None:
        """Close it."""


_CHECK = "embedder"
_SAMPLE = ("Who picks up the children tomorrow?", "Tomorrow someone has to fetch the kids.")


@asynccontextmanager
async def embedder_opened(settings: Settings) -> AsyncIterator[Embedder | None]:
    """Yield what turns texts into vectors for the length of the block; None where nothing is to.

    The model inside this process is shared and stays loaded; a server's connection is closed.

    Args:
        settings: In force.

    Raises:
        UnavailableError: It is chosen by name, and not installed.
    """
    embedder = lasting_embedder(settings)
    try:
        yield embedder
    finally:
        await close_embedder(embedder)


def lasting_embedder(settings: Settings) -> Embedder | None:
    """Return what turns texts into vectors, for one event loop that closes it; None where nothing is to.

    Args:
        settings: In force.

    Raises:
        UnavailableError: It is chosen by name, and not installed.
    """
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
        name=str(settings.embedder_model), dialect=dialect,
        timeout=timedelta(seconds=settings.embedder_timeout_seconds),
    )  # fmt: skip
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

    Raises:
        UnavailableError: It is chosen by name, and not installed.
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
    """Return an embedder that computes no text of a household twice, where that is worth a look.

    Args:
        embedder: Computes.
        store: Keeps vectors.
        household: Tenant key.
        clock: Tells when.
    """
    if isinstance(embedder, HashingEmbedder):
        return embedder  # faster than the database
    return CachedEmbedder(embedder, store, household, clock)


def embedder_finding(settings: Settings) -> Finding:
    """Return what a check of the embedder finds; a server is asked for two vectors. Blocks.

    Args:
        settings: In force.
    """
    try:
        return asyncio.run(_tried(settings))
    except UnavailableError as error:
        return warning(_CHECK, str(error), "texts are compared by their words until this is fixed")


async def _tried(settings: Settings) -> Finding:
    async with embedder_opened(settings) as embedder:
        if embedder is None:
            return ok(_CHECK, "none (EMBEDDER=none); texts are compared by their words")
        start = perf_counter()
        vectors = await embedder.embed(_SAMPLE)
        milliseconds = 1000 * (perf_counter() - start)
        found = f"{embedder.model}, loaded in {milliseconds:.0f} ms ({vectors.shape[1]} dimensions)"
        if settings.embedder is EmbedderChoice.AUTO and isinstance(embedder, HashingEmbedder):
            return ok(
                _CHECK, f"{found}; compares spelling, not meaning; to compare meaning, {REMEDY}"
            )
        return ok(_CHECK, found)
