"""The event graph on a real SQLite file: writes, searching, undo, seeds, query plans."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, create_engine, select, text

from kinkeeper.calendar.event_changes import (
    add_event,
    assign_occurrence,
    cancel_event,
    cancel_occurrence,
    move_occurrence,
    undo_change,
    update_event,
)
from kinkeeper.calendar.model import Event, EventKind, EventState, Provenance, SourceType
from kinkeeper.calendar.occurrences import SPANS_DAYS, extend_horizon, near_parameters, near_query
from kinkeeper.calendar.repository import (
    find_event,
    insert_event,
    list_events,
    list_overrides,
    load_event,
    replace_event,
)
from kinkeeper.calendar.search import (
    activity_occurrences,
    care_between,
    find_conflicts,
    occurrences_between,
)
from kinkeeper.calendar.seeds import seed_events, sync_seeds
from kinkeeper.calendar.tables import (
    event_changes,
    events,
    horizons,
    occurrence_people,
    occurrences,
    overrides,
)
from kinkeeper.core.errors import ConflictError, InputError, NotFoundError
from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.model import Household, MaintenanceItem, SeedEvent
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.schema import metadata

ZONE = ZoneInfo("America/Denver")
NOW = datetime(2026, 5, 4, 15, tzinfo=UTC)
TABLES = [horizons, events, overrides, occurrences, occurrence_people, event_changes]


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    engine = create_engine(f"sqlite:///{tmp_path / 'graph.db'}")
    metadata.create_all(engine, TABLES)
    with engine.connect() as conn:
        yield conn
    engine.dispose()


def make_event(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "id": "judo",
        "household": "h",
        "kind": EventKind.BOOKING,
        "summary": "Judo",
        "activity": "judo",
        "who": ("pia",),
        "start": datetime(2026, 5, 5, 17, tzinfo=ZONE),
        "duration": timedelta(hours=1),
        "tz": ZONE.key,
        "rrule": "FREQ=WEEKLY;BYDAY=TU",
        "provenance": Provenance(source_type=SourceType.CLI, source_id="t"),
    }
    return Event(**fields | changes)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 5, day, hour, minute, tzinfo=ZONE)


def on(day: int) -> Interval:
    return local_days(date(2026, 5, day), date(2026, 5, day), ZONE)


def between(first: datetime, last: datetime) -> Interval:
    return Interval(first, last)


def rows(conn: Connection) -> list[str]:
    tables = (events, overrides, occurrences, occurrence_people)
    return [
        repr(row)
        for table in tables
        for row in conn.execute(select(table).order_by(*table.primary_key.columns))
    ]


def test_every_field_survives_the_round_trip(conn: Connection):
    event = make_event(
        kind=EventKind.CARE,
        task="pickup",
        responsible=("ann", "bob"),
        place="hall",
        exdates=(at(12, 17),),
        state=EventState.CANCELLED,
        about="other",
        provenance=Provenance(
            source_type=SourceType.OBSERVER, source_id="m1", confirmed_by="ann", action_id="a1"
        ),
    )
    insert_event(conn, event)
    assert load_event(conn, Viewer.whole("h"), "judo") == event


@pytest.mark.parametrize(
    "start",
    [
        datetime(2026, 11, 1, 1, 30, tzinfo=ZONE, fold=1),
        datetime(2026, 11, 1, 1, 30, tzinfo=ZONE),
        datetime(2026, 3, 8, 2, 30, tzinfo=ZONE),
    ],
)
def test_doubtful_wall_times_are_kept_as_written(conn: Connection, start: datetime):
    insert_event(conn, make_event(start=start, rrule=None))
    stored = load_event(conn, Viewer.whole("h"), "judo").start
    assert (stored.replace(tzinfo=None), stored.fold) == (start.replace(tzinfo=None), start.fold)


def test_inserting_twice_is_harmless_and_other_content_refused(conn: Connection):
    extend_horizon(conn, "h", NOW)
    insert_event(conn, make_event())
    before = rows(conn)
    insert_event(conn, make_event())
    assert rows(conn) == before
    with pytest.raises(ConflictError, match="judo"):
        insert_event(conn, make_event(summary="Karate"))


def test_households_do_not_see_each_other(conn: Connection):
    for household in ("h", "g"):
        extend_horizon(conn, household, NOW)
    insert_event(conn, make_event())
    span = between(at(5, 0), at(6, 0))
    assert find_event(conn, Viewer.whole("g"), "judo") is None
    assert occurrences_between(conn, Viewer.whole("g"), span) == []
    assert find_conflicts(conn, Viewer.whole("g"), member="pia", interval=span) == []


def test_unknown_events_are_refused(conn: Connection):
    with pytest.raises(NotFoundError, match="not in the calendar"):
        load_event(conn, Viewer.whole("h"), "nope")
    with pytest.raises(NotFoundError, match="not in the calendar"):
        replace_event(conn, make_event())
    with pytest.raises(InputError, match="never occurs"):
        insert_event(conn, make_event(rrule="FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31"))


@pytest.mark.parametrize("has_horizon", [True, False])
def test_searching_by_day_member_activity_and_kind(conn: Connection, has_horizon: bool):
    if has_horizon:
        extend_horizon(conn, "h", NOW)
    insert_event(conn, make_event())
    care = make_event(
        id="care",
        kind=EventKind.CARE,
        task="pickup",
        start=at(5, 18),
        duration=timedelta(),
        rrule=None,
        responsible=("ann",),
    )
    insert_event(conn, care)
    span = between(at(4, 0), at(20, 0))
    found = occurrences_between(conn, Viewer.whole("h"), on(5))
    assert [each.event.id for each in found] == ["judo", "care"]
    assert [
        e.event.id for e in occurrences_between(conn, Viewer.whole("h"), on(5), member="ann")
    ] == ["care"]
    assert len(activity_occurrences(conn, Viewer.whole("h"), "judo", span)) == 3
    assert activity_occurrences(conn, Viewer.whole("h"), "judo", span, member="ann") == []
    assert [each.event.id for each in care_between(conn, Viewer.whole("h"), span)] == ["care"]
    assert care_between(conn, Viewer.whole("h"), span, responsible="pia") == []
    assert activity_occurrences(conn, Viewer.whole("h"), "chess", span) == []


def test_nothing_is_missing_beyond_the_horizon(conn: Connection):
    extend_horizon(conn, "h", NOW)
    insert_event(conn, make_event(rrule="FREQ=YEARLY"))
    later = between(datetime(2029, 5, 1, tzinfo=ZONE), datetime(2029, 6, 1, tzinfo=ZONE))
    earlier = between(datetime(2026, 3, 1, tzinfo=ZONE), datetime(2026, 5, 8, tzinfo=ZONE))
    assert len(occurrences_between(conn, Viewer.whole("h"), later, member="pia")) == 1
    assert len(find_conflicts(conn, Viewer.whole("h"), member="pia", interval=later)) == 1
    assert len(occurrences_between(conn, Viewer.whole("h"), earlier)) == 1


def test_care_books_the_adult_and_background_books_nobody(conn: Connection):
    extend_horizon(conn, "h", NOW)
    slot = {"rrule": None, "start": at(6, 15), "who": ("pia",), "responsible": ("ann",)}
    insert_event(conn, make_event(id="care", kind=EventKind.CARE, **slot))
    insert_event(conn, make_event(id="due", kind=EventKind.DEADLINE, **slot))
    insert_event(conn, make_event(id="off", kind=EventKind.BREAK, **slot))
    day = {"start": at(6, 0), "all_day": True, "duration": timedelta(days=1)}
    insert_event(conn, make_event(id="birthday", **slot | day))
    span = between(at(6, 15), at(6, 16))
    assert find_conflicts(conn, Viewer.whole("h"), member="pia", interval=span) == []
    busy = find_conflicts(conn, Viewer.whole("h"), member="ann", interval=span)
    assert [each.event.id for each in busy] == ["care"]
    change = {"change_id": "c", "at": NOW}
    assign_occurrence(conn, "h", "care", at(6, 15), responsible=("bob",), **change)
    assert find_conflicts(conn, Viewer.whole("h"), member="ann", interval=span) == []
    assert len(find_conflicts(conn, Viewer.whole("h"), member="bob", interval=span)) == 1


def test_touching_is_no_conflict_until_a_buffer_is_asked_for(conn: Connection):
    extend_horizon(conn, "h", NOW)
    insert_event(conn, make_event())
    after = between(at(5, 18), at(5, 19))
    assert find_conflicts(conn, Viewer.whole("h"), member="pia", interval=after) == []
    short = timedelta(minutes=15)
    assert (
        len(find_conflicts(conn, Viewer.whole("h"), member="pia", interval=after, buffer=short))
        == 1
    )
    ignored = {"judo"}
    assert not find_conflicts(
        conn, Viewer.whole("h"), member="pia", interval=after, buffer=short, ignore_events=ignored
    )


def test_local_times_around_a_clock_change_are_compared_as_instants(conn: Connection):
    extend_horizon(conn, "h", datetime(2026, 10, 1, tzinfo=UTC))
    second = datetime(2026, 11, 1, 1, 30, tzinfo=ZONE, fold=1)
    call = make_event(start=second, duration=timedelta(), rrule=None)
    insert_event(conn, call)
    first_hour = between(second.replace(fold=0), second.replace(fold=0) + timedelta(minutes=20))
    assert find_conflicts(conn, Viewer.whole("h"), member="pia", interval=first_hour) == []
    same = between(second, second)
    assert len(find_conflicts(conn, Viewer.whole("h"), member="pia", interval=same)) == 1
    after = datetime(2026, 11, 1, 2, 15, tzinfo=ZONE)
    hour = timedelta(hours=1)
    late = between(after, after + hour)
    assert (
        len(find_conflicts(conn, Viewer.whole("h"), member="pia", interval=late, buffer=hour)) == 1
    )


def test_moved_occurrence_frees_its_slot_and_takes_the_new_one(conn: Connection):
    extend_horizon(conn, "h", NOW)
    insert_event(conn, make_event())
    before = rows(conn)
    move_occurrence(
        conn,
        "h",
        "judo",
        at(12, 17),
        new_start=at(14, 9),
        new_duration=timedelta(minutes=30),
        change_id="c1",
        at=NOW,
    )
    assert not find_conflicts(
        conn, Viewer.whole("h"), member="pia", interval=between(at(12, 17), at(12, 18))
    )
    (busy,) = find_conflicts(
        conn, Viewer.whole("h"), member="pia", interval=between(at(14, 9), at(14, 10))
    )
    assert (busy.original_start, busy.interval.end) == (at(12, 17), at(14, 9, 30))
    assert load_event(conn, Viewer.whole("h"), "judo") == make_event()
    undo_change(conn, "h", "c1", at=NOW)
    assert rows(conn) == before


def test_applying_a_change_again_does_nothing_even_after_its_undo(conn: Connection):
    extend_horizon(conn, "h", NOW)
    insert_event(conn, make_event())
    before = rows(conn)
    for _ in range(2):
        assert cancel_occurrence(conn, "h", "judo", at(5, 17), change_id="c", at=NOW) == "c"
    assert len(conn.execute(select(event_changes)).all()) == 1
    for _ in range(2):
        undo_change(conn, "h", "c", at=NOW)
    cancel_occurrence(conn, "h", "judo", at(5, 17), change_id="c", at=NOW)
    assert rows(conn) == before
    with pytest.raises(ConflictError, match="cancel_occurrence"):
        cancel_event(conn, "h", "judo", change_id="c", at=NOW)


def test_undo_is_refused_and_names_what_came_in_between(conn: Connection):
    extend_horizon(conn, "h", NOW)
    add_event(conn, make_event(), change_id="add", at=NOW)
    cancel_occurrence(conn, "h", "judo", at(12, 17), change_id="other", at=NOW)
    assign_occurrence(conn, "h", "judo", at(5, 17), responsible=("ann",), change_id="one", at=NOW)
    assign_occurrence(conn, "h", "judo", at(5, 17), responsible=("bob",), change_id="two", at=NOW)
    with pytest.raises(ConflictError, match=r"assign_occurrence 'two'"):
        undo_change(conn, "h", "one", at=NOW)
    undo_change(conn, "h", "other", at=NOW)  # another occurrence is another matter
    update_event(conn, make_event(summary="Judo club"), change_id="rename", at=NOW)
    with pytest.raises(ConflictError, match="rename"):
        undo_change(conn, "h", "two", at=NOW)
    for change_id in ("rename", "two", "one", "add"):
        undo_change(conn, "h", change_id, at=NOW)
    assert rows(conn) == []


def test_undo_is_refused_where_the_row_was_written_otherwise(conn: Connection):
    add_event(conn, make_event(), change_id="add", at=NOW)
    replace_event(conn, make_event(summary="Judo club", place="hall"))
    with pytest.raises(ConflictError, match="summary, place"):
        undo_change(conn, "h", "add", at=NOW)
    with pytest.raises(NotFoundError, match="nothing"):
        undo_change(conn, "h", "nothing", at=NOW)


def test_what_does_not_take_place_cannot_be_changed(conn: Connection):
    insert_event(conn, make_event())
    with pytest.raises(NotFoundError, match="no occurrence"):
        cancel_occurrence(conn, "h", "judo", at(6, 17), change_id="a", at=NOW)
    cancel_occurrence(conn, "h", "judo", at(5, 17), change_id="b", at=NOW)
    with pytest.raises(ConflictError, match="cancelled"):
        assign_occurrence(conn, "h", "judo", at(5, 17), responsible=("ann",), change_id="c", at=NOW)
    cancel_event(conn, "h", "judo", change_id="d", at=NOW)
    with pytest.raises(ConflictError, match="cancelled"):
        cancel_occurrence(conn, "h", "judo", at(12, 17), change_id="e", at=NOW)
    assert list_events(conn, Viewer.whole("h")) == []


# Seeds


def make_seed(**changes: Any) -> SeedEvent:
    fields: dict[str, Any] = {
        "id": "judo",
        "summary": "Judo",
        "activity": "judo",
        "who": ("pia",),
        "responsible": (),
        "place": None,
        "start": datetime.fromisoformat("2026-05-05T17:00"),
        "duration": timedelta(hours=1),
        "rrule": "FREQ=WEEKLY;BYDAY=TU",
    }
    return SeedEvent(**fields | changes)


def make_household(*seeds: SeedEvent, due: tuple[MaintenanceItem, ...] = ()) -> Household:
    return Household(
        id="h", zone=ZONE, locale="en-US", bot_name="Bot", owner=None, events=seeds, maintenance=due
    )


def seed_id(household: Household, number: int = 0) -> str:
    return list(seed_events(household))[number].id


def test_seeds_become_bookings_breaks_and_deadlines(conn: Connection):
    week = make_seed(
        id="break",
        start=datetime.fromisoformat("2026-06-01T00:00"),
        duration=timedelta(days=7),
        all_day=True,
        rrule=None,
    )
    item = MaintenanceItem(id="boiler", summary="Boiler", due=date(2026, 6, 3))
    report = sync_seeds(conn, make_household(make_seed(), week, due=(item,)), NOW)
    assert report.added == ("events.judo", "events.break", "maintenance.boiler")
    found = occurrences_between(
        conn, Viewer.whole("h"), local_days(date(2026, 6, 3), date(2026, 6, 3), ZONE)
    )
    assert {each.event.kind for each in found} == {EventKind.BREAK, EventKind.DEADLINE}


def test_reload_is_in_step_and_repeats_nothing(conn: Connection):
    sync_seeds(conn, make_household(make_seed()), NOW)
    before = rows(conn)
    again = sync_seeds(conn, make_household(make_seed()), NOW)
    assert rows(conn) == before
    assert (again.added, again.updated, again.cancelled) == ((), (), ())
    moved = make_household(make_seed(start=datetime.fromisoformat("2026-05-05T18:00")))
    assert sync_seeds(conn, moved, NOW).updated == ("events.judo",)
    assert sync_seeds(conn, make_household(), NOW).cancelled == ("events.judo",)
    assert list_events(conn, Viewer.whole("h")) == []
    assert sync_seeds(conn, make_household(make_seed()), NOW).added == ("events.judo",)
    assert rows(conn) == before


def test_reload_keeps_what_a_person_confirmed(conn: Connection):
    household = make_household(make_seed(), make_seed(id="art", activity="art"))
    sync_seeds(conn, household, NOW)
    judo, art = seed_id(household), seed_id(household, 1)
    cancel_occurrence(conn, "h", judo, at(12, 17), change_id="c1", at=NOW)
    mine = replace(load_event(conn, Viewer.whole("h"), art), summary="Art club")
    update_event(conn, mine, change_id="c2", at=NOW)
    changed = make_household(
        make_seed(place="hall"), make_seed(id="art", activity="art", place="hall")
    )
    report = sync_seeds(conn, changed, NOW)
    assert (report.updated, report.kept) == (("events.judo",), ("events.art",))
    assert load_event(conn, Viewer.whole("h"), art).summary == "Art club"
    assert not occurrences_between(conn, Viewer.whole("h"), on(12), member="pia")[1:]
    shifted = make_household(make_seed(start=datetime.fromisoformat("2026-05-05T19:00")))
    report = sync_seeds(conn, shifted, NOW)
    assert (report.dormant, report.kept) == (("events.judo",), ("events.art",))
    assert len(list_overrides(conn, "h", judo)) == 1
    undo_change(conn, "h", "c2", at=NOW)
    assert sync_seeds(conn, shifted, NOW).cancelled == ("events.art",)


def test_left_out_start_of_a_seed_does_not_happen(conn: Connection):
    left_out = datetime.fromisoformat("2026-05-12T17:00")
    sync_seeds(conn, make_household(make_seed(exdates=(left_out,))), NOW)
    assert occurrences_between(conn, Viewer.whole("h"), on(12)) == []


# The index


@pytest.mark.parametrize("by_member", [True, False])
def test_searches_go_by_index_and_time(conn: Connection, by_member: bool):
    span = between(at(5, 17), at(5, 18))
    query = near_query(by_member=by_member).params(near_parameters("h", span, "pia"))
    literal = query.compile(conn, compile_kwargs={"literal_binds": True})
    plan = [row.detail for row in conn.execute(text(f"EXPLAIN QUERY PLAN {literal}"))]
    ranges = [step for step in plan if "start_at>? AND start_at<?" in step]
    assert len(ranges) == len(SPANS_DAYS)
    assert not [step for step in plan if step.startswith("SCAN occurrence")]
