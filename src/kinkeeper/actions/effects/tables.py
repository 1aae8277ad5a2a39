"""Table of what confirmed actions have still to do outside the database: mails, calls of foreign tools."""

from sqlalchemy import Column, Index, String, Table

from kinkeeper.jobs.leases import work_columns
from kinkeeper.store.schema import Instant, metadata

# What is to be done stands in the action, frozen and hashed; a row only says how far it is. `called_at` is
# written before the step that may have an effect outside: without it, surely nothing happened.
outside_work = Table(
    "outside_work",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("verb", String(8), primary_key=True),
    Column("action_id", String(36), nullable=False),
    Column("decided_by", String(64), nullable=False),
    Column("queued_at", Instant, nullable=False),
    Column("called_at", Instant),
    *work_columns(),
    Index("ix_outside_work_due", "household", "state", "due_at"),
    Index("ix_outside_work_action", "household", "action_id"),
)
