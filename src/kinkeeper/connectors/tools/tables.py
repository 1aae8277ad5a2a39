"""Table of the tools that servers of others offer: as first seen, as accepted, as they are now."""

from sqlalchemy import JSON, Column, String, Table, Text

from kinkeeper.store.schema import Instant, metadata

foreign_tools = Table(
    "foreign_tools",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("server", String(64), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("description", Text, nullable=False),
    Column("schema", JSON, nullable=False),
    Column("definition", String(64), nullable=False),
    Column("accepted", String(64), nullable=False),
    Column("first_seen_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("changed_at", Instant),
)

tool_servers = Table(
    "tool_servers",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("server", String(64), primary_key=True),
    Column("looked_at", Instant, nullable=False),
    Column("failing_since", Instant),
    Column("failure", Text),
)
