"""When two spans collide: half-open ends, instants, and time to be kept free between them."""

from datetime import UTC, datetime, timedelta

import pytest

from kinkeeper.calendar.recurrence import share_time
from kinkeeper.core.time import Interval

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)


def span(first: int, last: int) -> Interval:
    return Interval(NOON + timedelta(minutes=first), NOON + timedelta(minutes=last))


@pytest.mark.parametrize(
    ("first", "second", "buffer", "collide"),
    [
        (span(0, 60), span(30, 90), 0, True),
        (span(0, 60), span(60, 90), 0, False),  # touching
        (span(0, 60), span(10, 20), 0, True),  # inside
        (span(0, 60), span(30, 30), 0, True),  # an instant inside
        (span(0, 60), span(0, 0), 0, True),  # an instant at the start
        (span(0, 60), span(60, 60), 0, False),  # an instant at the end
        (span(5, 5), span(5, 5), 0, True),
        (span(5, 5), span(6, 6), 0, False),
        (span(0, 60), span(70, 90), 15, True),
        (span(0, 60), span(75, 90), 15, False),  # the gap is just kept
        (span(5, 5), span(15, 15), 10, False),
        (span(5, 5), span(15, 15), 11, True),
    ],
)
def test_spans_collide(first: Interval, second: Interval, buffer: int, collide: bool):
    margin = timedelta(minutes=buffer)
    assert share_time(first, second, margin) is collide
    assert share_time(second, first, margin) is collide
