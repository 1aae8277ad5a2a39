"""Local days as spans of time."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.core.errors import InputError, InvariantError
from kinkeeper.core.time import Interval, as_utc, latest_told, local_days, midnight

VIENNA = ZoneInfo("Europe/Vienna")


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 6, 1), 24)]
)
def test_a_local_day_is_as_long_as_clocks_make_it(day: date, hours: int) -> None:
    span = local_days(day, day, VIENNA)
    assert as_utc(span.end) - as_utc(span.start) == timedelta(hours=hours)


def test_the_last_of_several_local_days_is_included() -> None:
    span = local_days(date(2026, 12, 31), date(2027, 1, 1), VIENNA)
    assert as_utc(span.start) == datetime(2026, 12, 30, 23, tzinfo=UTC)
    assert span.end == midnight(date(2027, 1, 2), VIENNA)
    with pytest.raises(InvariantError):
        local_days(date(2026, 2, 3), date(2026, 2, 1), VIENNA)


def test_local_days_touch_and_never_overlap() -> None:
    first, second = (
        local_days(date(2026, 10, day), date(2026, 10, day), VIENNA) for day in (24, 25)
    )
    assert as_utc(first.end) == as_utc(second.start)
    assert not Interval(as_utc(first.start), as_utc(first.end)).overlaps(
        Interval(as_utc(second.start), as_utc(second.end))
    )


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-06-01", "2026-06-01T23:59:59.999999+02:00"),
        ("20260601", "2026-06-01T23:59:59.999999+02:00"),
        ("2026-10-25", "2026-10-25T23:59:59.999999+01:00"),
        (" 2026-06-01T16:30 ", "2026-06-01T16:30:00+02:00"),
        ("2026-06-01T16:30:00Z", "2026-06-01T16:30:00+00:00"),
    ],
)
def test_a_day_that_is_told_reaches_to_its_end(text: str, instant: str) -> None:
    assert latest_told(text, VIENNA) == datetime.fromisoformat(instant)


@pytest.mark.parametrize("text", ["", "last May", "2026-02-30", "0001-01-01", "2500-01-01T00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        latest_told(text, VIENNA)
