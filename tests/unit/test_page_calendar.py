"""Which days the calendar shows, and on which of them something stands."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.core.time import Interval
from kinkeeper.web.views.calendar import (
    CalendarPage,
    Span,
    calendar_page,
    clamped,
    covered_days,
    shown_days,
)
from kinkeeper.web.views.items import collect
from page_samples import EMPTY, home, lines_at, occurrence, words_at
from pending_samples import event

CHICAGO = ZoneInfo("America/Chicago")
AMERICAN = home(zone="America/Chicago", locale="en-US")
NOW = datetime(2026, 3, 5, 12, tzinfo=CHICAGO)


def _page(span: Span, anchor: date, *starts: datetime, hours: float = 1) -> CalendarPage:
    lines = lines_at(NOW, AMERICAN)
    events = [
        event(f"n{number}", start=start, duration=timedelta(hours=hours))
        for number, start in enumerate(starts)
    ]
    found = collect(map(occurrence, events), [], EMPTY, lines.wording.phrasing)
    return calendar_page(found, span=span, anchor=anchor, lines=lines, wording=lines.wording)


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        (datetime(2026, 3, 7, 22, tzinfo=CHICAGO), datetime(2026, 3, 8, 0, tzinfo=CHICAGO), [7]),
        (datetime(2026, 3, 7, 22, tzinfo=CHICAGO), datetime(2026, 3, 8, 1, tzinfo=CHICAGO), [7, 8]),
        (datetime(2026, 3, 8, 0, tzinfo=CHICAGO), datetime(2026, 3, 9, 0, tzinfo=CHICAGO), [8]),
        (datetime(2026, 3, 8, 5, tzinfo=UTC), datetime(2026, 3, 8, 6, tzinfo=UTC), [7]),
        (datetime(2026, 3, 8, 0, tzinfo=CHICAGO), datetime(2026, 3, 8, 0, tzinfo=CHICAGO), [8]),
    ],
)
def test_what_ends_at_midnight_ends_the_day_before(
    start: datetime, end: datetime, days: list[int]
) -> None:
    covered = covered_days(Interval(start, end), words_at(NOW, AMERICAN))
    assert [day.day for day in covered] == days


@pytest.mark.parametrize("midnight_gap", [date(2026, 4, 24), date(2026, 10, 30)])
def test_a_day_whose_midnight_does_not_come_or_comes_late_is_one_day(midnight_gap: date) -> None:
    cairo = ZoneInfo("Africa/Cairo")  # its clocks change at midnight
    start = datetime.combine(midnight_gap, datetime.min.time(), tzinfo=cairo)
    end = datetime.combine(midnight_gap + timedelta(days=1), datetime.min.time(), tzinfo=cairo)
    wording = words_at(NOW, home(zone="Africa/Cairo"))
    assert covered_days(Interval(start, end), wording) == [midnight_gap]


@pytest.mark.parametrize(
    ("anchor", "week_start", "first", "last"),
    [
        (date(2026, 3, 1), 6, date(2026, 3, 1), date(2026, 4, 4)),
        (date(2026, 3, 31), 0, date(2026, 2, 23), date(2026, 4, 5)),
        (date(2027, 2, 10), 0, date(2027, 2, 1), date(2027, 2, 28)),
    ],
)
def test_a_month_is_shown_in_whole_weeks(
    anchor: date, week_start: int, first: date, last: date
) -> None:
    assert shown_days(Span.MONTH, anchor, week_start) == (first, last)


def test_a_week_begins_as_the_region_counts_and_marks_today() -> None:
    page = _page(Span.WEEK, date(2026, 3, 5), datetime(2026, 3, 3, 9, tzinfo=CHICAGO))
    assert [day.weekday for day in page.days] == ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    assert [day.number for day in page.days if day.is_today] == [5]
    assert [len(day.entries) for day in page.days] == [0, 0, 1, 0, 0, 0, 0]
    assert page.title == "Mar 1 – Mar 7"
    assert page.following == "/calendar?span=week&on=2026-03-12"


def test_what_lasts_several_days_stands_on_each_of_them_within_what_is_shown() -> None:
    page = _page(Span.WEEK, date(2026, 3, 5), datetime(2026, 2, 27, 9, tzinfo=CHICAGO), hours=96)
    assert [day.number for day in page.days if day.entries] == [1, 2, 3]


def test_an_agenda_leaves_empty_days_out() -> None:
    starts = [datetime(2026, 3, day, 9, tzinfo=CHICAGO) for day in (5, 20, 20)]
    page = _page(Span.AGENDA, date(2026, 3, 5), *starts)
    assert [(day.number, len(day.entries)) for day in page.days] == [(5, 1), (20, 2)]


def test_a_month_fades_other_months_and_leads_to_weeks() -> None:
    page = _page(Span.MONTH, date(2026, 3, 5))
    outside = [day.iso for day in page.days if day.is_outside]
    assert outside == ["2026-04-01", "2026-04-02", "2026-04-03", "2026-04-04"]
    assert page.days[0].href == "/calendar?span=week&on=2026-03-01"


def test_the_calendar_has_ends() -> None:
    assert clamped(date.max) == date(2200, 1, 1)
    assert clamped(date.min) == date(1971, 1, 1)
    assert not _page(Span.MONTH, clamped(date.max)).following
    assert not _page(Span.WEEK, clamped(date.min)).previous
