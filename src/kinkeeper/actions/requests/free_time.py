"""Gaps between what keeps people busy. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.core.time import Interval, as_utc, midnight

_MOST = 10
_DAY = timedelta(days=1)
FROM, TO = time(8), time(21)
"""Nobody wants to be offered the small hours."""


def free_times(
    span: Interval,
    busy: Iterable[Interval],
    *,
    length: timedelta,
    now: datetime,
    zone: ZoneInfo,
    since: time = FROM,
    until: time = TO,
) -> list[Interval]:
    """Return the gaps of a span of time that are long enough, the first ten; nothing that has passed.

    Of whole days only some hours are looked at: those in which people are up, unless told.

    Args:
        span: Where to look.
        busy: What is taken.
        length: How long a gap must be, > 0.
        now: Aware.
        zone: The household's.
        since: From when on each day.
        until: To when on each day; later than `since`.
    """
    start = max(as_utc(span.start), as_utc(now))
    if start >= as_utc(span.end):
        return []
    whole = Interval(start, as_utc(span.end))
    is_part = whole.duration < _DAY and (since, until) == (FROM, TO)
    parts = [whole] if is_part else list(_by_day(whole, zone, since, until))
    taken = sorted(Interval(as_utc(each.start), as_utc(each.end)) for each in busy)
    gaps = [gap for part in parts for gap in _gaps(part, taken) if gap.duration >= length]
    return gaps[:_MOST]


def _by_day(span: Interval, zone: ZoneInfo, since: time, until: time) -> Iterator[Interval]:
    day = span.start.astimezone(zone).date()
    while midnight(day, zone) < span.end:
        first, last = (as_utc(datetime.combine(day, at, tzinfo=zone)) for at in (since, until))
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
