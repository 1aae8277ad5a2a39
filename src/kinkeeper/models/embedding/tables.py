"""Table of vectors that were paid for already."""

from sqlalchemy import Column, Index, Integer, LargeBinary, String, Table

from kinkeeper.store.schema import Instant, metadata

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
