"""What is remembered of vectors, counted and purged; nothing that computes is loaded for it."""

from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from kinkeeper.models.embedding.tables import embeddings


def count_by_model(conn: Connection, household: str) -> dict[tuple[str, int], int]:
    """Return how many vectors are remembered, by model and dimension.

    Args:
        conn: In a transaction.
        household: Tenant key.
    """
    statement = (
        select(embeddings.c.model, embeddings.c.dimension, func.count().label("vectors"))
        .where(embeddings.c.household == household)
        .group_by(embeddings.c.model, embeddings.c.dimension)
    )
    return {(row.model, row.dimension): row.vectors for row in conn.execute(statement)}


def purge_vectors(conn: Connection, household: str, *, before: datetime) -> None:
    """Forget vectors as the texts they were made from are forgotten.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        before: Those made earlier go; what is still needed is computed again.
    """
    conn.execute(
        delete(embeddings).where(embeddings.c.household == household, embeddings.c.made_at < before)
    )
