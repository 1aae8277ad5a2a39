"""Tables that serve several packages: the journal of rows that people change."""

from sqlalchemy import JSON, Column, Integer, String, Table, UniqueConstraint

from kinkeeper.store.schema import Instant, metadata

_NULLABLE_JSON = JSON(none_as_null=True)

row_changes = Table(
    "row_changes",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("change_id", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("row_id", String(64), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("before", _NULLABLE_JSON),
    Column("after", _NULLABLE_JSON),
    Column("changed_at", Instant, nullable=False),
    Column("undone_at", Instant),
    UniqueConstraint("household", "kind", "row_id", "revision"),
)
