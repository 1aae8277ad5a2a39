"""Tables of what came in and what must go out."""

from sqlalchemy import Column, Index, Integer, String, Table, Text, UniqueConstraint

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
    Index("ix_messages_thread_sent", "household", "thread_id", "sent_at"),
    Index("ix_messages_chat_message", "household", "chat_id", "message_id"),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("dedupe_key", String(256), nullable=False),
    Column("channel", String(32), nullable=False),
    Column("chat_id", String(128), nullable=False),
    Column("reply_to", String(128), nullable=True),
    Column("body", Text, nullable=True),
    Column("buttons", Text, nullable=False),
    Column("conflict_key", String(256), nullable=True),
    Column("action_id", String(64), nullable=True),
    Column("is_unprompted", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("household", "dedupe_key"),
    Index("ix_outbox_created", "household", "is_unprompted", "created_at"),
    Index("ix_outbox_conflict", "household", "conflict_key", "created_at"),
    sqlite_autoincrement=True,
)
