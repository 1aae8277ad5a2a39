"""Days, times, names and things as people say them: what words of requests and findings are made of. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import from_text
from kinkeeper.household.model import Household
from kinkeeper.language.text import enumerated, shorten, strip_controls
from kinkeeper.reading.times.time_text import MONTHS, WEEKDAYS, clock, is_day_first

# Days, times and rules of repetition as people say them. Pure.

_OF_RULE = {"MO": 0, "TU": 1, "WE": 2, "TH": 3, "FR": 4, "SA": 5, "SU": 6}
_WEEKDAYS = {"MO", "TU", "WE", "TH", "FR"}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_NEAR = {-1: "yesterday", 0: "today", 1: "tomorrow"}
_WEEK = 7
_MOST_DAYS = 4  # that are told one by one
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
        return f"on {WEEKDAYS[day.weekday()]}"
    if -_WEEK < away < 0:
        return f"last {WEEKDAYS[day.weekday()]}"
    return f"on {_date(day, today=today, locale=locale)}"


def moment_words(value: str, *, now: datetime, locale: str) -> str:
    """Return a day or an instant as it fits behind a sentence: "tomorrow at 5pm"; empty where it is neither.

    Args:
        value: ISO 8601: a date, or an instant with its offset.
        now: Aware, in the household's zone.
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
    """
    once, every = span_words(start, end, now=now, locale=locale), rule_words(rule)
    first = local(start, now=now)
    if not every or first is None:
        return once
    day = day_words(first.date(), today=now.date(), locale=locale)
    last = last_day(rule, today=now.date(), locale=locale)
    return f"{every}{once.removeprefix(day)}, from {_bare(day)}{last and f' to {last}'}"


def last_day(rule: str, *, today: date, locale: str) -> str:
    """Return the day until which something repeats: "7 June"; empty where its rule names none.

    Args:
        rule: RFC 5545, without its prefix.
        today: Local.
    """
    closes = _UNTIL.search(rule)
    if closes is None:
        return ""
    return _date(date.fromisoformat(closes["day"]), today=today, locale=locale)


def rule_words(rule: str) -> str:
    """Return a rule of repetition: "every Sunday", "every other week"; empty where it cannot be said shortly.

    Args:
        rule: RFC 5545, without its prefix.
    """
    parts = dict(part.split("=", 1) for part in rule.upper().split(";") if "=" in part)
    months = [int(each) for each in parts.get("BYMONTH", "").split(",") if each.isdigit()]
    often = _often(parts)
    if not often or not months or parts["FREQ"] == "YEARLY":
        return often
    others = [each for each in range(1, len(MONTHS) + 1) if each not in months]
    is_most = len(others) < len(months)
    told = enumerated([MONTHS[each - 1] for each in (others if is_most else months)])
    return f"{often} {'except in' if is_most else 'in'} {told}"


def _often(parts: Mapping[str, str]) -> str:
    """Return how often the parts of a rule repeat, whatever the months."""
    unit = _UNITS.get(parts.get("FREQ", ""))
    if unit is None:
        return ""
    days = [_OF_RULE[day] for day in parts.get("BYDAY", "").split(",") if day in _OF_RULE]
    every = {"1": "every", "2": "every other"}.get(interval := parts.get("INTERVAL", "1"))
    if days and unit == "week" and every:
        if set(parts["BYDAY"].split(",")) == _WEEKDAYS and interval == "1":
            return "every weekday"
        return f"{every} {enumerated([WEEKDAYS[day] for day in sorted(days)])}"
    nth = _NTH.fullmatch(parts.get("BYDAY", ""))
    if unit == "month" and every and nth is not None:
        return f"{every} {_ORDINALS[nth['which']]} {WEEKDAYS[_OF_RULE[nth['day']]]} of the month"
    if unit == "month" and every and parts.get("BYMONTHDAY", "").isdigit():
        return f"on day {parts['BYMONTHDAY']} of {every} month"
    told = f"{every} {unit}" if every else f"every {interval} {unit}s"
    return f"{told} on {enumerated([WEEKDAYS[day] for day in sorted(days)])}" if days else told


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
    month = MONTHS[day.month - 1]
    told = f"{day.day} {month}" if is_day_first(locale) else f"{month} {day.day}"
    return told if day.year == today.year else f"{told} {day.year}"


# What words of requests and findings are made of: whose times and names, what a thing is called.
# Pure.

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An identity, which names nothing to a person."""

_LONGEST = 140
_LONGEST_BODY = 400
_NAMES = ("title", "summary", "subject", "text", "name", "narrative", "value", "line")
MOST: Final = 6
"""Things that are named one after the other."""

_FEW = 2
TITLES = ("title", "summary", "find_by", "subject", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Whose words and times an answer uses.

    Attributes:
        household: Names, zone and locale.
        member: Id of the person spoken to.
        now: Aware, in the household's zone.
        text: What the person wrote.
    """

    household: Household
    member: str
    now: datetime
    text: str = ""

    def name(self, person: str) -> str:
        """Return how a member or somebody else is named to the person spoken to."""
        member = self.household.member(person)
        if person == self.member:
            return "you"
        return member.name if member else plain(person)


@dataclass(frozen=True, slots=True)
class Words:
    """A request as words are made of it.

    Attributes:
        done: The request and what became of it.
    """

    done: ActionResult
    setting: Setting

    def value(self, *names: str) -> Any:
        """Return the first of these that the receipt holds, else the plan, else None; an identity counts as nothing."""
        changes = self.done.params.get("changes")
        places = (
            self.done.result,
            changes if isinstance(changes, Mapping) else {},
            self.done.params,
        )
        return next(
            (
                place[name]
                for place in places
                for name in names
                if place.get(name) not in (None, "") and not _ID.fullmatch(str(place[name]))
            ),
            None,
        )

    @property
    def title(self) -> str:
        """What it is called, in quotation marks; "that" where nothing names it."""
        found = self.value(*TITLES)
        return f"“{plain(str(found))}”" if found else "that"

    @property
    def when(self) -> str:
        """When it is, with a space before it; empty where it has no time."""
        start = self.value("start", "start_time", "remind_at", "deadline", "on")
        end = self.value("end", "end_time")
        told = (
            ""
            if start is None
            else span_words(
                str(start),
                str(end) if end else None,
                now=self.setting.now,
                locale=self.setting.household.locale,
            )
        )
        return f" {told}" if told else ""

    @property
    def series(self) -> str:
        """When a new event is, with a space before it: how often, where it recurs."""
        start, end, rule = self.value("start"), self.value("end"), self.value("rrule")
        if start is None or not rule:
            return self.when
        told = series_words(
            str(start),
            str(end) if end else None,
            str(rule),
            now=self.setting.now,
            locale=self.setting.household.locale,
        )
        days = [
            day_words(
                date.fromisoformat(str(each)),
                today=self.setting.now.date(),
                locale=self.setting.household.locale,
            )
            for each in self.value("except_days") or ()
        ]
        if len(days) > _MOST_DAYS:
            days = [f"{len(days)} times {days[0]} to {days[-1].removeprefix('on ')}"]
        return f" {told}, except {enumerated(days)}" if days else f" {told}"

    @property
    def people(self) -> str:
        """To whom it goes, joined."""
        found = self.value("to", "sender_name", "who")
        people = found if isinstance(found, list | tuple) else [found] if found else []
        return enumerated([self.setting.name(str(each)) for each in people]) or "somebody"

    @property
    def body(self) -> str:
        """Its text, in quotation marks, with a space before it; empty where it has none."""
        found = self.value("body", "text")
        return f" “{plain(str(found), _LONGEST_BODY)}”" if found else ""


def plain(text: str, limit: int = _LONGEST) -> str:
    """Return words that somebody wrote on one line, without what is invisible, and not too long."""
    return shorten(" ".join(strip_controls(text).split()), limit)


def name_of(item: Mapping[str, Any]) -> str:
    """Return what something that was found is called."""
    return next((plain(str(item[name])) for name in _NAMES if item.get(name)), "something")


def few(told: Sequence[str], count: int, mark: str) -> str:
    """Return the first of some things, and how many more there are."""
    shown = f"{mark} ".join(told[:MOST])
    return f"{shown} and {count - MOST} more" if count > MOST else shown


def is_shown(done: ActionResult, items: Sequence[Any]) -> bool:
    """Whether a card shows a longer list, so that words need not."""
    return done.card is not None and len(items) > _FEW


def listed(value: Any) -> Sequence[Any]:
    """Return a value of a request as a row of values: of one thing a row of one, of none an empty one.

    Args:
        value: As a receipt or a plan has it.
    """
    return value if isinstance(value, list | tuple) else [value] if value else []
