"""Days, times and rules of repetition as people say them. Pure."""

import re
from datetime import date, datetime, timedelta

from kinkeeper.core.errors import InputError
from kinkeeper.core.time import from_text
from kinkeeper.language.text import enumerated
from kinkeeper.reading.times.regions import clock, is_day_first

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_OF_RULE = {"MO": 0, "TU": 1, "WE": 2, "TH": 3, "FR": 4, "SA": 5, "SU": 6}
_WEEKDAYS = {"MO", "TU", "WE", "TH", "FR"}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_NEAR = {-1: "yesterday", 0: "today", 1: "tomorrow"}
_WEEK = 7
_NTH = re.compile(r"(?P<which>[1-4]|-1)(?P<day>MO|TU|WE|TH|FR|SA|SU)")
_ORDINALS = {"1": "first", "2": "second", "3": "third", "4": "fourth", "-1": "last"}
_UNTIL = re.compile(r"UNTIL=(?P<day>\d{8})")


def day_words(day: date, *, today: date, locale: str) -> str:
    """Return a day as it fits behind a sentence: "tomorrow", "on Friday", "on 3 May".

    Args:
        day: Local.
        today: Local.
        locale: Decides the order of day and month.
    """
    away = (day - today).days
    if away in _NEAR:
        return _NEAR[away]
    if 0 < away < _WEEK:
        return f"on {_DAYS[day.weekday()]}"
    if -_WEEK < away < 0:
        return f"last {_DAYS[day.weekday()]}"
    return f"on {_date(day, today=today, locale=locale)}"


def moment_words(value: str, *, now: datetime, locale: str) -> str:
    """Return a day or an instant as it fits behind a sentence: "tomorrow at 5pm"; empty where it is neither.

    Args:
        value: ISO 8601: a date, or an instant with its offset.
        now: Aware, in the household's zone.
        locale: Of the household.
    """
    moment = local(value, now=now)
    if moment is None:
        return ""
    day = day_words(moment.date(), today=now.date(), locale=locale)
    return day if is_date(value) else f"{day} at {clock(moment.time(), locale)}"


def span_words(start: str, end: str | None, *, now: datetime, locale: str) -> str:
    """Return from when to when something is: "tomorrow from 5pm to 6pm", or its start alone.

    Args:
        start: ISO 8601.
        end: ISO 8601, if known.
        now: Aware, in the household's zone.
        locale: Of the household.
    """
    first, last = local(start, now=now), local(end or "", now=now)
    if first is None or last is None or last <= first:
        return moment_words(start, now=now, locale=locale)
    if is_date(start):
        days = (last.date() - first.date()).days + 1
        return _run_of_days(first.date(), days, today=now.date(), locale=locale)
    day = day_words(first.date(), today=now.date(), locale=locale)
    until = clock(last.time(), locale)
    if last.date() != first.date():
        until = f"{until} {day_words(last.date(), today=now.date(), locale=locale)}"
    return f"{day} from {clock(first.time(), locale)} to {until}"


def series_words(start: str, end: str | None, rule: str, *, now: datetime, locale: str) -> str:
    """Return when a series takes place: "every Monday from 7pm to 8pm, from 3 May to 7 June".

    Args:
        start: Of its first time, ISO 8601.
        end: Of its first time, if known.
        rule: RFC 5545, without its prefix.
        now: Aware, in the household's zone.
        locale: Of the household.
    """
    once, every = span_words(start, end, now=now, locale=locale), rule_words(rule)
    first = local(start, now=now)
    if not every or first is None:
        return once
    day = day_words(first.date(), today=now.date(), locale=locale)
    closes = _UNTIL.search(rule)
    last = (
        f" to {_date(date.fromisoformat(closes['day']), today=now.date(), locale=locale)}"
        if closes is not None else ""
    )  # fmt: skip
    return f"{every}{once.removeprefix(day)}, from {_bare(day)}{last}"


def rule_words(rule: str) -> str:
    """Return a rule of repetition: "every Sunday", "every other week"; empty where it cannot be said shortly.

    Args:
        rule: RFC 5545, without its prefix.
    """
    parts = dict(part.split("=", 1) for part in rule.upper().split(";") if "=" in part)
    unit = _UNITS.get(parts.get("FREQ", ""))
    if unit is None:
        return ""
    days = [_OF_RULE[day] for day in parts.get("BYDAY", "").split(",") if day in _OF_RULE]
    every = {"1": "every", "2": "every other"}.get(interval := parts.get("INTERVAL", "1"))
    if days and unit == "week" and every:
        if set(parts["BYDAY"].split(",")) == _WEEKDAYS and interval == "1":
            return "every weekday"
        return f"{every} {enumerated([_DAYS[day] for day in sorted(days)])}"
    nth = _NTH.fullmatch(parts.get("BYDAY", ""))
    if unit == "month" and every and nth is not None:
        return f"{every} {_ORDINALS[nth['which']]} {_DAYS[_OF_RULE[nth['day']]]} of the month"
    if unit == "month" and every and parts.get("BYMONTHDAY", "").isdigit():
        return f"on day {parts['BYMONTHDAY']} of {every} month"
    told = f"{every} {unit}" if every else f"every {interval} {unit}s"
    return f"{told} on {enumerated([_DAYS[day] for day in sorted(days)])}" if days else told


def local(value: str, *, now: datetime) -> datetime | None:
    """Return a day's midnight or an instant in the zone of `now`; None where the text is neither.

    Args:
        value: ISO 8601.
        now: Aware, in the household's zone.
    """
    try:
        if is_date(value):
            return datetime.fromisoformat(value).replace(tzinfo=now.tzinfo)
        return from_text(value).astimezone(now.tzinfo)
    except (ValueError, InputError):
        return None


def is_date(value: str) -> bool:
    """Whether an ISO 8601 text names a day and no time."""
    return "T" not in value and ":" not in value


def period_words(first: date, days: int, *, today: date, locale: str) -> str:
    """Return a run of days: "tomorrow", "in the next 7 days", "from Friday to Sunday".

    Args:
        first: Its first day.
        days: How many, > 0.
        today: Local.
        locale: Of the household.
    """
    if first == today and days > 1:
        return f"in the next {days} days"
    return _run_of_days(first, days, today=today, locale=locale)


def _run_of_days(first: date, days: int, *, today: date, locale: str) -> str:
    if days == 1:
        return day_words(first, today=today, locale=locale)
    last = first + timedelta(days=days - 1)
    return (
        f"from {_bare(day_words(first, today=today, locale=locale))} "
        f"to {_bare(day_words(last, today=today, locale=locale))}"
    )


def _bare(words: str) -> str:
    return words.removeprefix("on ")


def _date(day: date, *, today: date, locale: str) -> str:
    month = _MONTHS[day.month - 1]
    told = f"{day.day} {month}" if is_day_first(locale) else f"{month} {day.day}"
    return told if day.year == today.year else f"{told} {day.year}"
