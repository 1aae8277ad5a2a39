"""The event graph gives the same answers on every database."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, create_engine, make_url, select

from kinkeeper.calendar.event_changes import (
    add_event,
    assign_occurrence,
    cancel_occurrence,
    move_occurrence,
    undo_change,
)
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.calendar.repository import load_event
from kinkeeper.calendar.search import (
    activity_occurrences,
    care_between,
    find_conflicts,
    occurrences_between,
)
from kinkeeper.calendar.tables import (
    event_changes,
    events,
    horizons,
    occurrence_people,
    occurrences,
    overrides,
)
from kinkeeper.core.errors import ConflictError
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.schema import metadata

ZONE = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 9, 1, 9, tzinfo=UTC)
START = datetime(2026, 9, 3, 17, tzinfo=ZONE)
TABLES = [horizons, events, overrides, occurrences, occurrence_people, event_changes]


@pytest.fixture
def conn(address: str) -> Iterator[Connection]:
    url = make_url(address if "://" in address else f"sqlite:///{address}")
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    metadata.create_all(engine, TABLES)
    with engine.begin() as conn:
        yield conn
    engine.dispose()


def make_event(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "id": "surf",
        "household": "h",
        "kind": EventKind.BOOKING,
        "summary": "Surf",
        "activity": "surf",
        "who": ("rui",),
        "start": START,
        "duration": timedelta(hours=1),
        "tz": ZONE.key,
        "rrule": "FREQ=WEEKLY",
        "exdates": (START + timedelta(weeks=3),),
        "provenance": Provenance(source_type=SourceType.CLI, source_id="t"),
    }
    return Event(**fields | changes)


def rows(conn: Connection) -> list[str]:
    tables = (events, overrides, occurrences, occurrence_people)
    return sorted(repr(row) for table in tables for row in conn.execute(select(table)))


def test_a_week_of_changes_and_their_undoing(conn: Connection):
    extend_horizon(conn, "h", NOW)
    add_event(conn, make_event(), change_id="add", at=NOW)
    ride = make_event(id="ride", kind=EventKind.CARE, rrule=None, exdates=(), responsible=("ana",))
    add_event(conn, ride, change_id="ride", at=NOW)
    before = rows(conn)
    span = Interval(START, START + timedelta(days=30))
    by = {"at": NOW}
    assert load_event(conn, Viewer.whole("h"), "surf") == make_event()
    assert len(activity_occurrences(conn, Viewer.whole("h"), "surf", span, member="rui")) == 4
    assert [
        each.event.id for each in care_between(conn, Viewer.whole("h"), span, responsible="ana")
    ] == ["ride"]
    second = START + timedelta(weeks=1)
    moved = second + timedelta(days=1)
    move_occurrence(
        conn, "h", "surf", second, new_start=moved, new_duration=None, change_id="m", **by
    )
    cancel_occurrence(conn, "h", "surf", START, change_id="c", **by)
    assign_occurrence(conn, "h", "ride", START, responsible=("rui",), change_id="a", **by)
    hour = Interval(moved, moved + timedelta(hours=1))
    assert len(find_conflicts(conn, Viewer.whole("h"), member="rui", interval=hour)) == 1
    upcoming = activity_occurrences(conn, Viewer.whole("h"), "surf", span)
    assert upcoming[0].interval.start == moved
    assert len(occurrences_between(conn, Viewer.whole("h"), span, include_cancelled=True)) == 5
    with pytest.raises(ConflictError, match="cancel_occurrence 'c'"):
        undo_change(conn, "h", "add", at=NOW)
    for change_id in ("a", "c", "m"):
        undo_change(conn, "h", change_id, at=NOW)
    assert rows(conn) == before


def test_horizon_moves_on(conn: Connection):
    add_event(conn, make_event(), change_id="add", at=NOW)
    extend_horizon(conn, "h", NOW)
    first = len(conn.execute(select(occurrences)).all())
    assert extend_horizon(conn, "h", NOW + timedelta(days=60))
    starts = conn.execute(select(occurrences.c.start_at)).scalars().all()
    assert max(starts) - NOW > timedelta(days=440)
    assert first - 2 <= len(starts) <= first + 9
