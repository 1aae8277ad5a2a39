"""Recurrence in local wall time: clock changes, ends, left-out starts, rules that are refused."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.calendar.event_limits import check_event
from kinkeeper.calendar.model import Event, EventKind, EventState, Override, Provenance, SourceType
from kinkeeper.calendar.recurrence import check_rule, expand, original_starts, parse_rule, produces
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Interval

CHICAGO = ZoneInfo("America/Chicago")
BERLIN = ZoneInfo("Europe/Berlin")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


def make_event(start: datetime, rrule: str | None = None, **changes: Any) -> Event:
    zone = start.tzinfo
    assert isinstance(zone, ZoneInfo)
    fields: dict[str, Any] = {
        "id": "e1",
        "household": "h",
        "kind": EventKind.BOOKING,
        "summary": "Practice",
        "start": start,
        "duration": timedelta(hours=1),
        "tz": zone.key,
        "rrule": rrule,
        "provenance": Provenance(source_type=SourceType.CLI, source_id="t"),
    }
    return Event(**fields | changes)


def window(first: datetime, days: int) -> Interval:
    return Interval(first.astimezone(UTC), first.astimezone(UTC) + timedelta(days=days))


def walls(event: Event, span: Interval) -> list[str]:
    zone = ZoneInfo(event.tz)
    return [f"{s.astimezone(zone):%m-%d %H:%M %z}" for s in original_starts(event, span)]


def test_weekly_event_keeps_its_wall_time_over_both_clock_changes():
    event = make_event(datetime(2026, 2, 24, 16, 30, tzinfo=CHICAGO), "FREQ=WEEKLY;BYDAY=TU")
    spring = walls(event, window(datetime(2026, 3, 1, tzinfo=CHICAGO), 14))
    autumn = walls(event, window(datetime(2026, 10, 25, tzinfo=CHICAGO), 14))
    assert spring == ["03-03 16:30 -0600", "03-10 16:30 -0500"]
    assert autumn == ["10-27 16:30 -0500", "11-03 16:30 -0600"]


def test_skipped_wall_time_happens_later_by_the_gap_that_day_only():
    event = make_event(datetime(2026, 3, 7, 2, 30, tzinfo=CHICAGO), "FREQ=DAILY;COUNT=3")
    found = walls(event, window(datetime(2026, 3, 7, tzinfo=CHICAGO), 7))
    assert found == ["03-07 02:30 -0600", "03-08 03:30 -0500", "03-09 02:30 -0500"]


def test_half_hour_gap_is_shifted_by_half_an_hour():
    event = make_event(datetime(2026, 10, 3, 2, 15, tzinfo=LORD_HOWE), "FREQ=DAILY;COUNT=2")
    found = walls(event, window(datetime(2026, 10, 3, tzinfo=LORD_HOWE), 3))
    assert found == ["10-03 02:15 +1030", "10-04 02:45 +1100"]


def test_wall_time_that_comes_twice_happens_the_first_time():
    event = make_event(datetime(2026, 10, 24, 2, 30, tzinfo=BERLIN), "FREQ=DAILY;COUNT=2")
    found = walls(event, window(datetime(2026, 10, 24, tzinfo=BERLIN), 3))
    assert found == ["10-24 02:30 +0200", "10-25 02:30 +0200"]


def test_a_start_in_the_second_of_two_equal_hours_is_kept():
    start = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1)
    event = make_event(start, "FREQ=DAILY;COUNT=2")
    assert walls(event, window(start, 3)) == ["10-25 02:30 +0100", "10-26 02:30 +0100"]


def test_timed_event_lasts_as_long_whatever_the_clock_does():
    start = datetime(2026, 3, 8, 1, 30, tzinfo=CHICAGO)
    (found,) = expand(make_event(start), (), window(start, 1))
    assert found.interval.end - found.interval.start == timedelta(hours=1)


@pytest.mark.parametrize(("day", "hours"), [(8, 23), (9, 24)])
def test_all_day_event_ends_at_midnight_however_long_the_day(day: int, hours: int):
    start = datetime(2026, 3, day, tzinfo=CHICAGO)
    event = make_event(start, all_day=True, duration=timedelta(days=1))
    (found,) = expand(event, (), window(start, 1))
    assert found.interval.duration == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("until", "last"),
    [
        ("20260310", "03-10"),  # a date includes that day
        ("20260310T163000", "03-10"),  # local
        ("20260310T162959", "03-03"),
        ("20260310T213000Z", "03-10"),  # 16:30 with daylight time
        ("20260310T212959Z", "03-03"),
    ],
)
def test_until_is_inclusive_in_every_form(until: str, last: str):
    start = datetime(2026, 3, 3, 16, 30, tzinfo=CHICAGO)
    event = make_event(start, f"FREQ=WEEKLY;UNTIL={until}")
    assert walls(event, window(start, 60))[-1].startswith(last)


def test_left_out_starts_count_towards_count():
    start = datetime(2026, 3, 3, 16, 30, tzinfo=CHICAGO)
    left_out = (datetime(2026, 3, 10, 16, 30, tzinfo=CHICAGO),)
    event = make_event(start, "FREQ=WEEKLY;COUNT=3", exdates=left_out)
    assert [s[:5] for s in walls(event, window(start, 60))] == ["03-03", "03-17"]


def test_week_start_decides_which_weeks_are_every_second():
    start = datetime(2026, 3, 3, 12, tzinfo=UTC).replace(tzinfo=ZoneInfo("UTC"))
    span = window(start, 21)
    monday = make_event(start, "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO;COUNT=3")
    sunday = make_event(start, "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU;COUNT=3")
    assert [s[:5] for s in walls(monday, span)] == ["03-03", "03-08", "03-17"]
    assert [s[:5] for s in walls(sunday, span)] == ["03-03", "03-15", "03-17"]


def test_old_series_and_young_series_give_the_same():
    span = window(datetime(2026, 3, 1, tzinfo=CHICAGO), 60)
    rule = "FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,WE,FR"
    old = make_event(datetime(1996, 3, 4, 9, tzinfo=CHICAGO), rule)
    since = list(original_starts(old, Interval(datetime(1996, 1, 1, tzinfo=UTC), span.end)))
    assert list(original_starts(old, span)) == [s for s in since if s >= span.start]


def test_moved_occurrence_is_found_where_it_is_and_not_where_it_was():
    start = datetime(2026, 3, 3, 16, 30, tzinfo=CHICAGO)
    event = make_event(start, "FREQ=WEEKLY")
    far = start + timedelta(days=200)
    override = Override(event_id="e1", original_start=start, start=far)
    assert expand(event, [override], window(start, 1)) == []
    found = expand(event, [override], window(far, 1))
    assert [each.original_start for each in found] == [start.astimezone(UTC)]
    assert found[0].interval.start == far


def test_override_of_a_start_the_rule_does_not_give_is_left_out():
    start = datetime(2026, 3, 3, 16, 30, tzinfo=CHICAGO)
    event = make_event(start, "FREQ=WEEKLY")
    ghost = start + timedelta(days=1)
    override = Override(event_id="e1", original_start=ghost, start=ghost + timedelta(hours=1))
    assert not produces(event, ghost)
    assert expand(event, [override], window(ghost, 1)) == []


def test_override_replaces_only_what_it_names():
    start = datetime(2026, 3, 3, 16, 30, tzinfo=CHICAGO)
    event = make_event(start, responsible=("ann",), place="gym")
    cancelled = Override(event_id="e1", original_start=start, state=EventState.CANCELLED)
    (found,) = expand(event, [cancelled], window(start, 1))
    assert (found.state, found.responsible, found.place) == (EventState.CANCELLED, ("ann",), "gym")


def test_instant_is_found_by_a_window_that_begins_with_it():
    start = datetime(2026, 3, 3, 16, 30, tzinfo=CHICAGO)
    event = make_event(start, duration=timedelta())
    assert len(expand(event, (), window(start, 1))) == 1
    assert len(expand(event, (), Interval(start, start))) == 1
    assert expand(event, (), Interval(start - timedelta(hours=1), start)) == []


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "WEEKLY",
        "RRULE:FREQ=WEEKLY",
        "FREQ=WEEKLY\nRRULE:FREQ=DAILY",
        "FREQ=HOURLY",
        "FREQ=SECONDLY;INTERVAL=1",
        "FREQ=WEEKLY;FREQ=DAILY",
        "FREQ=WEEKLY;INTERVAL=0",
        "FREQ=WEEKLY;INTERVAL=-1",
        "FREQ=WEEKLY;INTERVAL=1e3",
        "FREQ=WEEKLY;COUNT=99999999999999",
        "FREQ=WEEKLY;COUNT=2;UNTIL=20260630",
        "FREQ=WEEKLY;UNTIL=2026-06-30",
        "FREQ=WEEKLY;UNTIL=20261332",
        "FREQ=WEEKLY;BYDAY=XX",
        "FREQ=WEEKLY;BYEASTER=0",
        "FREQ=MONTHLY;BYDAY=99MO",
        "FREQ=DAILY;BYHOUR=25",
        "FREQ=DAILY;BYHOUR=0,6,12,18;BYMINUTE=0,10,20,30,40,50,55",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31",
    ],
)
def test_rule_that_is_malformed_or_never_happens_is_refused(rule: str):
    with pytest.raises(InputError, match=r"rule|FREQ|INTERVAL|COUNT|UNTIL|BYDAY|day|never"):
        check_rule(rule, datetime.fromisoformat("2026-01-06T16:30"))


@pytest.mark.parametrize(
    "rule", ["freq=weekly;byday=tu", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=DAILY;COUNT=1"]
)
def test_rare_and_lower_case_rules_are_accepted(rule: str):
    check_rule(rule, datetime.fromisoformat("2026-01-06T16:30"))


def test_bare_until_date_is_kept_as_a_date():
    assert parse_rule("FREQ=DAILY;UNTIL=20260630").until == date(2026, 6, 30)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"tz": "Mars/Olympus"}, "time zone"),
        ({"tz": "../../etc/passwd"}, "time zone"),
        ({"duration": timedelta(hours=-1)}, "duration"),
        ({"duration": timedelta(days=9999)}, "duration"),
        ({"duration": timedelta(milliseconds=5)}, "whole seconds"),
        ({"start": datetime.fromisoformat("2026-03-03T16:30")}, "no time zone"),
        ({"start": datetime(2026, 3, 3, 16, 30, 0, 1, tzinfo=CHICAGO)}, "whole seconds"),
        ({"start": datetime(1066, 3, 3, tzinfo=CHICAGO)}, "year"),
        ({"all_day": True}, "whole days"),
        ({"rrule": "FREQ=NEVER"}, "FREQ"),
    ],
)
def test_event_that_cannot_be_stored_is_refused_with_the_field(changes: dict[str, Any], names: str):
    event = replace(make_event(datetime(2026, 3, 3, 16, 30, tzinfo=CHICAGO)), **changes)
    with pytest.raises(InputError, match=names):
        check_event(event)
