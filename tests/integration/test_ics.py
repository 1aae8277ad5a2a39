"""Calendar files: what is written is read back, foreign files are taken as far as they make sense."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
import pytest
import recurring_ical_events

from kinkeeper.calendar.ics import IcsImport, export_ics, import_ics
from kinkeeper.calendar.model import Event, EventKind, EventState, Override, Provenance, SourceType
from kinkeeper.calendar.recurrence import expand
from kinkeeper.core.time import Interval

ZONE = ZoneInfo("Europe/Berlin")


def calendar_file(*components: str) -> bytes:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Test//EN"]
    for component in components:
        lines += ["BEGIN:VEVENT", *component.strip().split("\n"), "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def read(*components: str) -> IcsImport:
    return import_ics(calendar_file(*components), "h", ZONE)


def make_event(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "id": "choir",
        "household": "h",
        "kind": EventKind.BOOKING,
        "summary": "Choir, upstairs; bring \\ notes",
        "activity": "choir",
        "who": ("noa", "eli"),
        "responsible": ("kim",),
        "place": "St. Paul's, hall 2",
        "start": datetime(2026, 3, 26, 18, tzinfo=ZONE),
        "duration": timedelta(minutes=90),
        "tz": ZONE.key,
        "rrule": "FREQ=WEEKLY;COUNT=6",
        "exdates": (datetime(2026, 4, 2, 18, tzinfo=ZONE),),
        "provenance": Provenance(source_type=SourceType.CLI, source_id="t"),
    }
    return Event(**fields | changes)


def test_own_file_is_read_back_with_its_ids_but_not_its_provenance():
    event = make_event(kind=EventKind.CARE, task="pickup", about="other")
    found = import_ics(export_ics([event], {}, name="Family", places={}), "h", ZONE)
    provenance = Provenance(source_type=SourceType.ICS, source_id="choir@kinkeeper")
    assert found == IcsImport(
        events=(replace(event, provenance=provenance),), overrides=(), problems=()
    )


def test_changed_occurrences_are_written_and_read_back():
    event = make_event()
    starts = [event.start.astimezone(UTC) + timedelta(weeks=2, hours=-1)] * 3
    starts = [start + timedelta(weeks=n) for n, start in enumerate(starts)]
    overrides = (
        Override(event_id="choir", original_start=starts[0], state=EventState.CANCELLED),
        Override(
            event_id="choir",
            original_start=starts[1],
            start=starts[1] + timedelta(days=1),
            duration=timedelta(minutes=30),
        ),
        Override(event_id="choir", original_start=starts[2], responsible=("ola",), place="home"),
    )
    written = export_ics([event], {"choir": overrides}, name="Family", places={})
    found = import_ics(written, "h", ZONE)
    assert found.problems == ()
    assert found.overrides == overrides


def test_other_programs_see_the_same_occurrences():
    event = make_event()
    start = datetime(2026, 4, 9, 18, tzinfo=ZONE)
    overrides = (Override(event_id="choir", original_start=start, start=start + timedelta(days=1)),)
    written = icalendar.Calendar.from_ical(
        export_ics([event], {"choir": overrides}, name="x", places={})
    )
    window = Interval(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))
    there = recurring_ical_events.of(written).between(window.start, window.end)
    ours = [each.interval for each in expand(event, overrides, window)]
    assert [(e["DTSTART"].dt, e["DTEND"].dt) for e in there] == [(i.start, i.end) for i in ours]
    assert written.validate() is None
    assert [str(zone["TZID"]) for zone in written.timezones] == ["Europe/Berlin"]


def test_equal_calendars_give_equal_bytes():
    assert export_ics([make_event()], {}, name="x", places={}) == export_ics(
        [make_event()], {}, name="x", places={}
    )


def test_a_changed_single_event_is_written_as_it_is_now():
    event = make_event(rrule=None, exdates=())
    moved = event.start + timedelta(hours=1)
    change = Override(event_id="choir", original_start=event.start, start=moved)
    (found,) = import_ics(
        export_ics([event], {"choir": [change]}, name="x", places={}), "h", ZONE
    ).events
    assert found.start == moved


@pytest.mark.parametrize(
    ("written", "start", "tz"),
    [
        ("DTSTART:20260401T090000Z", "2026-04-01T09:00+00:00", "UTC"),
        ("DTSTART:20260401T090000", "2026-04-01T09:00+02:00", "Europe/Berlin"),
        ("DTSTART;TZID=Asia/Tokyo:20260401T090000", "2026-04-01T09:00+09:00", "Asia/Tokyo"),
        (
            "DTSTART;TZID=Eastern Standard Time:20260401T090000",
            "2026-04-01T09:00-04:00",
            "America/New_York",
        ),
        (
            "DTSTART;TZID=/example.org/America/New_York:20260401T090000",
            "2026-04-01T09:00-04:00",
            "America/New_York",
        ),
        ("DTSTART;VALUE=DATE:20260401", "2026-04-01T00:00+02:00", "Europe/Berlin"),
    ],
)
def test_times_in_every_form(written: str, start: str, tz: str):
    found = read(f"UID:1\nSUMMARY:x\n{written}")
    assert found.problems == ()
    (event,) = found.events
    assert (event.start, event.tz) == (datetime.fromisoformat(start), tz)


@pytest.mark.parametrize(
    ("written", "duration", "kind"),
    [
        ("DTSTART:20260401T090000Z", timedelta(), EventKind.BOOKING),
        ("DTSTART:20260401T090000Z\nDURATION:PT45M", timedelta(minutes=45), EventKind.BOOKING),
        (
            "DTSTART:20260401T090000Z\nDTEND;TZID=Europe/Berlin:20260401T120000",
            timedelta(hours=1),
            EventKind.BOOKING,
        ),
        ("DTSTART;VALUE=DATE:20260401", timedelta(days=1), EventKind.BOOKING),
        (
            "DTSTART;VALUE=DATE:20260401\nDTEND;VALUE=DATE:20260401",
            timedelta(days=1),
            EventKind.BOOKING,
        ),
        (
            "DTSTART;VALUE=DATE:20260327\nDTEND;VALUE=DATE:20260403",
            timedelta(days=7),
            EventKind.BREAK,
        ),
    ],
)
def test_length_and_kind(written: str, duration: timedelta, kind: EventKind):
    (event,) = read(f"UID:1\nSUMMARY:x\n{written}").events
    assert (event.duration, event.kind) == (duration, kind)


def test_ids_are_the_same_at_every_import():
    component = "UID:a@school\nSUMMARY:x\nDTSTART:20260401T090000Z"
    assert (
        read(component).events[0].id
        == read("UID:z\nDTSTART:20260401T090000Z", component).events[1].id
    )


def test_occurrence_without_its_series_is_an_event_of_its_own():
    found = read("UID:1\nSUMMARY:x\nDTSTART:20260401T100000Z\nRECURRENCE-ID:20260401T090000Z")
    assert [event.rrule for event in found.events] == [None]
    assert found.overrides == ()


def test_change_may_stand_before_its_series():
    found = read(
        "UID:1\nSUMMARY:x\nDTSTART:20260401T100000Z\nRECURRENCE-ID:20260401T090000Z",
        "UID:1\nSUMMARY:x\nDTSTART:20260401T090000Z\nRRULE:FREQ=DAILY",
    )
    assert [override.start for override in found.overrides] == [
        datetime(2026, 4, 1, 10, tzinfo=UTC)
    ]


@pytest.mark.parametrize(
    ("component", "says"),
    [
        ("UID:1\nSUMMARY:no start", "DTSTART"),
        ("UID:1\nDTSTART:tomorrow", "DTSTART"),
        ("UID:1\nDTSTART;VALUE=TEXT:abc", "DTSTART"),
        ("UID:1\nDTSTART:20260401T090000Z\nDTSTART:20260402T090000Z", "DTSTART"),
        ("UID:1\nDTSTART:20260401T090000Z\nDTEND:20260401T080000Z", "DTEND"),
        ("UID:1\nDTSTART:20260401T090000Z\nDTEND;VALUE=DATE:20260402", "DTEND"),
        ("UID:1\nDTSTART:00010101T000000Z", "year"),
        ("UID:1\nDTSTART:20260401T090000Z\nRRULE:FREQ=SECONDLY", "FREQ"),
        ("UID:1\nDTSTART:20260401T090000Z\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31", "never"),
        ("UID:1\nDTSTART:20260401T090000Z\nRRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", "RRULE"),
        ("UID:1\nDTSTART:20260401T090000Z\nRRULE:nonsense", "RRULE"),
        (
            "UID:1\nDTSTART:20260401T090000Z\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260401T090000Z",
            "RANGE",
        ),
    ],
)
def test_event_that_makes_no_sense_is_left_out_with_its_line(component: str, says: str):
    found = read("UID:ok\nDTSTART:20260401T090000Z", component)
    assert len(found.events) == 1
    (problem,) = found.problems
    assert says in problem.message
    assert problem.line == 8


@pytest.mark.parametrize(
    ("component", "says"),
    [
        ("UID:1\nDTSTART:20260401T090000Z\nno colon here", "a line is broken"),
        ("UID:1\nDTSTART;TZID=Mars/Base:20260401T090000", "Mars/Base"),
        ("UID:1\nDTSTART:20260401T090000Z\nRDATE:20260501T090000Z", "RDATE"),
    ],
)
def test_event_is_kept_where_only_a_part_makes_no_sense(component: str, says: str):
    found = read(component)
    assert len(found.events) == 1
    (problem,) = found.problems
    assert says in problem.message
    assert problem.line == 4


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "BEGIN:VCALENDAR"),
        (b"<html>", "BEGIN:VCALENDAR"),
        (b"\x00\xff\xfe", "UTF-8"),
        (calendar_file("UID:1\nDTSTART:20260401T090000Z")[:-35], "END:VEVENT"),
        (b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\n" * 20_000, "END:VEVENT"),
        (b" " * 10_000_001, "larger"),
    ],
)
def test_broken_files_are_problems(data: bytes, says: str):
    found = import_ics(data, "h", ZONE)
    assert found.events == ()
    assert any(says in problem.message for problem in found.problems)
    assert len(found.problems) <= 201


def test_a_file_cannot_say_who_confirmed_or_that_it_is_a_seed():
    found = read(
        "UID:judo@kinkeeper\nDTSTART:20260401T090000Z\nX-KINKEEPER-SOURCE:SEED\n"
        "X-KINKEEPER-CONFIRMED-BY:kim\nX-KINKEEPER-KIND:emperor"
    )
    (event,) = found.events
    assert event.provenance == Provenance(source_type=SourceType.ICS, source_id="judo@kinkeeper")
    assert event.kind is EventKind.BOOKING


def test_a_place_is_written_by_its_name_and_read_as_the_same_place() -> None:
    places = {"p7": "Westside Park", "p8": "Old Hall"}
    event = replace(make_event(), place="p7")
    change = Override(event_id=event.id, original_start=event.start, place="p8")
    written = export_ics([event], {event.id: [change]}, name="x", places=places)
    assert b"LOCATION:Westside Park" in written
    assert b"p7" not in written
    found = import_ics(written, "h", ZONE, places=places)
    assert [each.place for each in (*found.events, *found.overrides)] == ["p7", "p8"]
    elsewhere = import_ics(written, "h", ZONE)
    assert [each.place for each in elsewhere.events] == ["Westside Park"]
