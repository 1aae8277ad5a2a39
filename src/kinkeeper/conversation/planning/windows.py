"""The time that a question is about, as a window with a beginning and an end. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from kinkeeper.conversation.planning.case import Case
from kinkeeper.conversation.planning.message import TIME_MARK
from kinkeeper.conversation.planning.plan_times import NAMES_WEEKDAY
from kinkeeper.core.time import midnight
from kinkeeper.reading.times import read
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan
from kinkeeper.reading.times.partial import Period
from kinkeeper.reading.times.regions import week_start
from kinkeeper.reading.times.spans import month_of, week_of, weekend_of

_DAY, _HOUR, _WEEK = timedelta(days=1), timedelta(hours=1), timedelta(days=7)
_MOMENT = timedelta(microseconds=1)
_EARLIER: Final = (timedelta(days=7), timedelta(days=31), timedelta(days=366))
"""How long before now a day is looked for that somebody speaks of in the past: "on the 4th", "in June"."""

_SAME_TIME = re.compile(
    rf"\b(?:this|the same) time,? (?:the )?(?P<mark>{TIME_MARK})", re.IGNORECASE
)
_COMING = re.compile(
    r"(?:in |over |for |during )*(?:the )?(?:next|coming) (?:\d|few|couple|two|three|four|five|six|seven|ten)|(?:in |over |within |during )?the (?:next|coming) (?:week|month|year)\b",
    re.IGNORECASE,
)
"""Days from now on, today among them."""

_NOW = re.compile(r"\b(?:now|at the moment|currently)\b", re.IGNORECASE)
_AFTER = re.compile(
    rf"(?P<mark>{TIME_MARK}) after (?P<which>next|this(?: one)?|that(?: one)?|the next)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time that a question names.

    Attributes:
        begin: Aware, in the household's zone.
        until: Exclusive, aware.
        is_days: Whether whole days are meant.
        is_point: Whether a time of day without an end was named: "at 5".
        is_from_now: Whether it begins now, and ends with a day: "before Friday".
    """

    begin: datetime
    until: datetime
    is_days: bool
    is_point: bool = False
    is_from_now: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """What a list of events takes of it."""
        first, last = self.begin.date(), (self.until - _MOMENT).date()
        days: dict[str, Any] = {"from": first.isoformat(), "days_ahead": (last - first).days + 1}
        if self.is_days:
            return days
        if self.is_from_now:
            return {"days_ahead": (last - first).days}
        since, until = (f"{each:%H:%M}" for each in (self.begin, self.until))
        return days | {
            name: hour
            for name, hour in (("since", since), ("until", until))
            if hour != "00:00" and (name == "since" or first == last)
        }


def window_of(part: str, case: Case, *, is_past: bool = False) -> Window | None:
    """Return the time that a part of a message names, if it names any.

    Args:
        part: With marks.
        case: The message.
        is_past: Whether it is asked about what has been.
    """
    spans = [each for each in case.message.times(part) if each.kind is not SpanKind.DURATION]
    if is_past:
        spans = [_earlier(each, case) for each in spans]
    spans = [_moved(each, part, case) for each in spans]
    dated = next((each for each in spans if each.has_date), None)
    timed = next((each for each in spans if each.has_time), None)
    if dated is None and timed is None:
        return _now(case) or _recurring(spans, case)
    if dated is not None and is_past:
        dated = _over(dated, case)
    if dated is not None and timed is None:
        dated = _with_next_days(dated, spans)
    if timed is None or (dated is not None and dated is not timed and _is_long(dated)):
        return _days(dated or spans[0], case)
    if dated is not None and dated is not timed:
        timed = _on_day(timed, dated)
        if not is_past and timed.until <= case.now and NAMES_WEEKDAY.search(dated.surface):
            timed = replace(timed, begin=timed.begin + _WEEK, until=timed.until + _WEEK)
    elif timed.recurrence == "FREQ=DAILY":
        return None
    return _hours(timed, case)


def _with_next_days(dated: TimeSpan, spans: Sequence[TimeSpan]) -> TimeSpan:
    """Return days with those that are named beside them and follow at once: "Saturday and Sunday"."""
    for each in spans:
        if each.has_date and each.begin == dated.until and not each.recurrence:
            dated = replace(dated, until=each.until)
    return dated


def window_with(day: date, unit: str, case: Case) -> Window | None:
    """Return the weekend, week, month or day that a day lies in; None for other words.

    Args:
        day: Local.
        unit: "weekend", "week", "month" or "day".
        case: The message.
    """
    match unit.lower():
        case "weekend":
            period = weekend_of(day)
        case "week":
            period = week_of(day, week_start(case.household.locale))
        case "month":
            period = month_of(day.year, day.month)
        case "day":
            period = Period(day, day + _DAY, "day")
        case _:
            return None
    zone = case.household.zone
    return Window(
        begin=midnight(period.first, zone), until=midnight(period.after, zone), is_days=True
    )


def _is_long(span: TimeSpan) -> bool:
    return span.until - span.begin > 2 * _DAY


def _days(span: TimeSpan, case: Case) -> Window:
    zone, now = case.household.zone, case.now
    if _COMING.match(span.surface):
        begin = midnight(now.date(), zone)
        span = replace(span, begin=begin, until=begin + (span.until - span.begin))
    match span.bound:
        case "before":
            return Window(
                begin=now, until=max(span.begin, now + _HOUR), is_days=False, is_from_now=True
            )
        case "by" | "until":
            return Window(
                begin=now, until=max(span.until, now + _HOUR), is_days=False, is_from_now=True
            )
        case "after":
            return Window(begin=span.until, until=span.until + _WEEK, is_days=True)
        case "since":
            begin = span.begin if span.begin < now else span.begin - _WEEK
            return Window(begin=begin, until=now, is_days=True)
        case _:
            last = (span.until - _MOMENT).date()
            until = midnight(last + _DAY, zone)
            return Window(begin=midnight(span.begin.date(), zone), until=until, is_days=True)


def _hours(span: TimeSpan, case: Case) -> Window:
    end_of_day = midnight(span.begin.date() + _DAY, case.household.zone)
    match span.bound:
        case "before" | "by" | "until":
            day = midnight(span.begin.date(), case.household.zone)
            begin = max(day, case.now) if day <= case.now < span.begin else day
            return Window(begin=begin, until=span.begin, is_days=False)
        case "after" | "from":
            return Window(begin=span.begin, until=end_of_day, is_days=False)
        case _ if span.named is not None:
            return Window(begin=span.begin, until=end_of_day, is_days=False)
        case _:
            is_point = span.until - span.begin <= _HOUR and span.kind is not SpanKind.RANGE
            until = span.begin + _HOUR if is_point else span.until
            return Window(begin=span.begin, until=until, is_days=False, is_point=is_point)


def _now(case: Case) -> Window | None:
    if _NOW.search(case.message.text) is None:
        return None
    return Window(
        begin=case.now, until=case.now + timedelta(minutes=1), is_days=False, is_point=True
    )


def _recurring(spans: Sequence[TimeSpan], case: Case) -> Window | None:
    again = next((each for each in spans if each.recurrence and not each.has_time), None)
    return None if again is None else _days(again, case)


def _on_day(timed: TimeSpan, dated: TimeSpan) -> TimeSpan:
    begin = datetime.combine(dated.begin.date(), timed.begin.timetz())
    return replace(timed, begin=begin, until=begin + (timed.until - timed.begin))


def _earlier(span: TimeSpan, case: Case) -> TimeSpan:
    """Return the time that was last called so, where the words could also mean one to come."""
    if span.begin <= case.now or not span.has_date:
        return span
    for reach in _EARLIER:
        found = read(span.surface, case.now - reach, locale=case.household.locale)
        past = next((each for each in found if each.has_date and each.begin <= case.now), None)
        if past is not None:
            return past
    return span


def _over(span: TimeSpan, case: Case) -> TimeSpan:
    """Return the part of some days that is over, where it is asked about what has been."""
    today = midnight(case.now.date(), case.household.zone)
    return replace(span, until=today) if span.begin < today < span.until else span


def _moved(span: TimeSpan, part: str, case: Case) -> TimeSpan:
    """Return what "this time next week" and "the weekend after next" make of a time."""
    same, after = _SAME_TIME.search(part), _AFTER.search(part)
    if same is not None and case.message.spans[same["mark"]].surface == span.surface:
        return _whole_day(span, case) if span.grain is Grain.WEEK else span
    if after is not None and case.message.spans[after["mark"]].surface == span.surface:
        by = 2 * _WEEK if "next" in after["which"].lower() else _WEEK
        return replace(span, begin=span.begin + by, until=span.until + by)
    return span


def _whole_day(week: TimeSpan, case: Case) -> TimeSpan:
    """Return the day of another week that today is of this one."""
    days = (week.begin.date() - case.now.date()).days
    away = timedelta(days=-(-days // _WEEK.days) * _WEEK.days)
    begin = datetime.combine(case.now.date() + away, time(), tzinfo=case.household.zone)
    return replace(week, begin=begin, until=begin + _DAY, grain=Grain.DAY)
