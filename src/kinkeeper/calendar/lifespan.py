"""Until when an event matters: the end of the last day on which it takes place. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.calendar.model import Event, Override
from kinkeeper.calendar.occurrences import AHEAD
from kinkeeper.calendar.recurrence import occurrence_at, original_starts
from kinkeeper.calendar.recurrence_rules import parse_rule
from kinkeeper.core.time import Interval, as_utc, day_over

_INSTANT = timedelta(microseconds=1)


def over_at(
    event: Event, overrides: Iterable[Override], *, zone: ZoneInfo, after: datetime
) -> datetime:
    """Return the midnight after the last day of an event; of an open-ended series, after its next day.

    A series counts for as far ahead as the occurrence table reaches, but at least until its next occurrence.

    Args:
        event: Single or recurring.
        overrides: Those of this event.
        zone: The household's, in which days end.
        after: Aware; the next occurrence of a series is the first that begins at or after it.
    """
    changes = {as_utc(each.original_start): each for each in overrides}
    starts = {_last_start(event, as_utc(after))}
    if not _is_open_ended(event):
        starts |= changes.keys()
    return max(
        end_of_day(event, occurrence_at(event, each, changes.get(each)).interval, zone)
        for each in starts
    )


def occurrence_over_at(
    event: Event, change: Override | None, original_start: datetime, *, zone: ZoneInfo
) -> datetime:
    """Return the midnight after one occurrence, where it takes place now.

    Args:
        event: Single or recurring.
        change: What is changed for this occurrence, if anything.
        original_start: Aware start that the rule gives.
        zone: The household's, in which days end.
    """
    start = as_utc(original_start)
    return end_of_day(event, occurrence_at(event, start, change).interval, zone)


def end_of_day(event: Event, interval: Interval, zone: ZoneInfo) -> datetime:
    """Return the midnight after the last local day that an occurrence touches.

    Args:
        event: Whose dates count in its own zone where it has dates only.
        interval: When it takes place.
        zone: The household's.
    """
    last = max(interval.start, interval.end - _INSTANT)
    day = last.astimezone(ZoneInfo(event.tz) if event.all_day else zone).date()
    return max(as_utc(interval.end), day_over(day, zone))


def _last_start(event: Event, after: datetime) -> datetime:
    """Return the start of the last occurrence in reach; of an open-ended series, of the next one."""
    if event.rrule is None:
        return as_utc(event.start)
    window = Interval(after - event.duration, after + AHEAD)
    starts = list(original_starts(event, window)) or [as_utc(event.start)]
    return starts[0] if _is_open_ended(event) else starts[-1]


def _is_open_ended(event: Event) -> bool:
    rule = parse_rule(event.rrule) if event.rrule else None
    return rule is not None and rule.until is None and "COUNT" not in rule.parts
