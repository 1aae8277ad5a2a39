"""Expansion equals a naive walk over days, whatever the rule, the zone and its clock changes."""

import calendar
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from kinkeeper.calendar.ics import export_ics
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.calendar.recurrence import check_rule, expand, original_starts
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Interval

ZONES = (
    "America/Chicago",
    "America/St_Johns",
    "America/Santiago",
    "Europe/Berlin",
    "Europe/London",
    "Africa/Casablanca",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Adelaide",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
    "UTC",
)
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")

weekdays = st.lists(st.sampled_from(DAYS), min_size=1, max_size=4, unique=True)


@st.composite
def by_parts(draw: st.DrawFn, frequency: str) -> dict[str, list[str]]:
    if frequency in {"DAILY", "WEEKLY"}:
        return draw(st.just({}) | weekdays.map(lambda days: {"BYDAY": days}))
    month_days = st.lists(
        st.integers(1, 31) | st.integers(-31, -1), min_size=1, max_size=3, unique=True
    ).map(lambda days: {"BYMONTHDAY": [str(day) for day in days]})
    if frequency == "YEARLY":
        months = st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True)
        chosen = draw(st.just([]) | months)
        by_month = {"BYMONTH": [str(month) for month in chosen]} if chosen else {}
        return by_month | (draw(st.just({}) | month_days) if chosen else {})
    ordinals = st.tuples(st.sampled_from([-2, -1, 1, 2, 3, 4, 5]), st.sampled_from(DAYS))
    nth = st.lists(ordinals, min_size=1, max_size=3, unique=True).map(
        lambda pairs: {"BYDAY": [f"{n}{day}" for n, day in pairs]}
    )
    return draw(st.just({}) | month_days | nth | weekdays.map(lambda days: {"BYDAY": days}))


@st.composite
def events(draw: st.DrawFn) -> Event:
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    day = draw(st.dates(date(2023, 1, 1), date(2026, 12, 31)))
    hour = draw(st.sampled_from([0, 1, 2, 3]) | st.integers(0, 23))
    minute = draw(st.sampled_from([0, 15, 30, 45]))
    frequency = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]))
    parts = {"FREQ": [frequency]} | draw(by_parts(frequency))
    if draw(st.booleans()):
        parts["INTERVAL"] = [str(draw(st.integers(1, 5)))]
    if draw(st.booleans()):
        parts["WKST"] = [draw(st.sampled_from(["MO", "SU", "SA"]))]
    end = draw(st.sampled_from(["none", "count", "until", "until-day", "until-local"]))
    if end == "count":
        parts["COUNT"] = [str(draw(st.integers(1, 40)))]
    elif end != "none":
        last = datetime.combine(day, datetime.min.time()) + timedelta(
            days=draw(st.integers(0, 900)), minutes=draw(st.integers(0, 1439))
        )
        form = {"until": "%Y%m%dT%H%M%SZ", "until-day": "%Y%m%d", "until-local": "%Y%m%dT%H%M%S"}
        parts["UNTIL"] = [last.strftime(form[end])]
    return Event(
        id="e",
        household="h",
        kind=EventKind.BOOKING,
        summary="x",
        start=datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone),
        duration=timedelta(minutes=draw(st.integers(1, 300))),
        tz=zone.key,
        rrule=";".join(f"{name}={','.join(values)}" for name, values in parts.items()),
        provenance=Provenance(source_type=SourceType.CLI, source_id="t"),
    )


def nth_in_month(day: date) -> set[str]:
    """Names a day answers to: its weekday, and its weekday counted from either end."""
    length = calendar.monthrange(day.year, day.month)[1]
    name = DAYS[day.weekday()]
    return {name, f"{(day.day - 1) // 7 + 1}{name}", f"-{(length - day.day) // 7 + 1}{name}"}


def in_period(day: date, first: date, parts: dict[str, list[str]]) -> bool:
    interval = int(parts.get("INTERVAL", ["1"])[0])
    match parts["FREQ"][0]:
        case "DAILY":
            return (day - first).days % interval == 0
        case "WEEKLY":
            begin = DAYS.index(parts.get("WKST", ["MO"])[0])
            weeks = [(d.toordinal() - 1 - begin) // 7 for d in (day, first)]
            return (weeks[0] - weeks[1]) % interval == 0
        case "MONTHLY":
            months = (day.year - first.year) * 12 + day.month - first.month
            return months % interval == 0
        case _:
            return (day.year - first.year) % interval == 0


def fires(day: date, first: date, parts: dict[str, list[str]]) -> bool:
    if not in_period(day, first, parts):
        return False
    frequency = parts["FREQ"][0]
    length = calendar.monthrange(day.year, day.month)[1]
    if "BYMONTH" in parts and str(day.month) not in parts["BYMONTH"]:
        return False
    if "BYMONTHDAY" in parts:
        return bool({str(day.day), str(day.day - length - 1)} & set(parts["BYMONTHDAY"]))
    if "BYDAY" in parts:
        return bool(nth_in_month(day) & set(parts["BYDAY"]))
    if frequency == "WEEKLY":
        return day.weekday() == first.weekday()
    if frequency == "YEARLY":
        return day.day == first.day and ("BYMONTH" in parts or day.month == first.month)
    return frequency == "DAILY" or day.day == first.day


def to_utc(wall: datetime, zone: ZoneInfo) -> datetime:
    """Find the instant a wall clock shows `wall`: the first one, or `wall` by the old offset."""
    offsets = [
        (wall.replace(tzinfo=UTC) + timedelta(days=shift)).astimezone(zone).utcoffset()
        for shift in (-1, 1)
    ]
    instants = sorted(wall.replace(tzinfo=UTC) - offset for offset in offsets if offset is not None)
    real = [each for each in instants if each.astimezone(zone).replace(tzinfo=None) == wall]
    before = offsets[0]
    assert before is not None
    return real[0] if real else wall.replace(tzinfo=UTC) - before


def day_walk(event: Event, window: Interval) -> list[datetime]:
    zone = ZoneInfo(event.tz)
    assert event.rrule is not None
    parts = {n: v.split(",") for n, v in (part.split("=") for part in event.rrule.split(";"))}
    count = int(parts["COUNT"][0]) if "COUNT" in parts else None
    until = parts.get("UNTIL", [None])[0]
    first = event.start.date()
    found: list[datetime] = []
    day = first
    while day <= window.end.date() + timedelta(days=2) and (count is None or len(found) < count):
        if fires(day, first, parts):
            wall = datetime.combine(day, event.start.time())
            found.append(to_utc(wall, zone))
        day += timedelta(days=1)
    if until is not None:
        last = datetime.fromisoformat(until).replace(tzinfo=None)
        if len(until) == 8:
            last += timedelta(days=1) - timedelta(seconds=1)
        last_utc = last.replace(tzinfo=UTC) if until.endswith("Z") else to_utc(last, zone)
        found = [each for each in found if each <= last_utc]
    left_out = {each.astimezone(UTC) for each in event.exdates}
    return sorted({s for s in found if window.start <= s < window.end and s not in left_out})


def accepted(event: Event) -> bool:
    assert event.rrule is not None
    try:
        check_rule(event.rrule, event.start.replace(tzinfo=None))
    except InputError:
        return False
    return True


def make(zone: str, start: str, rule: str) -> Event:
    return Event(
        id="e",
        household="h",
        kind=EventKind.BOOKING,
        summary="x",
        start=datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(zone)),
        duration=timedelta(hours=1),
        tz=zone,
        rrule=rule,
        provenance=Provenance(source_type=SourceType.CLI, source_id="t"),
    )


@settings(max_examples=100, deadline=None)
@given(event=events(), offset=st.integers(-30, 700), length=st.integers(1, 500), data=st.data())
def test_expansion_equals_a_walk_over_the_days(
    event: Event, offset: int, length: int, data: st.DataObject
):
    assume(accepted(event))
    begin = event.start.astimezone(UTC) + timedelta(days=offset)
    window = Interval(begin, begin + timedelta(days=length))
    every = day_walk(event, window)
    left_out = tuple(data.draw(st.lists(st.sampled_from(every), max_size=3))) if every else ()
    event = Event(**{n: getattr(event, n) for n in event.__slots__} | {"exdates": left_out})
    assert list(original_starts(event, window)) == day_walk(event, window)


@settings(max_examples=30, deadline=None)
@given(event=events())
@example(event=make("America/Chicago", "2026-03-07T02:30", "FREQ=DAILY;COUNT=5"))
@example(event=make("Europe/Berlin", "2026-10-24T02:30", "FREQ=DAILY;COUNT=5"))
def test_exported_series_expands_alike_elsewhere(event: Event):
    assume(accepted(event))
    first = next(iter(original_starts(event, whole(event))), None)
    assume(first == event.start.astimezone(UTC))  # elsewhere a start off the rule is added to it
    window = Interval(event.start.astimezone(UTC), event.start.astimezone(UTC) + timedelta(400))
    calendar_file = icalendar.Calendar.from_ical(export_ics([event], {}, name="x", places={}))
    there = recurring_ical_events.of(calendar_file).between(window.start, window.end)
    starts = sorted(each["DTSTART"].dt.astimezone(UTC) for each in there)
    ours = [each.interval.start for each in expand(event, (), window)]
    assert [s for s in starts if s >= window.start] == ours


def whole(event: Event) -> Interval:
    begin = event.start.astimezone(UTC)
    return Interval(begin, begin + timedelta(days=1))
