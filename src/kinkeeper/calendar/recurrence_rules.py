"""Recurrence rules: which ones are accepted, and what they say. Pure.

Accepted are rules that repeat by day, week, month or year, at most 24 times a day, and that do
happen some day. This keeps the cost of expanding a rule bounded, whoever wrote it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from math import lcm
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from kinkeeper.core.errors import InputError

_FREQUENCIES = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
_PARTS = frozenset({
    "FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS",
    "BYHOUR", "BYMINUTE", "BYYEARDAY", "BYWEEKNO", "WKST",
})  # fmt: skip
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
