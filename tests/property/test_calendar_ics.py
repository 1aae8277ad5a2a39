"""Calendar files: whatever the graph holds comes back; whatever the bytes are, nothing fails."""

import string
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinkeeper.calendar.ics import export_ics, import_ics
from kinkeeper.calendar.model import Event, EventKind, EventState, Override, Provenance, SourceType
from kinkeeper.calendar.recurrence import expand, original_starts
from kinkeeper.core.time import Interval

ZONES = ("America/Chicago", "Australia/Adelaide", "Asia/Kathmandu", "Europe/London", "UTC")
HOME = ZoneInfo("Europe/Paris")
RULES = (
    None,
    "FREQ=WEEKLY",
    "FREQ=WEEKLY;UNTIL=20270101T000000Z;INTERVAL=2;BYDAY=MO,TH;WKST=SU",
    "FREQ=DAILY;COUNT=12",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=YEARLY;BYMONTHDAY=1,15;BYMONTH=3",
)
slugs = st.text(string.ascii_lowercase + string.digits + "-_", min_size=1, max_size=8)
members = st.lists(slugs, max_size=3, unique=True).map(tuple)
lines = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=30
).filter(lambda text: text == text.strip())


@st.composite
def events(draw: st.DrawFn) -> Event:
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    all_day = draw(st.booleans())
    zone = HOME if all_day else zone
    day = draw(st.dates(date(2025, 1, 1), date(2026, 12, 31)))
    hour = 0 if all_day else draw(st.integers(4, 23))
    minutes = draw(st.integers(0, 3000))
    return Event(
        id=draw(slugs),
        household="h",
        kind=draw(st.sampled_from(EventKind)),
        summary=draw(lines),
        activity=draw(st.none() | lines),
        task=draw(st.none() | slugs),
        who=draw(members),
        responsible=draw(members),
        place=draw(st.none() | lines),
        start=datetime(day.year, day.month, day.day, hour, tzinfo=zone),
        duration=timedelta(days=1 + minutes // 300) if all_day else timedelta(minutes=minutes),
        all_day=all_day,
        tz=zone.key,
        rrule=draw(st.sampled_from(RULES)),
        state=draw(st.sampled_from(EventState)),
        about=draw(st.none() | slugs),
        provenance=Provenance(source_type=SourceType.CLI, source_id="t"),
    )


def days_later(start: datetime, days: int, zone: str) -> datetime:
    """Return the same time of day some days later, as the event's zone tells it: whole days stay whole."""
    return (start.astimezone(ZoneInfo(zone)) + timedelta(days=days)).astimezone(UTC)


def occurrences(event: Event, overrides: tuple[Override, ...], window: Interval) -> list[object]:
    return [
        (each.interval, each.state, each.responsible, each.place)
        for each in expand(event, overrides, window)
    ]


@settings(max_examples=40, deadline=None)
@given(event=events(), data=st.data())
def test_events_and_changed_occurrences_come_back(event: Event, data: st.DataObject):
    begin = event.start.astimezone(UTC)
    window = Interval(begin - timedelta(days=60), begin + timedelta(days=500))
    starts = list(original_starts(event, window))
    chosen = data.draw(st.lists(st.sampled_from(starts), max_size=3, unique=True)) if starts else []
    overrides = tuple(
        Override(
            event_id=event.id,
            original_start=start,
            start=data.draw(st.none() | st.just(days_later(start, 3, event.tz))),
            duration=data.draw(st.none() | st.just(timedelta(days=1))),
            state=data.draw(st.none() | st.just(EventState.CANCELLED)),
            responsible=data.draw(st.none() | members),
            place=data.draw(st.none() | lines),
        )
        for start in chosen
    )
    written = export_ics([event], {event.id: overrides}, name="Family", places={})
    found = import_ics(written, "h", HOME)
    assert found.problems == ()
    (back,) = found.events
    same = {name: getattr(back, name) for name in ("id", "kind", "summary", "activity", "task")}
    assert same == {name: getattr(event, name) for name in same}
    assert (back.who, back.all_day, back.tz) == (event.who, event.all_day, event.tz)
    assert back.about == event.about
    if not event.all_day:  # UNTIL of days is written as a day
        assert back.rrule == event.rrule
    assert occurrences(back, found.overrides, window) == occurrences(event, overrides, window)


GOOD = export_ics(
    [
        Event(
            id="a",
            household="h",
            kind=EventKind.BOOKING,
            summary="Choir",
            start=datetime(2026, 3, 3, 16, tzinfo=HOME),
            duration=timedelta(hours=1),
            tz=HOME.key,
            rrule="FREQ=WEEKLY;BYDAY=TU",
            exdates=(datetime(2026, 3, 10, 16, tzinfo=HOME),),
            provenance=Provenance(source_type=SourceType.CLI, source_id="t"),
        )
    ],
    {},
    name="x",
    places={},
)
PIECES = (b"\r\n", b":", b";", b"=", b",", b"\xff", b"99", b"T", b"Z", b"BEGIN:VEVENT\r\n", b"-")


edits = st.tuples(
    st.integers(GOOD.index(b"BEGIN:VEVENT"), len(GOOD)), st.integers(0, 3), st.sampled_from(PIECES)
)


@settings(max_examples=150, deadline=None)
@given(changes=st.lists(edits, min_size=1, max_size=6))
def test_damaged_files_never_fail(changes: list[tuple[int, int, bytes]]):
    data = bytearray(GOOD)
    for at, length, piece in changes:
        data[at : at + length] = piece
    found = import_ics(bytes(data), "h", HOME)
    assert len(found.events) <= 1 + len(changes)


@pytest.mark.parametrize(
    "zone", ["Europe", "America/Indiana", "../etc", "/", "Europe/", "\N{MIDDLE DOT}"]
)
def test_a_name_that_is_no_timezone_fails_nothing(zone: str) -> None:
    lines_in = f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nSUMMARY:Fair\r\nDTSTART;TZID={zone}:20260305T160000\r\nEND:VEVENT\r\nEND:VCALENDAR"
    import_ics(lines_in.encode(), "h", HOME)


@settings(max_examples=100, deadline=None)
@given(body=st.text(max_size=200), is_wrapped=st.booleans())
def test_any_text_is_read_without_failing(body: str, is_wrapped: bool):
    lines_in = f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:{body}\r\nEND:VEVENT\r\nEND:VCALENDAR"
    import_ics((lines_in if is_wrapped else body).encode("utf-8", "replace"), "h", HOME)
