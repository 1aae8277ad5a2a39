"""Expansion of events into occurrences. Pure: local wall times are kept across clock changes.

A wall time that a clock change skips happens later by the length of the gap; one that comes twice
happens the first time.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.calendar.model import Event, EventState, Occurrence, Override
from kinkeeper.calendar.recurrence_rules import Rule, parse_rule
from kinkeeper.calendar.spans import in_utc, share_time
from kinkeeper.core.time import Interval, as_utc

_MARGIN = timedelta(days=2)  # wall time and UTC differ by less than this, clock changes included
_INSTANT = timedelta(seconds=1)  # starts are whole seconds


def expand(event: Event, overrides: Iterable[Override], window: Interval) -> list[Occurrence]:
    """Return the occurrences that share time with a window, ordered by start.

    Cancelled occurrences are included, marked as such. Overrides of occurrences that the event's
    rule does not give are left out of account.

    Args:
        event: Single or recurring.
        overrides: Those of this event; of other events' none.
        window: Span of interest.
    """
    window = in_utc(window)
    changes = {as_utc(override.original_start): override for override in overrides}
    reach = Interval(window.start - event.duration - _MARGIN, window.end + _INSTANT)
    near = {start: changes.get(start) for start in original_starts(event, reach)}
    far = {
        start: change
        for start, change in changes.items()
        if start not in near and share_time(occurrence_at(event, start, change).interval, window)
        if produces(event, start)
    }
    occurrences = [occurrence_at(event, start, change) for start, change in (near | far).items()]
    found = [each for each in occurrences if share_time(each.interval, window)]
    return sorted(found, key=lambda each: (each.interval.start, each.original_start))


def expand_one(
    event: Event, override: Override | None, original_start: datetime, window: Interval
) -> Occurrence | None:
    """Return one occurrence if the event's rule gives it and it shares time with a window.

    Args:
        event: Single or recurring.
        override: What was changed for this occurrence, if anything.
        original_start: Aware start that the rule may give.
        window: Span of interest.
    """
    if not produces(event, original_start):
        return None
    found = occurrence_at(event, as_utc(original_start), override)
    return found if share_time(found.interval, in_utc(window)) else None


def produces(event: Event, original_start: datetime) -> bool:
    """Whether the event's rule gives an occurrence at this instant.

    Args:
        event: Single or recurring.
        original_start: Aware.
    """
    start = as_utc(original_start)
    return any(original_starts(event, Interval(start, start + _INSTANT)))


def original_starts(event: Event, window: Interval) -> Iterator[datetime]:
    """Yield the UTC starts in a window that the event's rule gives, ordered.

    Args:
        event: Single or recurring; starts it leaves out are not produced.
        window: Starts at its end are outside.
    """
    left_out = {as_utc(start) for start in event.exdates}
    starts = _rule_starts(event, window) if event.rrule else {as_utc(event.start)}
    for start in sorted(starts):
        if window.start <= start < window.end and start not in left_out:
            yield start


def _rule_starts(event: Event, window: Interval) -> set[datetime]:
    zone = ZoneInfo(event.tz)
    first = local_start(event)
    rule = parse_rule(event.rrule or "")
    last = rule.last_instant(zone)
    earliest = _wall(window.start - _MARGIN, zone)
    latest = _wall((window.end if last is None else min(last, window.end)) + _MARGIN, zone)
    entry = _entry(rule, first.replace(tzinfo=None, fold=0), earliest)
    if latest < entry:
        return set()
    starts = set()
    for wall in rule.walls(entry).between(earliest, latest, inc=True):
        is_first = wall == first.replace(tzinfo=None)
        start = first if is_first else wall.replace(tzinfo=zone)
        starts.add(start.astimezone(UTC))
    return {start for start in starts if last is None or start <= last}


def _entry(rule: Rule, first: datetime, earliest: datetime) -> datetime:
    """Return where to enter the rule, so that old series cost no more than young ones."""
    if earliest <= first:
        return first
    if rule.step is not None:
        return first + rule.step * max(0, (earliest - first) // rule.step - 1)
    if rule.step_years is None:
        return first
    steps = (earliest.year - first.year) // rule.step_years - 1
    for years in range(max(0, steps) * rule.step_years, 0, -rule.step_years):
        with suppress(ValueError):  # 29 February of a year that has none
            return first.replace(year=first.year + years)
    return first


def local_start(event: Event) -> datetime:
    """Return the event's start as a wall time of its own zone."""
    zone = ZoneInfo(event.tz)
    return event.start if event.start.tzinfo is zone else event.start.astimezone(zone)


def _wall(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def occurrence_at(event: Event, original_start: datetime, override: Override | None) -> Occurrence:
    """Return one occurrence of an event.

    Args:
        event: Single or recurring.
        original_start: Aware start that its rule gives.
        override: What was changed for this occurrence alone, if anything.
    """
    change = override or Override(event_id=event.id, original_start=original_start)
    start = original_start if change.start is None else as_utc(change.start)
    duration = event.duration if change.duration is None else change.duration
    is_cancelled = EventState.CANCELLED in {event.state, change.state}
    return Occurrence(
        event=event,
        original_start=original_start,
        interval=Interval(start, _end(event, start, duration)),
        state=EventState.CANCELLED if is_cancelled else EventState.CONFIRMED,
        responsible=event.responsible if change.responsible is None else change.responsible,
        place=event.place if change.place is None else change.place,
    )


def _end(event: Event, start: datetime, duration: timedelta) -> datetime:
    """Return the end in UTC: days of an all-day event end at midnight, however long they are."""
    if not event.all_day:
        return start + duration
    zone = ZoneInfo(event.tz)
    midnight = datetime.combine(_wall(start, zone).date(), time())
    return max(start, (midnight + duration).replace(tzinfo=zone).astimezone(UTC))
