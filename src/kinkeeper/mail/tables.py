"""Table of the drafts that are kept here, for households without a mailbox."""

from sqlalchemy import JSON, Column, Index, String, Table

from kinkeeper.store.schema import Instant, metadata

mail_drafts = Table(
    "mail_drafts",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("mail", JSON, nullable=False),
    Column("written_by", String(64), nullable=False),
    Column("written_at", Instant, nullable=False),
    Index("ix_mail_drafts_written", "household", "written_at"),
)
