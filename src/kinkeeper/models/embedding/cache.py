"""An embedder that computes no text twice."""

import hashlib
from collections.abc import Sequence

import numpy as np

from kinkeeper.core.time import Clock
from kinkeeper.models.embedding.embedder import Embedder, Vectors
from kinkeeper.models.embedding.repository import find_vectors, insert_vectors
from kinkeeper.store.store import Store


class CachedEmbedder:
    """Remembers vectors by content, a household apart from others: that one knows a text stays its own.

    Args:
        embedder: Computes what is not known.
        store: Where vectors are kept.
        household: Tenant key.
        clock: Tells when a vector was made.
    """

    def __init__(self, embedder: Embedder, store: Store, household: str, clock: Clock) -> None:
        self._embedder = embedder
        self._store = store
        self._household = household
        self._clock = clock

    @property
    def model(self) -> str:
        """The model that computes."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each text; only those not known are computed, each once.

        Args:
            texts: Any.

        Raises:
            UnavailableError: The model or the database cannot be used.
        """
        if not texts:
            return await self._embedder.embed(texts)
        hashes = [_hash(text) for text in texts]
        wanted = dict(zip(hashes, texts, strict=True))
        known = await self._store.read(
            lambda conn: find_vectors(conn, self._household, self.model, [*wanted])
        )
        if missing := {key: text for key, text in wanted.items() if key not in known}:
            vectors = await self._embedder.embed([*missing.values()])
            made = dict(zip(missing, vectors, strict=True))
            now = self._clock.now()
            await self._store.write(
                lambda conn: insert_vectors(conn, self._household, self.model, made, now=now)
            )
            known |= made
        return np.stack([known[key] for key in hashes])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
