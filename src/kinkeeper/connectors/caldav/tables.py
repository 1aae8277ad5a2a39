"""Tables of the calendar server: how far it is known, and how each of its objects stands to ours."""

from sqlalchemy import Column, Index, Integer, String, Table, Text

from kinkeeper.store.schema import Instant, metadata

calendars = Table(
    "caldav_calendars",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("url", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("sync_token", Text),
    Column("ctag", Text),
    Column("synced_at", Instant),
    Column("failing_since", Instant),
    Column("failure", Text),
    Column("waiting", Integer, nullable=False),
    Column("claimed_until", Instant),
)

# `etag` is of the latest version known on the server, none where the object is gone; `handled` of the
# version that was dealt with, "" before any was. `agreed`, `offered` and `trying` are digests of what both
# sides have words for: last equal on both, asked about, being written. `pushed` is one of all of ours.
objects = Table(
    "caldav_objects",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("local_id", String(128)),
    Column("state", String(16), nullable=False),
    Column("etag", Text),
    Column("handled", Text),
    Column("agreed", String(64), nullable=False),
    Column("offered", String(64), nullable=False),
    Column("trying", String(64), nullable=False),
    Column("pushed", String(64), nullable=False),
    Column("action_id", String(36)),
    Column("note", Text),
    Index("ix_caldav_objects_local", "household", "local_id"),
)
