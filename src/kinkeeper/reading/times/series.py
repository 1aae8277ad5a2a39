"""Where what recurs begins and ends: "from the 3rd", "until Christmas", "in May"."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from kinkeeper.reading.times.grammar import Scope
from kinkeeper.reading.times.hours import Habits
from kinkeeper.reading.times.partial import Partial
from kinkeeper.reading.times.resolve import day_of, period_of

BOUNDS: Final = {
    "by": "by", "before": "before", "b4": "before", "bfr": "before", "until": "until", "till": "until",
    "til": "until", "untill": "until", "after": "after", "aft": "after", "aftr": "after", "since": "since",
    "from": "from", "starting": "from", "beginning": "from",
}  # fmt: skip


def bounded(partial: Partial, day: Partial, joints: Sequence[str], scope: Scope) -> Partial | None:
    """Return a recurrence with its first or last day ("from the 3rd", "until Christmas", "in May"); None for others.

    Args:
        partial: What may recur.
        day: What is said next.
        joints: The words between.
        scope: Of the reading.
    """
    if partial.every is None or not _is_day_only(day):
        return None
    bounds = {BOUNDS[word] for word in joints if word in BOUNDS}
    try:
        first, last = _edges(day, scope, is_inside=not bounds)
    except (ValueError, OverflowError):
        return None
    if first is None or last is None or (day.has_day and not bounds):
        return None
    if not bounds:
        return replace(partial, opens=first, closes=last, is_weak=False)
    if "until" in bounds:
        return replace(partial, closes=last, is_weak=False)
    return replace(partial, opens=first, is_weak=False) if "from" in bounds else None


def is_end(partial: Partial, other: Partial, joints: Sequence[str]) -> bool:
    """Whether what is said next ends a time instead of completing it: "at 7 until Christmas", "3 until 5"."""
    is_until = any(BOUNDS.get(word) == "until" for word in joints)
    has_hour = partial.clock is not None or partial.number is not None
    if not is_until or not has_hour:
        return False
    return not _is_day_only(other) or not partial.has_date


def _is_day_only(partial: Partial) -> bool:
    return partial.has_date and not partial.has_time and partial.every is None


def _edges(day: Partial, scope: Scope, *, is_inside: bool) -> tuple[date | None, date | None]:
    """Return the first and last day of what was said; "until" a month or week that is named ends before it."""
    found = day_of(day, scope, Habits())
    if found is not None:
        return found, found
    period = period_of(day, scope)
    if period is None:
        return None, None
    is_whole = is_inside or period.grain == "day"
    return period.first, (period.after if is_whole else period.first) - timedelta(days=1)
