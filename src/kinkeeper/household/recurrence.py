"""Recurrence rules: whether one can be used, and which days it gives. Local wall time throughout."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from kinkeeper.household.name_folding import did_you_mean

_FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_PARTS = (
    "FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYMONTH", "BYMONTHDAY", "BYYEARDAY",
    "BYWEEKNO", "BYSETPOS", "BYHOUR",
)  # fmt: skip
_UNTIL = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_DAYS = re.compile(r"([+-]?[1-9]\d?)?(MO|TU|WE|TH|FR|SA|SU)")
_MOST = 1000
_CALENDAR_CYCLE = 400  # years after which dates fall on the same weekdays again
_LAST_YEAR = 9999
_REACH = 17  # years: 29 February may be 8 away, and a rule may take only every second one


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A rule that can be used.

    Attributes:
        text: RFC 5545 rule in capitals, without prefix.
        rule: The same for computing, in naive local time.
        first: Its first occurrence at or after the start.
    """

    text: str
    rule: rrule
    first: datetime

    def gives(self, moment: datetime) -> bool:
        """Whether `moment` (naive, local) is one of the occurrences."""
        return bool(self.rule.between(moment, moment, inc=True))


def read_recurrence(text: str, start: datetime, zone: ZoneInfo) -> Recurrence:
    """Return the rule `text` for an event that starts at `start`.

    Args:
        text: RFC 5545 rule without prefix.
        start: Naive local time.
        zone: Zone of the household, in which an UNTIL in UTC is read.

    Raises:
        ValueError: The rule cannot be used; the message says why.
    """
    parts = _parts(text)
    _check_limits(parts)
    until = _until(parts["UNTIL"], zone) if "UNTIL" in parts else None
    if until is not None and until < start:
        raise ValueError(f"UNTIL={parts['UNTIL']} is before the start, {start:%Y-%m-%d %H:%M}")
    plain = {key: value for key, value in parts.items() if key not in {"UNTIL", "COUNT"}}
    first = _first(_rule(plain, start), start)
    if first is None or (until and first > until):
        raise ValueError("the rule does not match any day; check the numbers in it")
    rule = _rule(plain, start)
    if until is not None:
        rule = rule.replace(until=until)
    if "COUNT" in parts:
        rule = rule.replace(count=int(parts["COUNT"]))
    canonical = ";".join(f"{key}={value}" for key, value in parts.items())
    return Recurrence(text=canonical, rule=rule, first=first)


def _parts(text: str) -> dict[str, str]:
    """Return the parts of a rule by name, in their order."""
    parts: dict[str, str] = {}
    for part in text.replace(" ", "").upper().rstrip(";").split(";"):
        key, equals, value = part.partition("=")
        if not equals or not value:
            raise ValueError(f'"{part}" is not NAME=VALUE; write e.g. FREQ=WEEKLY;BYDAY=TU,TH')
        if key not in _PARTS:
            raise ValueError(f'unknown part "{key}" in a rule{did_you_mean(key, _PARTS)}')
        if key in parts:
            raise ValueError(f"the rule has {key} twice")
        parts[key] = value
    return parts


def _check_limits(parts: Mapping[str, str]) -> None:
    """Refuse what would never end, never happen, or is not defined."""
    frequency = parts.get("FREQ")
    if frequency not in _FREQUENCIES:
        said = "FREQ is missing" if frequency is None else f"FREQ={frequency} cannot be used"
        raise ValueError(
            f"{said}{did_you_mean(frequency or '', _FREQUENCIES)}; "
            f"use one of {', '.join(_FREQUENCIES)}"
        )
    for key in ("INTERVAL", "COUNT"):
        value = parts.get(key, "1")
        if not value.isdecimal() or not 1 <= int(value) <= _MOST:
            raise ValueError(f"{key}={value} must be a whole number from 1 to {_MOST}")
    if "COUNT" in parts and "UNTIL" in parts:
        raise ValueError("a rule can end with COUNT or UNTIL, but not both")
    for day in parts["BYDAY"].split(",") if "BYDAY" in parts else ():
        match = _DAYS.fullmatch(day)
        if match is None:
            raise ValueError(f"{day} in BYDAY is not a day; the days are MO TU WE TH FR SA SU")
        if match[1] and frequency not in {"MONTHLY", "YEARLY"}:
            raise ValueError(
                f"{day} in BYDAY: a number before the day needs FREQ=MONTHLY or YEARLY"
            )


def _until(value: str, zone: ZoneInfo) -> datetime:
    """Return the last moment of a rule in naive local time; of a bare date, the end of that day."""
    match = _UNTIL.fullmatch(value)
    if match is None:
        raise ValueError(f"UNTIL={value} is not a date; write UNTIL=20260630 or 20260630T235959Z")
    year, month, day, hour, minute, second = (int(number or 0) for number in match.groups()[:6])
    clock = (hour, minute, second) if match[4] else (23, 59, 59)
    try:
        moment = datetime.combine(date(year, month, day), time(*clock))
    except ValueError as error:
        raise ValueError(f"UNTIL={value} is not a real date") from error
    if match[7]:
        moment = moment.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    return moment


def _first(rule: rrule, start: datetime) -> datetime | None:
    """Return the first occurrence, or None where there is none for decades.

    The search for an impossible day ends only with the last year there is, thousands of years
    ahead; the same search in the last cycle of the calendar ends soon.
    """
    shift = (_LAST_YEAR - _REACH - start.year) // _CALENDAR_CYCLE * _CALENDAR_CYCLE
    try:
        late = next(iter(rule.replace(dtstart=start.replace(year=start.year + shift))), None)
    except IndexError as error:
        raise ValueError("BYDAY counts beyond the end of the month or year") from error
    return late.replace(year=late.year - shift) if late else None


def _rule(parts: Mapping[str, str], start: datetime) -> rrule:
    text = ";".join(f"{key}={value}" for key, value in parts.items())
    try:
        rule = rrulestr(text, dtstart=start)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"the rule cannot be read ({error})") from error
    if not isinstance(rule, rrule):
        raise ValueError("there must be exactly one RFC 5545 rule")  # noqa: TRY004 - a bad value to its reader
    return rule
