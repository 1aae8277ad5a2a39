"""Table of what opens a household: invites, sessions and API tokens, by digest only."""

from sqlalchemy import Boolean, Column, Index, String, Table, UniqueConstraint, false

from kinkeeper.store.schema import Instant, metadata

access_keys = Table(
    "access_keys",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("member", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("label", String(80), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("seen_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("is_program", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("digest"),
    Index("ix_access_keys_kind", "household", "kind", "ended_at"),
)
