"""Tables of the observer: decisions, gate results, open questions, quiet, feedback."""

from sqlalchemy import (
    JSON,
    Column,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from kinkeeper.jobs.leases import work_columns
from kinkeeper.store.schema import Instant, metadata

# Of all messages few are understood and fewer held back: the rest are spared these indexes.
_IS_UNDERSTOOD = text("redline_decision IS NOT NULL")
_IS_HELD_BACK = text("speak_at IS NOT NULL")

observer_messages = Table(
    "observer_messages",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(20), primary_key=True),
    Column("chat_id", String(128), nullable=False),
    Column("message_id", String(128), nullable=False),
    Column("thread_id", String(128), nullable=False),
    Column("sender", String(128), nullable=False),
    Column("sent_at", Instant, nullable=False),
    Column("context_window", JSON, nullable=False),
    Column("tripwire_confidence", Float, nullable=False),
    Column("tripwire_patterns", JSON, nullable=False),
    Column("tripwire_evidence", JSON, nullable=False),
    Column("tier1_decision", String(8), nullable=False),
    Column("override", String(16)),
    Column("is_coordination_talk", Integer, nullable=False),
    Column("processed_at", Instant),
    Column("extraction", JSON),
    Column("attribution_source", String(128)),
    Column("brain_queries", JSON),
    Column("brain_context", JSON),
    Column("brain_relevance", Float),
    Column("consulted", JSON),
    Column("unread_parts", Integer),
    # What its clauses say, resolved: what later messages answer.
    Column("told", JSON),
    Column("redline_decision", String(8)),
    Column("redline_trigger_rule", String(32)),
    Column("redline_facts", JSON),
    Column("reason", String(64), nullable=False),
    Column("reply", Text),
    Column("buttons", JSON),
    Column("action_id", String(64)),
    Column("withdrawn_actions", JSON, nullable=False),
    Column("notification_id", Integer),
    Column("speak_at", Instant),
    Column("conflict_key", String(256)),
    Column("created_at", Instant, nullable=False),
    *work_columns(),
    Index("ix_observer_messages_thread", "household", "thread_id", "sent_at"),
    Index("ix_observer_messages_chat", "household", "chat_id", "sent_at"),
    Index("ix_observer_messages_tripwire", "household", "tripwire_confidence", "tier1_decision"),
    Index("ix_observer_messages_state", "state", "household", "chat_id"),
    Index(
        "ix_observer_messages_redline", "household", "redline_decision", "processed_at",
        sqlite_where=_IS_UNDERSTOOD, postgresql_where=_IS_UNDERSTOOD,
    ),
    Index(
        "ix_observer_messages_speak_at", "household", "speak_at",
        sqlite_where=_IS_HELD_BACK, postgresql_where=_IS_HELD_BACK,
    ),
)  # fmt: skip

confidence_log = Table(
    "observer_confidence_log",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("message", String(20), primary_key=True),
    Column("stage", String(16), primary_key=True),
    Column("confidence_type", String(24), nullable=False),
    Column("score", Float),
    Column("threshold", Float, nullable=False),
    Column("passed", Integer, nullable=False),
    Column("decision", String(24), nullable=False),
    Column("logged_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)

open_questions = Table(
    "open_questions",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(20), primary_key=True),
    Column("chat_id", String(128), nullable=False),
    Column("message_id", String(128), nullable=False),
    Column("thread_id", String(128), nullable=False),
    Column("asker", String(128), nullable=False),
    Column("asked_at", Instant, nullable=False),
    Column("until", Instant, nullable=False),
    Column("extraction", JSON, nullable=False),
    Column("action_id", String(64)),
    Column("status", String(16), nullable=False),
    Column("answered_by", String(128)),
    Column("closed_at", Instant),
    # By their end: most questions are never closed, and only those that are not over are looked for.
    Index("ix_open_questions_until", "household", "chat_id", "until"),
    Index("ix_open_questions_message", "household", "chat_id", "message_id"),
)

# A plan of a chat, or an absence, a row each, with all that it was: a version for each message that decided it.
arrangements = Table(
    "arrangements",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("chat_id", String(128), primary_key=True),
    Column("id", String(160), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("action_id", String(64)),
    Column("versions", JSON, nullable=False),
    Column("changed_at", Instant, nullable=False),
    # Later nothing speaks of it any more.
    Column("until", Instant, nullable=False),
    Index("ix_arrangements_until", "household", "chat_id", "until"),
)

quiet_periods = Table(
    "quiet_periods",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("until", Instant, nullable=False),
    Column("by_member", String(64), nullable=False),
    Column("set_at", Instant, nullable=False),
)

# What people said about the observer itself: why a card was wrong, whether a decision was right, and
# that somebody wondered why it spoke.
feedback = Table(
    "feedback",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(36), nullable=False),
    Column("answer", String(24), nullable=False),
    Column("by_member", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    UniqueConstraint("household", "kind", "subject", "by_member"),
    Index("ix_feedback_at", "household", "at"),
    sqlite_autoincrement=True,
)

# A stretch of a chat that a model reads in one call: until it is begun, each new message makes it longer.
talk_stretches = Table(
    "talk_stretches",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("first", String(20), primary_key=True),
    Column("chat_id", String(128), nullable=False),
    Column("last", String(20), nullable=False),
    Column("messages", Integer, nullable=False),
    Column("outcome", String(24)),
    Column("engine", String(128)),
    Column("effects", JSON),
    Column("created_at", Instant, nullable=False),
    *work_columns(),
    Index("ix_talk_stretches_state", "state", "household", "chat_id"),
    Index("ix_talk_stretches_created", "household", "created_at"),
)
