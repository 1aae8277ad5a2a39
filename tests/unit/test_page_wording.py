"""Days and times as the pages say them: by the household's own clock and region."""

from datetime import UTC, date, datetime, timedelta

import pytest

from kinkeeper.core.time import Interval
from page_samples import home, words_at

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
AMERICAN = home(zone="America/Chicago", locale="en-US")


@pytest.mark.parametrize(
    ("locale", "clock", "day", "long_day", "week_start"),
    [
        ("en-US", "4:05pm", "Mon Mar 9", "Monday, March 9", 6),
        ("en-GB", "16:05", "Mon 9 Mar", "Monday 9 March", 0),
        ("en-AU", "4:05pm", "Mon 9 Mar", "Monday 9 March", 0),
        ("ar-EG", "4:05pm", "Mon 9 Mar", "Monday 9 March", 5),
        ("de_AT", "16:05", "Mon 9 Mar", "Monday 9 March", 0),
        ("en", "4:05pm", "Mon Mar 9", "Monday, March 9", 6),
    ],
)
def test_a_region_has_its_own_clock_order_and_week(
    locale: str, clock: str, day: str, long_day: str, week_start: int
) -> None:
    wording = words_at(NOON, home(zone="UTC", locale=locale))
    assert wording.clock(datetime(2026, 3, 9, 16, 5, tzinfo=UTC)) == clock
    assert wording.day(date(2026, 3, 9)) == day
    assert wording.long_day(date(2026, 3, 9)) == long_day
    assert wording.week_start == week_start


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (date(2026, 3, 5), "Today"),
        (date(2026, 3, 6), "Tomorrow"),
        (date(2026, 3, 4), "Yesterday"),
        (date(2026, 3, 7), "Sat 7 Mar"),
        (date(2027, 3, 5), "Fri 5 Mar 2027"),
    ],
)
def test_near_days_have_names_and_other_years_are_named(day: date, said: str) -> None:
    assert words_at(NOON).heading(day) == said


def test_today_is_the_household_s_day_not_the_server_s() -> None:
    late = datetime(2026, 3, 6, 3, tzinfo=UTC)  # nine in the evening of the fifth in Chicago
    assert words_at(late, AMERICAN).moment(late) == "today 9pm"
    assert words_at(late, home(zone="Asia/Tokyo")).today == date(2026, 3, 6)


@pytest.mark.parametrize(
    ("start", "hours", "said"),
    [
        (datetime(2026, 3, 5, 22, tzinfo=UTC), 1, "22:00 – 23:00"),
        (datetime(2026, 3, 5, 22, tzinfo=UTC), 4, "22:00 – 02:00"),
        (datetime(2026, 3, 5, 9, tzinfo=UTC), 0, "09:00"),
        (datetime(2026, 3, 5, 9, tzinfo=UTC), 30, "09:00 – tomorrow 15:00"),
    ],
)
def test_a_span_names_the_day_of_its_end_only_where_it_must(
    start: datetime, hours: int, said: str
) -> None:
    wording = words_at(NOON, home(zone="UTC"))
    assert wording.span(Interval(start, start + timedelta(hours=hours))) == said


def test_a_span_over_a_clock_change_says_what_the_clocks_say() -> None:
    begin = datetime(2026, 3, 8, 7, tzinfo=UTC)  # one in the night; at two the clocks go to three
    wording = words_at(begin, AMERICAN)
    assert wording.span(Interval(begin, begin + timedelta(hours=2))) == "1am – 4am"


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (timedelta(0), "Expired; it wasn't added."),
        (timedelta(seconds=20), "Expires in 1 minute."),
        (timedelta(minutes=59, seconds=59), "Expires in 59 minutes."),
        (timedelta(hours=1), "Expires today 14:00."),
        (timedelta(hours=11), "Expires at the end of today."),
    ],
)
def test_a_card_says_when_it_expires(left: timedelta, said: str) -> None:
    assert words_at(NOON).lapse(NOON + left) == said
