"""Tables of the digest: the time each person wants it at, and a row for each person and day it was due."""

from sqlalchemy import JSON, Column, Integer, String, Table

from kinkeeper.store.schema import Instant, metadata

digest_times = Table(
    "digest_times",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    # Local time as HH:MM; none: this person wants no digest.
    Column("at", String(5)),
    Column("set_at", Instant, nullable=False),
)

digests = Table(
    "digests",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    # The local day it was due on.
    Column("day", String(10), primary_key=True),
    Column("sent_at", Instant, nullable=False),
    # How many lines it had; 0: there was nothing to tell, and nothing was sent.
    Column("lines", Integer, nullable=False),
    Column("actions", JSON, nullable=False),
)
