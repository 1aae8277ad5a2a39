"""Tables of what a talk is about. Everything in them expires: nothing here is memory."""

from sqlalchemy import JSON, Column, Float, Index, Integer, LargeBinary, String, Table, Text

from kinkeeper.jobs.leases import work_columns
from kinkeeper.store.schema import Instant, metadata

# What a thread talks about: the middle of what was said of it, and how it has gone on.
conversation_topics = Table(
    "conversation_topics",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("label", Text, nullable=False),
    # Stems with how often they were said; with an embedder also the middle of the vectors, and whose they are.
    Column("words", JSON, nullable=False),
    Column("vector", LargeBinary),
    Column("model", String(128)),
    Column("exchanges", Integer, nullable=False),
    # Exchanges in a row on this topic, none two hours after the one before.
    Column("streak", Integer, nullable=False),
    # When memory brought something it is sure of.
    Column("recalls", JSON, nullable=False),
    Column("is_focus", Integer, nullable=False),
    Column("last_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index(None, "household", "thread", "last_at"),
    Index("ix_conversation_topics_expiry", "household", "expires_at"),
)

conversation_gists = Table(
    "conversation_gists",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("topic", String(36), nullable=False),
    Column("text", Text, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index(None, "household", "topic", "made_at"),
    Index("ix_conversation_gists_expiry", "household", "expires_at"),
)

volatile_facts = Table(
    "volatile_facts",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("topic", String(36), primary_key=True),
    Column("about", String(128), primary_key=True),
    Column("value", Text, nullable=False),
    # In which it was said: what of it holds no more is looked up there.
    Column("turn", String(36), nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_volatile_facts_expiry", "household", "expires_at"),
)

# What people want to be called.
conversation_names = Table(
    "conversation_names",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("said_at", Instant, nullable=False),
)

# What is still to be made of an exchange, a row a stage; the words stay in the turn.
conversation_encodings = Table(
    "conversation_encodings",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("stage", String(16), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("member", String(64), nullable=False),
    Column("topic", String(36), nullable=False),
    Column("said_at", Instant, nullable=False),
    # Whether it came to anything: an episode, statements, a gist.
    Column("had_effect", Integer),
    Column("salience", Float),
    *work_columns(),
    Index("ix_conversation_encodings_line", "household", "stage", "thread", "said_at"),
    Index("ix_conversation_encodings_state", "state", "household", "due_at"),
)
