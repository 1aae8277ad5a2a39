"""Rows of remembered vectors, by household, model and content."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from sqlalchemy import Connection, insert, select

from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.models.embedding.tables import embeddings

# Little-endian wherever the file is read.
_NUMBER = np.dtype("<f4")
_AT_A_TIME = 400


def find_vectors(
    conn: Connection, household: str, model: str, hashes: Sequence[str]
) -> dict[str, Vectors]:
    """Return the vectors that are there, each of shape (dimension,), by the hash of their text.

    Args:
        conn: In a transaction.
        household: Tenant key.
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
        conn: In a write transaction.
        household: Tenant key.
        model: Whose vectors.
        vectors: Each of shape (dimension,), by the hash of its text.
        now: Aware.
    """
    known = find_vectors(conn, household, model, [*vectors])
    rows = [
        {
            "household": household, "model": model, "text_hash": text_hash,
            "dimension": len(vector), "vector": vector.astype(_NUMBER).tobytes(), "made_at": now,
        }
        for text_hash, vector in vectors.items()
        if text_hash not in known
    ]  # fmt: skip
    if rows:
        conn.execute(insert(embeddings), rows)
