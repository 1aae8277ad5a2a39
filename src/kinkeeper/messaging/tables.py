"""Tables of what came in and what must go out."""

from sqlalchemy import JSON, Column, Index, Integer, String, Table, Text, UniqueConstraint

from kinkeeper.store.schema import Instant, metadata

messages = Table(
    "messages",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("chat_id", String(128), nullable=False),
    Column("message_id", String(128), nullable=False),
    Column("revision", String(160), nullable=False),
    Column("thread_id", String(128), nullable=False),
    Column("sender", String(128), nullable=False),
    Column("is_member", Integer, nullable=False),
    Column("text", Text, nullable=True),
    Column("kind", String(16), nullable=False),
    Column("reply_to", String(128), nullable=True),
    Column("target", String(128), nullable=True),
    Column("sent_at", Instant, nullable=False),
    Column("received_at", Instant, nullable=False),
    UniqueConstraint("household", "channel", "chat_id", "revision"),
    Index("ix_messages_chat_sent", "household", "chat_id", "sent_at"),
    Index("ix_messages_chat_message", "household", "chat_id", "message_id"),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("dedupe_key", String(256), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("chat_id", String(128), nullable=False),
    Column("route", String(16), nullable=False),
    Column("audience", String(64)),
    Column("reply_to", String(128), nullable=True),
    Column("edits", Integer),
    Column("answer_to", String(128)),
    Column("body", Text, nullable=True),
    Column("buttons", JSON, nullable=False),
    Column("conflict_key", String(256), nullable=True),
    Column("action_id", String(64), nullable=True),
    Column("is_unprompted", Integer, nullable=False),
    Column("is_soundless", Integer, nullable=False),
    Column("is_alarm", Integer, nullable=False, default=0),
    Column("deliver_by", Instant),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("unknowns", Integer, nullable=False, default=0),
    Column("not_before", Instant),
    Column("lease_until", Instant),
    # The process that is sending it, where it is one that beats.
    Column("runner", String(64)),
    Column("error", Text),
    Column("channel_message_id", String(128)),
    Column("ephemeral_id", String(128)),
    Column("created_at", Instant, nullable=False),
    Column("sent_at", Instant),
    UniqueConstraint("household", "dedupe_key"),
    Index("ix_outbox_created", "household", "is_unprompted", "created_at"),
    Index("ix_outbox_conflict", "household", "conflict_key", "created_at"),
    Index("ix_outbox_state", "household", "state", "channel", "chat_id"),
    Index("ix_outbox_action", "household", "action_id"),
    Index("ix_outbox_edits", "household", "edits"),
    sqlite_autoincrement=True,
)

# A chat that got another id: what is addressed to the old one goes to the new one.
chat_moves = Table(
    "chat_moves",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("channel", String(32), primary_key=True),
    Column("old_chat_id", String(128), primary_key=True),
    Column("new_chat_id", String(128), nullable=False),
    Column("moved_at", Instant, nullable=False),
)

# Where one member can be reached alone.
private_chats = Table(
    "private_chats",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("channel", String(32), primary_key=True),
    Column("member", String(64), primary_key=True),
    Column("chat_id", String(128), nullable=False),
    Column("since", Instant, nullable=False),
)

# Groups in which the channel lets a message be shown to one member only.
member_only_chats = Table(
    "member_only_chats",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("channel", String(32), primary_key=True),
    Column("chat_id", String(128), primary_key=True),
    Column("since", Instant, nullable=False),
)

failed_updates = Table(
    "failed_updates",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("update_id", String(64), nullable=False),
    Column("content", Text),
    Column("error", Text, nullable=False),
    Column("received_at", Instant, nullable=False),
    UniqueConstraint("household", "channel", "update_id"),
    Index("ix_failed_updates_received", "household", "received_at"),
    sqlite_autoincrement=True,
)
