"""Recurrence: which rules are accepted, the occurrences they give, and when two spans share time. Pure.

A wall time that a clock change skips happens later by the length of the gap; one that comes twice
happens the first time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from math import lcm
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from kinkeeper.calendar.model import Event, EventState, Occurrence, Override
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Interval, as_utc

# Recurrence rules: which ones are accepted, and what they say. Pure.
#
# Accepted are rules that repeat by day, week, month or year, at most 24 times a day, and that do
# happen some day. This keeps the cost of expanding a rule bounded, whoever wrote it.

_FREQUENCIES = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
_PARTS = frozenset(
    {
        "FREQ",
        "INTERVAL",
        "COUNT",
        "UNTIL",
        "BYDAY",
        "BYMONTHDAY",
        "BYMONTH",
        "BYSETPOS",
        "BYHOUR",
        "BYMINUTE",
        "BYYEARDAY",
        "BYWEEKNO",
        "WKST",
    }
)
_MAX_INTERVAL = 1000
_MAX_COUNT = 10_000
_MAX_PER_DAY = 24
_END_OF_DAY = time(23, 59, 59)
_CYCLE_YEARS = 400  # after which the Gregorian calendar repeats, weekdays included
_LAST_YEAR = 9999
_ANY_START = datetime(2000, 1, 1)  # noqa: DTZ001 - wall time


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A parsed recurrence rule.

    Attributes:
        parts: Its parts by name, in upper case, without UNTIL.
        pattern: The same for dateutil, beginning at a time that means nothing.
        until: Last moment as written: a date, a local wall time (naive) or a UTC instant (aware).
    """

    parts: Mapping[str, str]
    pattern: rrule
    until: date | datetime | None

    @property
    def step(self) -> timedelta | None:
        """Length of one period, where the rule may be entered at any period; else None."""
        if "COUNT" in self.parts or self.parts["FREQ"] not in {"DAILY", "WEEKLY"}:
            return None
        days = 7 if self.parts["FREQ"] == "WEEKLY" else 1
        return timedelta(days=days * int(self.parts.get("INTERVAL", "1")))

    @property
    def step_years(self) -> int | None:
        """Number of years after which periods begin on the same days of a year, where the rule may be entered so.

        None where it may not, because it counts, or repeats by day or week.
        """
        if "COUNT" in self.parts or self.parts["FREQ"] not in {"MONTHLY", "YEARLY"}:
            return None
        interval = int(self.parts.get("INTERVAL", "1"))
        months = interval if self.parts["FREQ"] == "MONTHLY" else 12 * interval
        return lcm(months, 12) // 12

    def last_instant(self, zone: ZoneInfo) -> datetime | None:
        """Return the UTC instant after which nothing happens, if the rule names one.

        A bare date includes all of that day.

        Args:
            zone: Where wall times of the rule are meant.
        """
        if self.until is None:
            return None
        if not isinstance(self.until, datetime):
            return datetime.combine(self.until, _END_OF_DAY, zone).astimezone(UTC)
        local = self.until if self.until.tzinfo else self.until.replace(tzinfo=zone)
        return local.astimezone(UTC)

    def walls(self, start: datetime) -> rrule:
        """Return the wall times the rule gives, in order and without regard to its UNTIL.

        Args:
            start: Naive wall time the rule begins at.
        """
        return self.pattern.replace(dtstart=start)


@lru_cache(maxsize=4096)
def parse_rule(text: str) -> Rule:
    """Return the parsed rule.

    Args:
        text: RFC 5545 rule without "RRULE:".

    Raises:
        InputError: The rule is malformed or not accepted; the message says why.
    """
    parts = _parts(text)
    until = parts.pop("UNTIL", None)
    _check_frequency(text, parts)
    if until is not None and "COUNT" in parts:
        raise InputError(f"{text!r} has both COUNT and UNTIL; keep one of them")
    return Rule(
        parts=parts,
        pattern=_pattern(text, parts),
        until=None if until is None else _until(text, until),
    )


@lru_cache(maxsize=4096)
def check_rule(text: str, start: datetime) -> None:
    """Make sure that a rule is accepted and happens at least once.

    Args:
        text: RFC 5545 rule without "RRULE:".
        start: Naive wall time the rule begins at.

    Raises:
        InputError: The rule is malformed, not accepted, or never happens.
    """
    rule = parse_rule(text)
    # The last full cycle of the calendar stands for all time: a rule that never happens is
    # found out after at most two cycles instead of after eight thousand years.
    cycles = max(0, (_LAST_YEAR - start.year) // _CYCLE_YEARS - 1)
    late = start.replace(year=start.year + cycles * _CYCLE_YEARS)
    if next(iter(rule.walls(late)), None) is None:
        raise InputError(
            f"{text!r} never occurs on or after {start:%Y-%m-%d}; correct its BY… parts"
        )


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for item in text.upper().strip().split(";"):
        name, equals, value = item.partition("=")
        if not equals or not value or name not in _PARTS:
            raise InputError(f"{text!r}: {item!r} is not a known part of a recurrence rule")
        if name in parts:
            raise InputError(f"{text!r} has {name} twice; keep one of them")
        parts[name] = value
    return parts


def _check_frequency(text: str, parts: Mapping[str, str]) -> None:
    if parts.get("FREQ") not in _FREQUENCIES:
        raise InputError(f"{text!r} needs FREQ=DAILY, WEEKLY, MONTHLY or YEARLY")
    for name, largest in (("INTERVAL", _MAX_INTERVAL), ("COUNT", _MAX_COUNT)):
        number = parts.get(name, "1")
        if not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= largest):
            raise InputError(f"{text!r}: {name} must be a whole number from 1 to {largest}")
    _check_ordinals(text, parts)
    a_day = 1
    for name in ("BYHOUR", "BYMINUTE"):
        a_day *= len(parts.get(name, "0").split(","))
    if a_day > _MAX_PER_DAY:
        raise InputError(
            f"{text!r} occurs more than {_MAX_PER_DAY} times a day; make it less frequent"
        )


def _check_ordinals(text: str, parts: Mapping[str, str]) -> None:
    is_by_month = parts["FREQ"] == "MONTHLY" or "BYMONTH" in parts
    largest = 5 if is_by_month else 53
    if any(int(number) > largest for number in re.findall(r"\d{1,9}", parts.get("BYDAY", ""))):
        raise InputError(f"{text!r}: BYDAY may number weekdays only up to {largest}")


def _pattern(text: str, parts: Mapping[str, str]) -> rrule:
    plain = ";".join(f"{name}={value}" for name, value in parts.items())
    try:
        pattern = rrulestr(plain, dtstart=_ANY_START)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError(f"{text!r} is not a recurrence rule: {error}") from error
    if not isinstance(pattern, rrule):
        raise InputError(f"{text!r} is more than one recurrence rule; keep one")
    return pattern


def _until(text: str, until: str) -> date | datetime:
    forms = {8: "%Y%m%d", 15: "%Y%m%dT%H%M%S", 16: "%Y%m%dT%H%M%SZ"}
    try:
        moment = datetime.strptime(until, forms.get(len(until), "?"))  # noqa: DTZ007 - may be local
    except ValueError as error:
        raise InputError(
            f"{text!r}: UNTIL must look like 20260630, 20260630T163000 or 20260630T213000Z"
        ) from error
    if len(until) == len("20260630"):
        return moment.date()
    return moment.replace(tzinfo=UTC) if until.endswith("Z") else moment


# When two spans of time share time; the one rule that search and conflicts go by.

_NO_BUFFER = timedelta()


def in_utc(span: Interval) -> Interval:
    """Return the same span in UTC, where adding and comparing mean what they say.

    Between wall times of one zone, Python reckons as if its clocks never changed.
    """
    return Interval(as_utc(span.start), as_utc(span.end))


def share_time(first: Interval, second: Interval, buffer: timedelta = _NO_BUFFER) -> bool:
    """Whether two spans share time or lie closer together than `buffer`.

    Touching ends do not count. A span without extent shares time with whatever starts at, or is
    going on at, its instant. The order of the two does not matter.

    Args:
        first: One span, in UTC.
        second: The other, in UTC.
        buffer: Gap to be kept free between the two, >= 0.
    """
    if first.start == second.start:
        return True
    return first.start < second.end + buffer and second.start < first.end + buffer


_MARGIN = timedelta(days=2)  # wall time and UTC differ by less than this, clock changes included
_INSTANT = timedelta(seconds=1)  # starts are whole seconds


def expand(event: Event, overrides: Iterable[Override], window: Interval) -> list[Occurrence]:
    """Return the occurrences that share time with a window, ordered by start.

    Cancelled occurrences are included, marked as such. Overrides of occurrences that the event's
    rule does not give are left out of account.

    Args:
        overrides: Those of this event; of other events' none.
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
        override: What was changed for this occurrence, if anything.
    """
    if not produces(event, original_start):
        return None
    found = occurrence_at(event, as_utc(original_start), override)
    return found if share_time(found.interval, in_utc(window)) else None


def produces(event: Event, original_start: datetime) -> bool:
    """Whether the event's rule gives an occurrence at this instant."""
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
