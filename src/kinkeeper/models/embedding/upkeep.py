"""What is remembered of vectors, purged; nothing that computes is loaded for it."""

from datetime import datetime

from sqlalchemy import Connection, delete

from kinkeeper.models.embedding.tables import embeddings


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
