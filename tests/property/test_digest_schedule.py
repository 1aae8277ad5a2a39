"""A digest is due once for each local day, never during quiet hours, through every change of the clocks."""

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.core.errors import InputError
from kinkeeper.digest.repository import due_day, next_release, parse_time, release
from kinkeeper.messaging.outbound import QuietHours

DAY = timedelta(days=1)
# Zones whose clocks change at different hours, at midnight, by half an hour, or not at all.
ZONES = (
    "Europe/Dublin",
    "America/Chicago",
    "America/Havana",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Africa/Cairo",
    "Pacific/Auckland",
)
instants = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds
clocks = st.times().map(lambda each: each.replace(second=0, microsecond=0))


@st.composite
def quiet_hours(draw: st.DrawFn) -> QuietHours:
    start = draw(clocks)
    length = draw(st.integers(0, 14 * 60))
    end = (datetime.combine(datetime(2026, 1, 1), start) + timedelta(minutes=length)).time()  # noqa: DTZ001 - only its time
    return QuietHours(start=start, end=end, zone=ZoneInfo(draw(st.sampled_from(ZONES))))


@given(now=instants, at=clocks, quiet=quiet_hours())
def test_each_day_has_one_digest_which_is_due_soon_and_not_while_it_is_quiet(
    now: datetime, at: time, quiet: QuietHours
) -> None:
    """Walk through four weeks in steps of a few minutes, as a server does."""
    seen: list[tuple[object, datetime]] = []
    moment, end = now, now + 28 * DAY
    while moment < end:
        day = due_day(moment, at, quiet)
        if day is not None:
            assert not quiet.hold(moment)
            if not seen or seen[-1][0] != day:
                seen.append((day, moment))
        moment += timedelta(minutes=13)
    days = [day for day, _ in seen]
    assert days == sorted(set(days)), "a day came back"
    first = days[0]
    assert days == [first + number * DAY for number in range(len(days))], "a day was left out"
    for day, moment in seen[1:]:
        begins = release(day, at, quiet)
        late = moment - begins
        if any(quiet.hold(begins + timedelta(minutes=number)) for number in range(14)):
            # Quiet hours began before the server looked again.
            assert late >= timedelta(0)
            continue
        # The end of quiet hours may be a wall time that comes twice in the night when clocks go back.
        assert timedelta(0) <= late <= timedelta(hours=1, minutes=13)
    gaps = [after - before for (_, before), (_, after) in pairwise(seen[1:])]
    assert all(timedelta(hours=9) < gap < timedelta(hours=39) for gap in gaps)


@given(now=instants, at=clocks, quiet=quiet_hours())
def test_the_next_one_is_the_first_that_is_not_due_yet(
    now: datetime, at: time, quiet: QuietHours
) -> None:
    following = next_release(now, at, quiet)
    assert now < following <= now + 2 * DAY
    assert not quiet.hold(following) or quiet.hold(following - timedelta(hours=1))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("18:00", time(18)),
        ("6pm", time(18)),
        ("6:30 PM", time(18, 30)),
        ("07.15", time(7, 15)),
        ("7", time(7)),
        ("12am", time(0)),
        ("12pm", time(12)),
        ("0:00", time(0)),
        ("23:59", time(23, 59)),
        (" OFF ", None),
    ],
)
def test_times_as_people_write_them(text: str, at: time | None) -> None:
    assert parse_time(text) == at


@pytest.mark.parametrize(
    "text", ["", "24:00", "7:60", "13pm", "0am", "soon", "18:00:00", "-1", "6 o'clock", "on"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_time(text)
