"""Which processes work on a database server."""

from sqlalchemy import Column, String, Table

from kinkeeper.store.schema import Instant, metadata

runners = Table(
    "runners",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("version", String(32), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("beat_at", Instant, nullable=False),
)
