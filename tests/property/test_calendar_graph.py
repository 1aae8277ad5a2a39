"""The stored graph against brute force: conflicts, searching, undoing, and the rolling horizon."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, create_engine, select

from kinkeeper.calendar.event_changes import (
    add_event,
    assign_occurrence,
    cancel_event,
    cancel_occurrence,
    move_occurrence,
    undo_change,
    update_event,
)
from kinkeeper.calendar.model import (
    Event,
    EventKind,
    EventState,
    Occurrence,
    Override,
    Provenance,
    SourceType,
)
from kinkeeper.calendar.occurrences import extend_horizon, load_horizon
from kinkeeper.calendar.recurrence import expand
from kinkeeper.calendar.repository import (
    insert_event,
    list_all_overrides,
    list_events,
    put_override,
)
from kinkeeper.calendar.search import find_conflicts, occurrences_between, overlaps
from kinkeeper.calendar.tables import events, horizons, occurrence_people, occurrences, overrides
from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.schema import metadata

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
ZONE = ZoneInfo("America/Chicago")
PEOPLE = ("ada", "ben", "cleo", "dan")
RULES = (None, None, "FREQ=WEEKLY", "FREQ=DAILY;COUNT=9", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH")
GRAPH = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = create_engine("sqlite://")
    metadata.create_all(engine, [t for t in metadata.sorted_tables if t.name in TABLES])
    yield engine
    engine.dispose()


TABLES = {
    "events",
    "occurrence_overrides",
    "calendar_horizons",
    "occurrences",
    "occurrence_people",
    "event_changes",
}


@st.composite
def event_lists(draw: st.DrawFn, most: int = 6) -> list[Event]:
    return [draw(single_events(f"e{number}")) for number in range(draw(st.integers(1, most)))]


@st.composite
def single_events(draw: st.DrawFn, event_id: str) -> Event:
    all_day = draw(st.sampled_from([False, False, False, True]))
    start = datetime(2026, 3, 1, tzinfo=ZONE) + timedelta(days=draw(st.integers(-10, 10)))
    minutes = draw(st.sampled_from([0, 30, 60, 60, 90, 60 * 30, 60 * 24 * 40]))
    return Event(
        id=event_id,
        household="h",
        kind=draw(st.sampled_from([EventKind.BOOKING, EventKind.BOOKING, *EventKind])),
        summary=draw(st.sampled_from(["a", "b"])),
        activity=draw(st.sampled_from([None, "chess"])),
        start=start if all_day else start.replace(hour=draw(st.integers(8, 12))),
        duration=timedelta(days=draw(st.integers(1, 40)) if all_day else 0, minutes=0)
        if all_day
        else timedelta(minutes=minutes),
        all_day=all_day,
        tz=ZONE.key,
        rrule=draw(st.sampled_from(RULES)),
        who=tuple(draw(st.lists(st.sampled_from(PEOPLE), max_size=2, unique=True))),
        responsible=tuple(draw(st.lists(st.sampled_from(PEOPLE), max_size=2, unique=True))),
        provenance=Provenance(source_type=SourceType.CLI, source_id=event_id),
    )


spans = st.tuples(st.integers(-24 * 60, 24 * 25), st.sampled_from([0, 1, 2, 30, 24 * 7])).map(
    lambda pair: Interval(
        datetime(2026, 3, 1, 14, tzinfo=UTC) + timedelta(hours=pair[0]),
        datetime(2026, 3, 1, 14, tzinfo=UTC) + timedelta(hours=pair[0] + pair[1]),
    )
)


def everything(conn: Connection, span: Interval) -> list[Occurrence]:
    changed = list_all_overrides(conn, "h")
    return [
        occurrence
        for event in list_events(conn, Viewer.whole("h"), include_cancelled=True)
        for occurrence in expand(event, changed.get(event.id, ()), span)
    ]


def keeps_busy(occurrence: Occurrence, person: str) -> bool:
    event = occurrence.event
    if occurrence.state is EventState.CANCELLED or event.all_day:
        return False
    if event.kind is EventKind.CARE:
        return person in occurrence.responsible
    return event.kind is EventKind.BOOKING and person in event.who


def moments_shared(first: Interval, second: Interval, buffer: timedelta) -> bool:
    """Whether a moment belongs to both, an instant being one of its own, or the gap is too small."""
    moment = timedelta(microseconds=1)

    def holds(span: Interval, instant: datetime) -> bool:
        return span.start <= instant < max(span.end, span.start + moment)

    if holds(first, second.start) or holds(second, first.start):
        return True
    return max(first.start, second.start) - min(first.end, second.end) < buffer


def identities(found: list[Occurrence]) -> list[tuple[str, datetime]]:
    return sorted((each.event.id, each.original_start) for each in found)


@GRAPH
@given(
    graph=event_lists(),
    span=spans,
    buffer=st.sampled_from([0, 15, 60]).map(lambda minutes: timedelta(minutes=minutes)),
    person=st.sampled_from(PEOPLE),
    ignored=st.sampled_from([frozenset(), frozenset({"e0"})]),
    has_horizon=st.booleans(),
)
def test_conflicts_equal_brute_force(
    engine: Engine,
    graph: list[Event],
    span: Interval,
    buffer: timedelta,
    person: str,
    ignored: frozenset[str],
    has_horizon: bool,
):
    with engine.connect() as conn:
        if has_horizon:
            extend_horizon(conn, "h", NOW)
        for event in graph:
            insert_event(conn, event)
        found = find_conflicts(
            conn,
            Viewer.whole("h"),
            member=person,
            interval=span,
            buffer=buffer,
            ignore_events=ignored,
        )
        near = span.widened(timedelta(days=80))
        expected = [
            each
            for each in everything(conn, near)
            if keeps_busy(each, person)
            and each.event.id not in ignored
            and moments_shared(each.interval, span, buffer)
        ]
    assert identities(found) == identities(expected)
    assert [each.interval.start for each in found] == sorted(e.interval.start for e in found)


@GRAPH
@given(graph=event_lists(), buffer=st.sampled_from([timedelta(), timedelta(minutes=30)]))
def test_overlap_is_symmetric_and_touching_is_none(graph: list[Event], buffer: timedelta):
    span = Interval(NOW - timedelta(days=10), NOW + timedelta(days=10))
    found = [each for event in graph for each in expand(event, (), span)][:40]
    for first in found:
        after = replace(
            first, interval=Interval(first.interval.end, first.interval.end + timedelta(hours=1))
        )
        if first.interval.duration:
            assert not overlaps(first, after)
        for second in found:
            assert overlaps(first, second, buffer=buffer) == overlaps(second, first, buffer=buffer)


@GRAPH
@given(
    graph=event_lists(),
    span=spans,
    member=st.none() | st.sampled_from(PEOPLE),
    include_cancelled=st.booleans(),
)
def test_searching_the_table_equals_expanding_all(
    engine: Engine, graph: list[Event], span: Interval, member: str | None, include_cancelled: bool
):
    with engine.connect() as conn:
        extend_horizon(conn, "h", NOW)
        for number, event in enumerate(graph):
            insert_event(conn, event)
            start = event.start.astimezone(UTC)
            change = (
                Override(event_id=event.id, original_start=start, state=EventState.CANCELLED),
                Override(event_id=event.id, original_start=start, responsible=("dan",)),
                Override(event_id=event.id, original_start=start, start=NOW),
            )[number % 3]
            put_override(conn, "h", change)
        found = occurrences_between(
            conn, Viewer.whole("h"), span, member=member, include_cancelled=include_cancelled
        )
        expected = [
            each
            for each in everything(conn, span)
            if (include_cancelled or each.state is EventState.CONFIRMED)
            and (member is None or member in (*each.event.who, *each.responsible))
        ]
    assert sorted(found, key=key) == sorted(expected, key=key)


def key(occurrence: Occurrence) -> tuple[str, datetime]:
    return occurrence.event.id, occurrence.original_start


operations = st.lists(
    st.tuples(
        st.sampled_from(["add", "update", "cancel", "move", "drop", "assign"]),
        st.integers(0, 3),
        st.integers(0, 20),
    ),
    min_size=1,
    max_size=8,
)


def snapshot(conn: Connection) -> dict[str, list[Any]]:
    return {
        table.name: sorted(map(repr, conn.execute(select(table)).all()))
        for table in (events, overrides, horizons, occurrences, occurrence_people)
    }


def apply(conn: Connection, step: tuple[str, int, int], spare: Event, change_id: str) -> None:
    """Do one thing to one event; refused changes change nothing."""
    name, which, size = step
    known = list_events(conn, Viewer.whole("h"), include_cancelled=True)
    if name == "add" or not known:
        add_event(conn, replace(spare, id=f"new-{change_id}"), change_id=change_id, at=NOW)
        return
    event = known[which % len(known)]
    if name == "update":
        changed = replace(event, summary=f"v{size}", duration=event.duration + timedelta(days=1))
        update_event(conn, changed, change_id=change_id, at=NOW)
    elif name == "cancel":
        cancel_event(conn, "h", event.id, change_id=change_id, at=NOW)
    else:
        _change_one(conn, name, event, size, change_id)


def _change_one(conn: Connection, name: str, event: Event, size: int, change_id: str) -> None:
    span = Interval(NOW - timedelta(days=30), NOW + timedelta(days=30))
    found = expand(event, (), span)
    start = found[size % len(found)].original_start if found else event.start
    by = {"change_id": change_id, "at": NOW}
    if name == "move":
        moved = start + timedelta(days=size - 10, minutes=30)
        length = timedelta(minutes=size)
        move_occurrence(conn, "h", event.id, start, new_start=moved, new_duration=length, **by)
    elif name == "drop":
        cancel_occurrence(conn, "h", event.id, start, **by)
    else:
        assign_occurrence(conn, "h", event.id, start, responsible=(PEOPLE[size % 4],), **by)


@GRAPH
@given(graph=event_lists(3), steps=operations, spare=single_events("spare"))
def test_changes_undone_in_reverse_restore_every_row(
    engine: Engine, graph: list[Event], steps: list[tuple[str, int, int]], spare: Event
):
    with engine.connect() as conn:
        extend_horizon(conn, "h", NOW)
        for event in graph:
            insert_event(conn, event)
        before: list[tuple[str, dict[str, list[Any]]]] = []
        for number, step in enumerate(steps):
            state = snapshot(conn)
            try:
                apply(conn, step, spare, str(number))
            except (ConflictError, NotFoundError):
                assert snapshot(conn) == state
            else:
                before.append((str(number), state))
        for change_id, state in reversed(before):
            undo_change(conn, "h", change_id, at=NOW)
            assert snapshot(conn) == state


@GRAPH
@given(
    graph=event_lists(3),
    steps=operations,
    spare=single_events("spare"),
    order=st.permutations(range(8)),
)
def test_undoing_in_any_order_refuses_or_keeps_the_table_in_step(
    engine: Engine,
    graph: list[Event],
    steps: list[tuple[str, int, int]],
    spare: Event,
    order: list[int],
):
    with engine.connect() as conn:
        extend_horizon(conn, "h", NOW)
        for event in graph:
            insert_event(conn, event)
        start = snapshot(conn)
        waiting = set()
        for number, step in enumerate(steps):
            try:
                apply(conn, step, spare, str(number))
            except (ConflictError, NotFoundError):
                continue
            waiting.add(number)
        while waiting:
            undone = set()
            for number in (each for each in order if each in waiting):
                state = snapshot(conn)
                try:
                    undo_change(conn, "h", str(number), at=NOW)
                except ConflictError:
                    assert snapshot(conn) == state
                else:
                    undone.add(number)
                check_in_step(conn)
            assert undone
            waiting -= undone
        assert snapshot(conn) == start


def check_in_step(conn: Connection) -> None:
    """The table holds exactly what the events and overrides give within the horizon."""
    horizon = load_horizon(conn, "h")
    assert horizon is not None
    stored = {
        (row.event_id, row.original_start, row.start_at, row.end_at, row.state)
        for row in conn.execute(select(occurrences))
    }
    assert stored == {
        (each.event.id, each.original_start, *_ends(each), each.state.value)
        for each in everything(conn, horizon)
    }


def _ends(occurrence: Occurrence) -> tuple[datetime, datetime]:
    return occurrence.interval.start, occurrence.interval.end


@GRAPH
@given(
    graph=event_lists(),
    waits=st.lists(st.integers(1, 700), min_size=1, max_size=4),
    shift=st.integers(-600, 600),
)
def test_rolling_the_horizon_on_loses_nothing(
    engine: Engine, graph: list[Event], waits: list[int], shift: int
):
    with engine.connect() as conn:
        for event in graph:
            insert_event(conn, event)
            start = event.start.astimezone(UTC)
            moved = start + timedelta(days=shift)
            put_override(conn, "h", Override(event_id=event.id, original_start=start, start=moved))
        now = NOW
        extend_horizon(conn, "h", now)
        check_in_step(conn)
        for days in waits:
            now += timedelta(days=days)
            changed = extend_horizon(conn, "h", now)
            check_in_step(conn)
            horizon = load_horizon(conn, "h")
            assert horizon is not None
            assert horizon.end - now >= timedelta(days=370)
            assert not (changed and extend_horizon(conn, "h", now))
