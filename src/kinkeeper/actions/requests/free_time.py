"""Gaps between what keeps people busy. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.core.time import Interval, as_utc, midnight

_MOST = 10
_DAY = timedelta(days=1)
# Over several days nobody wants to be offered the small hours.
_BEGIN, _END = time(8), time(21)


def free_times(
    span: Interval,
    busy: Iterable[Interval],
    *,
    length: timedelta,
    now: datetime,
    zone: ZoneInfo,
) -> list[Interval]:
    """Return the gaps of a span of time that are long enough, the first ten; nothing that has passed.

    Of a span of more than a day only the hours are looked at in which people are up.

    Args:
        span: Where to look.
        busy: What is taken.
        length: How long a gap must be, > 0.
        now: Aware.
        zone: The household's.
    """
    start = max(as_utc(span.start), as_utc(now))
    if start >= as_utc(span.end):
        return []
    whole = Interval(start, as_utc(span.end))
    parts = [whole] if whole.duration <= _DAY else list(_waking(whole, zone))
    taken = sorted(Interval(as_utc(each.start), as_utc(each.end)) for each in busy)
    gaps = [gap for part in parts for gap in _gaps(part, taken) if gap.duration >= length]
    return gaps[:_MOST]


def _waking(span: Interval, zone: ZoneInfo) -> Iterator[Interval]:
    day = span.start.astimezone(zone).date()
    while midnight(day, zone) < span.end:
        first, last = (as_utc(datetime.combine(day, at, tzinfo=zone)) for at in (_BEGIN, _END))
        begin, end = max(first, span.start), min(last, span.end)
        if begin < end:
            yield Interval(begin, end)
        day += _DAY


def _gaps(part: Interval, taken: Iterable[Interval]) -> Iterator[Interval]:
    at = part.start
    for each in taken:
        if each.end <= at or each.start >= part.end:
            continue
        if each.start > at:
            yield Interval(at, each.start)
        at = max(at, each.end)
    if at < part.end:
        yield Interval(at, part.end)
