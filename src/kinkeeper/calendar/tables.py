"""Tables of the event graph.

Events and overrides are the truth; occurrences and their people are expanded from them over the
household's horizon and may be rebuilt at any time. `event_changes` is the journal for undo.
"""

from sqlalchemy import JSON, Boolean, Column, Index, Integer, String, Table, Text, UniqueConstraint

from kinkeeper.store.schema import Instant, metadata

_NULLABLE_JSON = JSON(none_as_null=True)

events = Table(
    "events",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("scope", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("summary", Text, nullable=False),
    Column("activity", String),
    Column("task", String),
    Column("who", JSON, nullable=False),
    Column("responsible", JSON, nullable=False),
    Column("place", Text),
    # Local wall time with its offset: a series keeps its wall time even if a zone's rules change.
    Column("start_local", String(32), nullable=False),
    Column("duration_s", Integer, nullable=False),
    Column("tz", String, nullable=False),
    Column("is_all_day", Boolean, nullable=False),
    Column("rrule", Text),
    Column("exdates", JSON, nullable=False),
    Column("state", String, nullable=False),
    Column("about", String),
    Column("source_type", String, nullable=False),
    Column("source_id", String, nullable=False),
    Column("confirmed_by", String),
    Column("action_id", String),
    Index(None, "household", "source_type", "source_id"),
    Index(None, "household", "about"),
)

overrides = Table(
    "occurrence_overrides",
    metadata,
    Column("household", String, primary_key=True),
    Column("event_id", String, primary_key=True),
    Column("original_start", Instant, primary_key=True),
    Column("start_at", Instant),
    Column("duration_s", Integer),
    Column("state", String),
    Column("responsible", _NULLABLE_JSON),
    Column("place", Text),
)

horizons = Table(
    "calendar_horizons",
    metadata,
    Column("household", String, primary_key=True),
    Column("covers_from", Instant, nullable=False),
    Column("covers_until", Instant, nullable=False),
)

# `span_days` is the length class of a row (see `occurrences.SPANS_DAYS`): rows of a class are
# never longer, so a range scan by start stays short although some events last for weeks.
occurrences = Table(
    "occurrences",
    metadata,
    Column("household", String, primary_key=True),
    Column("event_id", String, primary_key=True),
    Column("original_start", Instant, primary_key=True),
    Column("span_days", Integer, nullable=False),
    Column("start_at", Instant, nullable=False),
    Column("end_at", Instant, nullable=False),
    Column("state", String, nullable=False),
    Column("responsible", JSON, nullable=False),
    Column("place", Text),
    Index(None, "household", "span_days", "start_at", "end_at"),
)

occurrence_people = Table(
    "occurrence_people",
    metadata,
    Column("household", String, primary_key=True),
    Column("event_id", String, primary_key=True),
    Column("original_start", Instant, primary_key=True),
    Column("person", String, primary_key=True),
    Column("is_booked", Boolean, nullable=False),
    Column("span_days", Integer, nullable=False),
    Column("start_at", Instant, nullable=False),
    Column("end_at", Instant, nullable=False),
    Index(None, "household", "person", "span_days", "start_at", "end_at"),
)

event_changes = Table(
    "event_changes",
    metadata,
    Column("household", String, primary_key=True),
    Column("change_id", String, primary_key=True),
    Column("event_id", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("operation", String, nullable=False),
    Column("original_start", Instant),
    Column("before", _NULLABLE_JSON),
    Column("after", _NULLABLE_JSON),
    Column("changed_at", Instant, nullable=False),
    Column("undone_at", Instant),
    UniqueConstraint("household", "event_id", "revision"),
)
