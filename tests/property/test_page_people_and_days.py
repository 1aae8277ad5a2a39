"""However people are called they are told apart; whatever day it is, the calendar holds it once."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.web.views.calendar import Span, calendar_page, covered_days, shown_days
from kinkeeper.web.views.health import HEIGHT, WIDTH, chart
from kinkeeper.web.views.items import collect
from kinkeeper.web.views.people import people_of
from page_samples import EMPTY, home, lines_at, occurrence, words_at
from pending_samples import event

ZONES = (
    "Europe/Vienna",
    "America/Chicago",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "Pacific/Apia",
    "America/Havana",
    "Asia/Kathmandu",
)
names = st.text(min_size=1, max_size=12).filter(lambda name: bool(name.strip()))
instants = st.integers(0, 20 * 365 * 24 * 60).map(
    lambda minutes: datetime(2011, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)


@given(st.lists(names, min_size=1, max_size=12))
@example(["0", "01"])
def test_nobody_shares_initials_or_colour_and_pattern(called: list[str]) -> None:
    members = tuple(
        Member(id=f"m{number}", name=name, role=Role.OTHER) for number, name in enumerate(called)
    )
    family = Household(
        id="h", zone=ZoneInfo("UTC"), locale="en", bot_name="Kin", owner=None, members=members
    )
    drawn = list(people_of(family).members.values())
    assert len({(each.tint, each.pattern) for each in drawn}) == len(drawn)
    assert len({each.initials for each in drawn}) == len(drawn)
    assert all(each.initials.strip() for each in drawn)


@given(names)
def test_a_guest_is_drawn_whatever_they_are_called(name: str) -> None:
    guest = people_of(home()).of(name)
    assert guest.name.startswith(name)
    assert guest.tint in range(9)


@given(instants, st.integers(0, 100_000), st.sampled_from(ZONES))
def test_something_stands_on_every_day_it_shares_time_with_and_on_no_other(
    start: datetime, minutes: int, zone_name: str
) -> None:
    zone = ZoneInfo(zone_name)
    interval = Interval(start, start + timedelta(minutes=minutes))
    days = covered_days(interval, words_at(start, home(zone=zone_name)))
    last = max(interval.start, interval.end - timedelta(microseconds=1))
    assert days[0] == start.astimezone(zone).date()
    assert days[-1] == last.astimezone(zone).date()
    assert len(days) == len(set(days))


@given(st.dates(date(1975, 1, 1), date(2190, 1, 1)), st.sampled_from(Span), st.integers(0, 6))
def test_what_is_shown_holds_the_day_it_is_shown_around(
    anchor: date, span: Span, week_start: int
) -> None:
    first, last = shown_days(span, anchor, week_start)
    assert first <= anchor <= last
    if span is not Span.AGENDA:
        assert first.weekday() == week_start
        assert ((last - first).days + 1) % 7 == 0


@given(instants, st.lists(st.integers(-60, 60 * 24 * 9), max_size=6), st.sampled_from(ZONES))
def test_every_short_thing_of_a_week_stands_on_one_or_two_days_of_it(
    now: datetime, offsets: list[int], zone: str
) -> None:
    lines = lines_at(now, home(zone=zone))
    anchor = lines.wording.today
    events = [
        event(f"n{number}", start=now + timedelta(minutes=offset), duration=timedelta(hours=1))
        for number, offset in enumerate(offsets)
    ]
    found = collect(map(occurrence, events), [], EMPTY, lines.wording.phrasing)
    page = calendar_page(found, span=Span.AGENDA, anchor=anchor, lines=lines, wording=lines.wording)
    stands = Counter(item.key for day in page.days for item in day.entries)
    assert set(stands.values()) <= {1, 2}
    for each in events:
        if lines.wording.local(each.start).date() >= anchor:
            assert any(each.id in key for key in stands)


@given(
    st.lists(st.floats(0, 1e6, allow_nan=False), min_size=1, max_size=40),
    st.none() | st.floats(0.1, 1e6),
)
def test_bars_never_leave_their_box(values: list[float], goal: float | None) -> None:
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(len(values))]
    drawn = chart(
        "x",
        dict(zip(days, values, strict=True)),
        figure="y",
        days=days,
        labels={day: day.isoformat() for day in days},
        goal=goal,
    )
    assert (drawn is None) == (not any(values))
    if drawn is None:
        return
    for bar, value in zip(drawn.bars, values, strict=True):
        assert (bar.height > 0) == (value > 0)
        assert 0 <= bar.y <= bar.y + bar.height <= HEIGHT
        assert bar.x + bar.width <= WIDTH
    assert drawn.goal_y is None or 0 <= drawn.goal_y <= HEIGHT
