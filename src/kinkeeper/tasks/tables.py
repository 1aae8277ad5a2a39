"""Tables of tasks. What people change of a task stands apart from when it is next to be said."""

from sqlalchemy import JSON, Boolean, Column, Index, Integer, String, Table, Text

from kinkeeper.store.schema import Instant, metadata

tasks = Table(
    "tasks",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("scope", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("priority", String(8), nullable=False),
    # Local wall times with their offset, so that what repeats keeps its wall time.
    Column("deadline", String(40)),
    Column("is_all_day", Boolean, nullable=False),
    Column("remind_at", String(40)),
    Column("rrule", Text),
    Column("tz", String(64), nullable=False),
    Column("who", JSON, nullable=False),
    Column("status", String(8), nullable=False),
    Column("done_at", Instant),
    Column("done_by", String(64)),
    Column("asked_by", String(64)),
    Column("channel", String(32), nullable=False),
    Column("thread_id", String(128)),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index("ix_tasks_status", "household", "status"),
)

task_reminders = Table(
    "task_reminders",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("task_id", String(64), primary_key=True),
    Column("next_at", Instant),
    Column("told_at", Instant),
    # How often what is due now could not be said; nothing where it never failed.
    Column("failures", Integer),
    Index("ix_task_reminders_next", "household", "next_at"),
)
