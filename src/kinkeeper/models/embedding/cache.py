"""Vectors that were paid for already: an embedder that computes no text twice, its rows, their purge."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from sqlalchemy import (
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    delete,
    insert,
    select,
)

from kinkeeper.core.time import Clock
from kinkeeper.models.embedding.embedder import Embedder, Vectors
from kinkeeper.store.schema import Instant, metadata
from kinkeeper.store.store import Store

# Table of vectors that were paid for already.

embeddings = Table(
    "embeddings",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("model", String(160), primary_key=True),
    Column("text_hash", String(64), primary_key=True),
    Column("dimension", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("made_at", Instant, nullable=False),
    Index("ix_embeddings_made", "household", "made_at"),
)


# Rows of remembered vectors, by household, model and content.

# Little-endian wherever the file is read.
_NUMBER = np.dtype("<f4")
_AT_A_TIME = 400


def find_vectors(
    conn: Connection, household: str, model: str, hashes: Sequence[str]
) -> dict[str, Vectors]:
    """Return the vectors that are there, each of shape (dimension,), by the hash of their text.

    Args:
        model: Whose vectors; those of others are never mixed in.
        hashes: SHA-256 of the texts, hex.
    """
    found: dict[str, Vectors] = {}
    for start in range(0, len(hashes), _AT_A_TIME):
        statement = select(embeddings.c.text_hash, embeddings.c.vector).where(
            embeddings.c.household == household,
            embeddings.c.model == model,
            embeddings.c.text_hash.in_(hashes[start : start + _AT_A_TIME]),
        )
        for row in conn.execute(statement):
            found[row.text_hash] = np.frombuffer(row.vector, dtype=_NUMBER).astype(np.float32)
    return found


def insert_vectors(
    conn: Connection, household: str, model: str, vectors: Mapping[str, Vectors], *, now: datetime
) -> None:
    """Remember vectors; those that are there already stay as they are.

    Args:
        vectors: Each of shape (dimension,), by the hash of its text.
    """
    known = find_vectors(conn, household, model, [*vectors])
    rows = [
        {
            "household": household,
            "model": model,
            "text_hash": text_hash,
            "dimension": len(vector),
            "vector": vector.astype(_NUMBER).tobytes(),
            "made_at": now,
        }
        for text_hash, vector in vectors.items()
        if text_hash not in known
    ]
    if rows:
        conn.execute(insert(embeddings), rows)


# What is remembered of vectors, purged; nothing that computes is loaded for it.


def purge_vectors(conn: Connection, household: str, *, before: datetime) -> None:
    """Forget vectors as the texts they were made from are forgotten.

    Args:
        before: Those made earlier go; what is still needed is computed again.
    """
    conn.execute(
        delete(embeddings).where(embeddings.c.household == household, embeddings.c.made_at < before)
    )


class CachedEmbedder:
    """Remembers vectors by content, a household apart from others: that one knows a text stays its own.

    Args:
        embedder: Computes what is not known.
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
        """Return a vector of length 1 for each text; only those not known are computed, each once."""
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
