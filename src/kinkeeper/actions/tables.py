"""Tables of the pending actions: sources, journal, buttons, and the presses that were refused."""

from sqlalchemy import JSON, Column, Float, Index, Integer, String, Table, Text

from kinkeeper.store.schema import Instant, metadata

_NULLABLE_JSON = JSON(none_as_null=True)

pending_actions = Table(
    "pending_actions",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("scope", String, nullable=False),
    Column("type", String(32), nullable=False),
    Column("origin", String(16), nullable=False),
    Column("source_type", String(32), nullable=False),
    Column("source_id", String(256), nullable=False),
    Column("slot", String(64), nullable=False),
    Column("chat_id", String(128)),
    # What is looked for among open actions, before the long columns: the first and last day that the
    # payload names (none: any day), and the activity.
    Column("first_day", String(10)),
    Column("last_day", String(10)),
    Column("subject", String(128)),
    Column("extraction", JSON, nullable=False),
    Column("extraction_confidence", Float, nullable=False),
    Column("summary", Text, nullable=False),
    Column("suggested_event", _NULLABLE_JSON),
    Column("stakes", String(8), nullable=False),
    Column("request", JSON, nullable=False),
    Column("effects", JSON, nullable=False),
    Column("choices", JSON, nullable=False),
    Column("merge_key", Text),
    Column("conflict_key", String(256)),
    Column("payload_hash", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("decided_at", Instant),
    Column("decided_by", String(64)),
    Column("choice", Text),
    Column("receipt", _NULLABLE_JSON),
    Column("undone_at", Instant),
    Column("undone_by", String(64)),
    Index(
        "ix_pending_actions_status",
        "household",
        "status",
        "expires_at",
        "first_day",
        "last_day",
        "subject",
    ),
    Index("ix_pending_actions_source", "household", "source_type", "source_id"),
    Index("ix_pending_actions_merge", "household", "merge_key", "created_at"),
)

# Every source that asked for an action: its own, and those merged into it. One action a source
# and slot.
action_sources = Table(
    "action_sources",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("source_type", String(32), primary_key=True),
    Column("source_id", String(256), primary_key=True),
    Column("slot", String(64), primary_key=True),
    Column("action_id", String(36), nullable=False),
    Column("added_at", Instant, nullable=False),
    Index("ix_action_sources_action", "household", "action_id"),
)

action_transitions = Table(
    "action_transitions",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("action_id", String(36), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("from_status", String(16)),
    Column("to_status", String(16), nullable=False),
    Column("cause", String(16), nullable=False),
    Column("at", Instant, nullable=False),
    Column("by_member", String(64)),
    Column("detail", Text),
    Index("ix_action_transitions_at", "household", "at"),
)

action_refusals = Table(
    "action_refusals",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("action_id", String(36), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("reason", String(16), nullable=False),
    Column("at", Instant, nullable=False),
    Column("by_member", String(64)),
    Index("ix_action_refusals_at", "household", "at"),
)

# What a button gives back when it is pressed is known to its channel only; here is its hash, and all
# that a press must agree with.
press_tokens = Table(
    "press_tokens",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("action_id", String(36), nullable=False),
    Column("payload_hash", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("verb", String(16), nullable=False),
    Column("choice", Text),
    Column("channel", String(32), nullable=False),
    Column("chat_id", String(128), nullable=False),
    Column("outbox_id", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("message_key", String(128)),
    Column("member", String(64)),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("used_at", Instant),
    Column("used_by", String(64)),
    Column("answer", Text),
    Index("ix_press_tokens_outbox", "household", "outbox_id", "attempt"),
    Index("ix_press_tokens_expires", "household", "expires_at"),
)

press_refusals = Table(
    "press_refusals",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("reason", String(16), nullable=False),
    Column("action_id", String(36)),
    Column("by_member", String(64)),
    Column("at", Instant, nullable=False),
    Index("ix_press_refusals_at", "household", "at"),
    sqlite_autoincrement=True,
)
