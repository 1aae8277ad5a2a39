"""Tables of calls to language models: what they took, what was used of a day's budget, who did without."""

from sqlalchemy import JSON, BigInteger, Column, Float, Index, Integer, String, Table, Text

from kinkeeper.store.schema import Instant, metadata

model_calls = Table(
    "model_calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("role", String(16), nullable=False),
    Column("prompt_id", String(128), nullable=False),
    Column("prompt_version", Integer, nullable=False),
    Column("prompt_hash", String(64), nullable=False),
    Column("model", String(256), nullable=False),
    Column("outcome", String(24), nullable=False),
    Column("milliseconds", Float, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("is_estimated", Integer, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
    # Only with a setting, and only as long as messages are kept.
    Column("sent", JSON),
    Column("answered", Text),
    Index("ix_model_calls_at", "household", "at"),
    sqlite_autoincrement=True,
)

model_fallbacks = Table(
    "model_fallbacks",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("household", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("stage", String(64), nullable=False),
    Column("outcome", String(24), nullable=False),
    Index("ix_model_fallbacks_at", "household", "at"),
    sqlite_autoincrement=True,
)

model_budgets = Table(
    "model_budgets",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
)
