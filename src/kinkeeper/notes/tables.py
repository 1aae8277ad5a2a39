"""Table of notes."""

from sqlalchemy import Column, Index, String, Table, Text

from kinkeeper.store.schema import Instant, metadata

notes = Table(
    "notes",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("scope", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("made_by", String(64)),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index("ix_notes_changed", "household", "changed_at"),
)
