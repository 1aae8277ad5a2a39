"""Ranges on the calendar: both ends settle each other's half of the day, and the end never precedes the start."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from kinkeeper.reading.times.expressions import Expression
from kinkeeper.reading.times.grammar import Scope
from kinkeeper.reading.times.hours import OFFICES_OPEN, Habits, hour_of, is_certain
from kinkeeper.reading.times.model import SpanKind
from kinkeeper.reading.times.partial import Clock, Partial
from kinkeeper.reading.times.resolve import Resolved, resolve

_NIGHT_ENDS: Final = 4


def resolve_expression(found: Expression, scope: Scope, habits: Habits) -> Resolved | None:
    """Return what an expression means on the calendar, both ends of a range settled together; None where none does.

    Raises:
        ValueError: No calendar has such a day.
        OverflowError: The calendar ends before.
    """
    if found.finish is None:
        return resolve(found.start, scope, habits)
    if _is_of_this_morning(found.start, scope):
        habits = replace(habits, day_begins=OFFICES_OPEN)
    start, finish = _agree(found.start, found.finish, habits)
    begin = resolve(start, scope, habits)
    end = resolve(finish, scope, habits)
    if begin is None or end is None:
        return None
    until = end.begin if finish.clock is not None or finish.instant is not None else end.until
    is_same_day = finish.weekday in {None, start.weekday}
    if until <= begin.begin and finish.clock is not None and is_same_day:
        until = _on_day_of(begin.begin, until)
    if until <= begin.begin and finish.year is None and finish.month is not None:
        end = resolve(replace(finish, year=end.begin.year + 1), scope, habits)
        if end is None:
            return None
        until = end.until
    while until <= begin.begin and finish.weekday is not None:
        until = _next_day(until, 7)
    if until < begin.begin:
        return None
    kind = SpanKind.RECURRING if begin.recurrence else SpanKind.RANGE
    known = begin.is_meridiem_known or end.is_meridiem_known
    return replace(begin, kind=kind, until=until, is_meridiem_known=known)


def _is_of_this_morning(start: Partial, scope: Scope) -> bool:
    """Whether a range opens at an hour without a day that comes next, said before offices open ("between 8 and 10")."""
    is_open = start.clock is not None and start.part is None
    is_today = start.weekday is None and start.day is None and start.on is None
    is_early = _NIGHT_ENDS <= scope.reference.hour < OFFICES_OPEN
    return is_open and is_today and start.period is None and is_early


def _on_day_of(begin: datetime, until: datetime) -> datetime:
    """Return the time of day at which a span ends, on the day it begins or the next."""
    same = until.replace(year=begin.year, month=begin.month, day=begin.day)
    return same if same > begin else _next_day(same)


def _next_day(instant: datetime, days: int = 1) -> datetime:
    return instant + timedelta(days=days)


def _agree(start: Partial, finish: Partial, habits: Habits) -> tuple[Partial, Partial]:
    """Settle the halves of the day of a range's ends together: "3-4pm", "10-4", "9-5"."""
    first, last = start.clock, finish.clock
    if first is None or last is None:
        return start, finish
    if not is_certain(first, start.part) and last.half is not None:
        half = last.half
        if half == "pm" and (first.hour % 12, first.minute) > (last.hour % 12, last.minute):
            half = "am"
        return replace(start, clock=replace(first, half=half)), finish
    if not is_certain(first, start.part) and not is_certain(last, finish.part):
        hour = hour_of(first, start.part, habits)
        if first.hour < hour and (last.hour == 12 or last.hour < first.hour):
            hour = first.hour
        start = replace(start, clock=_settled(first, hour))
        return start, replace(finish, clock=_settled(last, _hour_after(last, hour, first)))
    if is_certain(first, start.part) and not is_certain(last, finish.part):
        hour = hour_of(first, start.part, habits)
        return start, replace(finish, clock=_settled(last, _hour_after(last, hour, first)))
    if is_certain(last, finish.part) and not is_certain(first, start.part):
        end = hour_of(last, finish.part, habits)
        hour = first.hour + 12 if first.hour + 12 <= end and first.hour < 12 else first.hour
        return replace(start, clock=_settled(first, hour)), finish
    return start, finish


def _hour_after(last: Clock, hour: int, first: Clock) -> int:
    """Return the nearest hour of `last` that lies after the beginning."""
    candidates = (last.hour % 12, last.hour % 12 + 12, last.hour % 12 + 24)
    return next(value for value in candidates if (value, last.minute) > (hour, first.minute))


def _settled(clock: Clock, hour: int) -> Clock:
    return replace(clock, hour=hour, half=None, is_sure=True)
