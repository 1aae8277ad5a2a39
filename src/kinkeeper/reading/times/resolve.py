"""What filled slots mean on the calendar: the hour of a bare number, days, and ends of what recurs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Final

from kinkeeper.reading.times.calendar_days import (
    after_length,
    first_of_week,
    month_of,
    nth_weekday,
    on_wall,
    shifted,
)
from kinkeeper.reading.times.grammar import Scope
from kinkeeper.reading.times.model import Grain, SpanKind
from kinkeeper.reading.times.partial import WEEKDAY_CODES, Clock, Every, Partial, Period

# Which hour of the day a bare number means.

# Hours at which a part of the day begins and ends.
PARTS: Final[Mapping[str, tuple[float, float]]] = {
    "dawn": (6, 8),
    "breakfast": (7, 9),
    "morning": (8, 12),
    "noon": (12, 13),
    "lunch": (12, 14),
    "day": (8, 18),
    "business": (8, 18),
    "afternoon": (12, 18),
    "dinner": (18, 20),
    "evening": (18, 22),
    "tonight": (18, 24),
    "bedtime": (20, 21),
    "night": (20, 24),
}


OFFICES_OPEN: Final = 8
_FIRST_EARLY: Final = 6
_FIRST_LISTED: Final = 5
"""Before it nobody is reminded of anything several times a day."""
_LAST_EVENING_HOUR: Final = 11
_NEAR_MINUTES: Final = 120
_NOON: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What decides the half of the day where nobody said it.

    Attributes:
        morning_begins: Hour from which a bare one is of the morning, where the words around speak of that.
        day_begins: Hour from which a bare one is of the morning, where the words around speak of working days or offices.
        is_early: Whether they speak of what begins to the minute, and may do so before offices open.
        is_late: Whether they speak of what people do when work and school are over.
        is_evening: Whether the words around speak of what people do at the end of the day.
        usual_hour: Usual start of the activity talked about.
        names_day: Whether a day is named anywhere, so that an hour without one is not of now.
        recurs: Whether it is of what comes again.
    """

    morning_begins: int | None = None
    day_begins: int | None = None
    is_early: bool = False
    is_late: bool = False
    is_evening: bool = False
    usual_hour: time | None = None
    names_day: bool = False
    recurs: bool = False

    @property
    def says_no_half(self) -> bool:
        """Whether nothing around an hour says of which half of the day it is, so that the time it is now does."""
        known = (self.morning_begins, self.day_begins, self.usual_hour)
        return known == (None, None, None) and not self.recurs


def hour_of(clock: Clock, part: str | None, habits: Habits) -> int:
    """Return the hour (0 to 24) that a clock means.

    A half that was said wins, then a part of the day, then the words around (breakfast), then the usual hour, then what is
    done in the evening, then family life: 1 to 8 lie in the afternoon and evening, 9 to 12 are what they say. Offices open at 8, and what
    recurs on all working days at 6 to 8 does before they do.
    """
    hour = clock.hour
    if clock.half == "am":
        return hour % 12
    if clock.half == "pm":
        return hour % 12 + 12
    if clock.is_sure or hour > 12:
        return hour
    if part is not None:
        return _hour_in_part(hour, part)
    if habits.morning_begins is not None and habits.morning_begins <= hour <= 11:
        return hour
    usual = _in_usual_half(clock, habits.usual_hour)
    if usual is not None:
        return usual
    is_of_day = habits.day_begins is not None and habits.day_begins <= hour <= OFFICES_OPEN
    is_of_day |= is_early_hour(clock, habits)
    if habits.is_evening:
        return hour + 12 if hour <= _LAST_EVENING_HOUR else hour
    return hour + 12 if 1 <= hour <= 8 and not is_of_day else hour


def is_early_hour(clock: Clock, habits: Habits) -> bool:
    """Whether a clock to the minute is one of the early morning by what is talked about: "the train at 6.52"."""
    return clock.has_minute and habits.is_early and not habits.is_late and _is_early(clock)


def is_half_open(clock: Clock, part: str | None, habits: Habits) -> bool:
    """Whether nothing says which half of the day a time to the minute is of, and both are likely: "Ada's thing at 7.15"."""
    is_known = is_certain(clock, part) or habits.is_evening or habits.is_early != habits.is_late
    return clock.has_minute and _is_early(clock) and habits.says_no_half and not is_known


def _is_early(clock: Clock) -> bool:
    return _FIRST_EARLY <= clock.hour <= OFFICES_OPEN


def _in_usual_half(clock: Clock, usual: time | None) -> int | None:
    """Return the hour in the half of the day in which it is near to a usual start; None where it is near in neither."""
    if usual is None or clock.hour > _NOON:
        return None
    hours = (clock.hour % _NOON, clock.hour % _NOON + _NOON)
    apart = {each: abs(each * 60 + clock.minute - usual.hour * 60 - usual.minute) for each in hours}
    nearest = min(hours, key=apart.__getitem__)
    return nearest if apart[nearest] <= _NEAR_MINUTES else None


def in_order(clocks: Sequence[Clock], habits: Habits) -> Sequence[Clock]:
    """Return the hours of a list in the halves of one day in which they follow one another; as they are where none are.

    "8, 2 and 8" begins in the morning, and beside an hour from 13 on ("8 and 20") the others are of that clock, too.
    """
    times = [(hour_of(each, None, habits), each.minute) for each in clocks]
    if any(each.half is None and each.hour > _NOON for each in clocks):
        times = [(each.hour, each.minute) for each in clocks]
    elif _is_rising(times) and not times[0] < (_NOON, 0) <= times[-1]:
        return clocks
    if not _is_rising(times):
        times = [(_FIRST_LISTED, 0)]
        for each in clocks:
            halves = (each.hour % _NOON, each.hour % _NOON + _NOON)
            open_ = halves if not is_certain(each, None) else (hour_of(each, None, habits),)
            times += [(hour, each.minute) for hour in open_ if (hour, each.minute) > times[-1]][:1]
        del times[0]
    if len(times) != len(clocks):
        return clocks
    return [
        replace(each, hour=hour, half=None, is_sure=True)
        for each, (hour, _) in zip(clocks, times, strict=True)
    ]


def _is_rising(times: Sequence[tuple[int, int]]) -> bool:
    return all(first < last for first, last in pairwise(times))


def _hour_in_part(hour: int, part: str) -> int:
    if part in {"morning", "dawn", "breakfast"}:
        return hour % 12 if hour == 12 else hour
    if part in {"night", "tonight"}:
        return (24 if hour == 12 else hour) if hour == 12 or hour <= 3 else hour + 12
    if part in {"noon", "lunch", "day", "business"}:
        return hour if 8 <= hour <= 12 else hour + 12
    return 12 if hour == 12 else hour + 12


def is_certain(clock: Clock, part: str | None) -> bool:
    """Whether the half of the day was said, or follows from the form."""
    return clock.half is not None or clock.is_sure or clock.hour > 12 or part is not None


_MIDNIGHT: Final = 24
_WORKING_DAYS_BEGIN: Final = 6
_WORKING_DAYS: Final = frozenset(range(5))
_LATE_LAST_HOUR: Final = 21
_NEAR: Final = timedelta(days=40)
"""Further away than that nobody means a day of the month by its weekday alone."""
_HALF_A_YEAR: Final = timedelta(days=183)
_NIGHT_ENDS: Final = 6
"""Hours before it are still of the night that began the evening before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A partial on the calendar: everything of a span but its place in the text."""

    kind: SpanKind
    begin: datetime
    until: datetime
    grain: Grain
    recurrence: str | None = None
    is_meridiem_known: bool = True
    is_half_open: bool = False


def resolve(partial: Partial, scope: Scope, habits: Habits) -> Resolved | None:
    """Return what one expression without a second end means, or None where no calendar has it."""
    if partial.every is not None:
        return _recurring(partial, partial.every, scope, habits)
    if partial.instant is not None:
        return _instant(partial, partial.instant)
    if partial.length is not None:
        return _with_length(partial, scope, habits)
    day = day_of(partial, scope, habits)
    if partial.clock is not None:
        return _clocked(partial, partial.clock, day, scope=scope, habits=habits)
    if partial.part is not None:
        return _part_of_day(partial, partial.part, day, scope)
    if day is not None:
        return _days(day, day + timedelta(days=1), scope, kind=SpanKind.DATE, grain=Grain.DAY)
    period = period_of(partial, scope)
    if period is None:
        return None
    return _of_period(period, scope)


def _of_period(period: Period, scope: Scope) -> Resolved:
    grain = {
        "week": Grain.WEEK,
        "month": Grain.MONTH,
        "year": Grain.YEAR,
        "quarter": Grain.MONTH,
        "season": Grain.DAY,
        "decade": Grain.YEAR,
    }.get(period.grain, Grain.DAY)
    kind = SpanKind.DATE if period.grain in {"week", "month", "year"} else SpanKind.RANGE
    return _days(period.first, period.after, scope, kind=kind, grain=grain)


def _days(first: date, after: date, scope: Scope, *, kind: SpanKind, grain: Grain) -> Resolved:
    begin = on_wall(datetime.combine(first, time()), scope.reference)
    until = on_wall(datetime.combine(after, time()), scope.reference)
    return Resolved(kind=kind, begin=begin, until=until, grain=grain)


def _instant(partial: Partial, instant: datetime) -> Resolved:
    if partial.length is not None:
        other = after_length(instant, partial.length)
        first, last = min(instant, other), max(instant, other)
        return Resolved(kind=SpanKind.RANGE, begin=first, until=last, grain=Grain.MINUTE)
    grain = Grain(partial.instant_grain or "minute")
    step = timedelta(seconds=1) if grain is Grain.SECOND else timedelta(minutes=1)
    return Resolved(kind=SpanKind.DATETIME, begin=instant, until=instant + step, grain=grain)


def _with_length(partial: Partial, scope: Scope, habits: Habits) -> Resolved | None:
    length = partial.length
    if length is None:
        return None
    plain = resolve(replace(partial, length=None), scope, habits)
    if plain is None:
        until = after_length(scope.reference, length)
        grain = Grain("day" if length.grain == "business" else length.grain)
        return Resolved(kind=SpanKind.DURATION, begin=scope.reference, until=until, grain=grain)
    until = after_length(plain.begin, length)
    return replace(plain, kind=SpanKind.RANGE, until=max(until, plain.begin))


def _clocked(
    partial: Partial, clock: Clock, day: date | None, *, scope: Scope, habits: Habits
) -> Resolved | None:
    hour = hour_of(clock, partial.part, habits)
    if hour == 0 and clock.half is None and _ends_morning(partial, clock):
        hour = _NOON
    has_date = day is not None
    if day is None:
        period = partial.period
        day = period.first if period is not None else scope.reference.date()
        has_date = period is not None
    if partial.part == "tonight" and hour < _NIGHT_ENDS:
        day += timedelta(days=1)
    begin = clock_on(day, hour, clock, scope)
    if day == scope.reference.date() and begin < scope.reference - timedelta(minutes=1):
        is_early = is_early_hour(clock, habits)
        is_open = (habits.says_no_half or is_early) and not is_certain(clock, partial.part)
        is_tonight = (hour in {9, 10} or is_early) and not habits.names_day
        if is_open and scope.reference.hour < hour + 12 < _MIDNIGHT and (has_date or is_tonight):
            # "At 9", said after 9, means this evening.
            begin = clock_on(day, hour + 12, clock, scope)
        elif not has_date:
            begin = clock_on(day + timedelta(days=1), hour, clock, scope)
    grain = Grain.HOUR if not clock.has_minute else Grain.MINUTE
    step = timedelta(hours=1) if grain is Grain.HOUR else timedelta(minutes=1)
    if clock.second is not None:
        grain, step = Grain.SECOND, timedelta(seconds=1)
    return Resolved(
        kind=SpanKind.DATETIME if has_date else SpanKind.TIME,
        begin=begin,
        until=begin + step,
        grain=grain,
        is_meridiem_known=is_certain(clock, partial.part) or habits.morning_begins is not None,
        is_half_open=is_half_open(clock, partial.part, habits)
        and (day, hour) > (scope.reference.date(), scope.reference.hour),
    )


def _ends_morning(partial: Partial, clock: Clock) -> bool:
    """Whether a 12 is the noon up to which a morning lasts ("Monday morning until 12")."""
    is_twelve = (clock.hour, clock.minute) == (_NOON, 0)
    return is_twelve and partial.part == "morning" and partial.bound in {"until", "before", "by"}


def clock_on(day: date, hour: int, clock: Clock, scope: Scope) -> datetime:
    """Return the instant of a clock on a day; hour 24 is the midnight that ends it."""
    midnight = datetime.combine(day, time())
    wall = midnight + timedelta(hours=hour, minutes=clock.minute, seconds=clock.second or 0)
    return on_wall(wall, scope.reference)


def _part_of_day(partial: Partial, part: str, day: date | None, scope: Scope) -> Resolved:
    first, last = PARTS[part]
    if partial.shade == "early":
        last = (first + last) / 2
    elif partial.shade == "late":
        first = (first + last) / 2
    has_date = day is not None or partial.period is not None
    if day is None and partial.period is not None:
        day = partial.period.first
    day = scope.reference.date() if day is None else day
    midnight = datetime.combine(day, time())
    begin, until = (
        on_wall(midnight + timedelta(hours=hours), scope.reference) for hours in (first, last)
    )
    if not has_date and until <= scope.reference:
        midnight += timedelta(days=1)
        begin, until = (
            on_wall(midnight + timedelta(hours=hours), scope.reference) for hours in (first, last)
        )
    kind = SpanKind.DATETIME if has_date else SpanKind.TIME
    return Resolved(kind=kind, begin=begin, until=until, grain=Grain.HOUR)


def day_of(partial: Partial, scope: Scope, habits: Habits) -> date | None:
    """Return the single day that a partial names, if it does.

    Raises:
        ValueError: No calendar has such a day.
    """
    today = scope.reference.date()
    if partial.on is not None:
        return partial.on
    if partial.day is not None:
        return _numbered_day(partial, partial.day, today)
    if partial.weekday is None:
        return None
    weekday = partial.weekday
    if partial.period is not None:
        first = partial.period.first
        return first + timedelta(days=(weekday - first.weekday()) % 7)
    if partial.lean in {1, -1}:
        week = first_of_week(today, scope.week_start) + timedelta(days=7 * int(partial.lean or 0))
        return week + timedelta(days=(weekday - week.weekday()) % 7)
    if partial.lean == -2:
        return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    ahead = (weekday - today.weekday()) % 7
    if ahead == 0 and partial.lean != 0 and _is_over(partial, scope, habits):
        ahead = 7
    return today + timedelta(days=ahead)


def _is_over(partial: Partial, scope: Scope, habits: Habits) -> bool:
    """Whether what is meant cannot lie later today."""
    reference = scope.reference
    if partial.lean == 2:
        return True
    if partial.clock is not None:
        hour = hour_of(partial.clock, partial.part, habits)
        return clock_on(reference.date(), hour, partial.clock, scope) <= reference
    if partial.part is not None:
        return reference.hour >= PARTS[partial.part][1]
    return reference.hour >= _LATE_LAST_HOUR


def _numbered_day(partial: Partial, day: int, today: date) -> date | None:
    """Return the day of a date of which the year, or month and year, may be missing."""
    weekday, is_over = partial.weekday, partial.lean == -2
    if partial.month is not None:
        if partial.year is not None:
            return date(partial.year, partial.month, day)
        years = range(today.year, today.year + 9)
        if partial.lean in {-1, -2} and weekday is None:
            years = range(today.year, today.year - 9, -1)
            candidates = _valid((year, partial.month, day) for year in years)
            return next(
                found for found in candidates if found < today or (is_over and found == today)
            )
        dates = _valid((year, partial.month, day) for year in years)
        if dates[0].weekday() == weekday and today - dates[0] < _HALF_A_YEAR:
            return dates[0]
        return next(found for found in dates if found >= today)
    if partial.period is not None:
        return _day_in(partial.period, day, weekday)
    way = -1 if is_over else 1
    months = [month_of(today.year, today.month + way * step).first for step in range(30)]
    dates = [
        found
        for found in _valid((first.year, first.month, day) for first in months)
        if (found - today).days * way >= 0
    ]
    near = (found for found in dates if abs(found - today) <= _NEAR)
    return next((found for found in near if found.weekday() == weekday), dates[0])


def other_day(partial: Partial, scope: Scope, habits: Habits) -> date | None:
    """Return the day of the weekday of a partial that lies nearest to its date, which is none of that name; None where they agree.

    Raises:
        ValueError: No calendar has such a day.
    """
    if partial.weekday is None or partial.day is None or partial.every is not None:
        return None
    day = day_of(partial, scope, habits)
    away = 0 if day is None else (partial.weekday - day.weekday() + 3) % 7 - 3
    if day is None or not away:
        return None
    other, today = day + timedelta(days=away), scope.reference.date()
    return other + timedelta(days=7) if other < today <= day else other


def _day_in(period: Period, day: int, weekday: int | None) -> date:
    """Return a day of a month; with a weekday that it is not, the first to fifth of those."""
    found = date(period.first.year, period.first.month, day)
    if weekday is None or found.weekday() == weekday or day > 5:
        return found
    return nth_weekday(found.year, found.month, weekday, day)


def _valid(candidates: Iterable[tuple[int, int, int]]) -> list[date]:
    found = []
    for year, month, day in candidates:
        try:
            found.append(date(year, month, day))
        except ValueError:
            continue
    if not found:
        raise ValueError("no such day")
    return found


def period_of(partial: Partial, scope: Scope) -> Period | None:
    """Return the span of days that a partial without a single day names, if it does."""
    today = scope.reference.date()
    if partial.month is not None:
        year = partial.year
        if year is None:
            year = today.year if partial.month >= today.month else today.year + 1
            if partial.lean in {-1, -2}:
                year = today.year if partial.month < today.month else today.year - 1
            elif partial.lean == 1 and partial.month == today.month:
                year = today.year + 1
        return month_of(year, partial.month)
    if partial.year is not None and partial.period is None:
        return Period(date(partial.year, 1, 1), date(partial.year + 1, 1, 1), "year")
    return partial.period


def _recurring(partial: Partial, every: Every, scope: Scope, habits: Habits) -> Resolved | None:
    once = replace(partial, every=None, opens=None, closes=None, length=None)
    habits = replace(habits, recurs=True)
    if once.weekday is not None and once.day is None and "MONTHLY" in every.rule:
        return None  # "every two months on Friday" does not say which
    if set(every.weekdays) == _WORKING_DAYS:
        habits = replace(habits, day_begins=_WORKING_DAYS_BEGIN)
    today = scope.reference.date()
    named = day_of(once, scope, habits) if once.day is not None else None
    opens = max(today, partial.opens or named or today)
    found = _once(once, once.on or _first_of(every, opens), scope, habits)
    if found is not None and found.until <= scope.reference:
        found = _once(once, _first_of(every, today + timedelta(days=1)), scope, habits)
    if found is None:
        return None
    text = every.text(_last_day(partial, found.begin.date()))
    return replace(found, kind=SpanKind.RECURRING, recurrence=text)


def _once(once: Partial, on: date, scope: Scope, habits: Habits) -> Resolved | None:
    plain = replace(once, on=on, weekday=None, period=None, day=None, month=None, year=None)
    return resolve(plain, scope, habits)


def _last_day(partial: Partial, first: date) -> date | None:
    """Return the last day of a recurrence, where one was said ("until Friday", "for six weeks")."""
    length = partial.length
    if partial.closes is not None or length is None or not (length.days or length.months):
        return partial.closes
    return shifted(first, length) - timedelta(days=1)


def _first_of(every: Every, day: date) -> date:
    if every.weekdays:
        return min(
            day + timedelta(days=(weekday - day.weekday()) % 7) for weekday in every.weekdays
        )
    marker = every.rule.partition("BYDAY=")[2]
    if marker:
        which, weekday = int(marker[:-2]), WEEKDAY_CODES.index(marker[-2:])
        first = nth_weekday(day.year, day.month, weekday, which)
        if first < day:
            following = month_of(day.year, day.month + 1).first
            first = nth_weekday(following.year, following.month, weekday, which)
        return first
    marker = every.rule.partition("BYMONTHDAY=")[2]
    if marker:
        found = day
        while found.day != int(marker):
            found += timedelta(days=1)
        return found
    return day


# Where what recurs begins and ends: "from the 3rd", "until Christmas", "in May".

BOUNDS: Final = {
    "by": "by", "before": "before", "b4": "before", "bfr": "before", "until": "until", "till": "until",
    "til": "until", "untill": "until", "after": "after", "aft": "after", "aftr": "after", "since": "since",
    "from": "from", "starting": "from", "beginning": "from",
}  # fmt: skip


def bounded(partial: Partial, day: Partial, joints: Sequence[str], scope: Scope) -> Partial | None:
    """Return a recurrence with its first or last day ("from the 3rd", "until Christmas", "in May"); None for others."""
    if partial.every is None or not is_day_only(day):
        return None
    bounds = {BOUNDS[word] for word in joints if word in BOUNDS}
    try:
        first, last = _edges(day, scope, bounds)
    except (ValueError, OverflowError):
        return None
    if first is None or last is None or (day.has_day and not bounds):
        return None
    if not bounds:
        return replace(partial, opens=first, closes=last, is_weak=False)
    if "until" in bounds:
        return replace(partial, closes=last, is_weak=False)
    if "before" in bounds:
        return replace(partial, closes=first - timedelta(days=1), is_weak=False)
    return replace(partial, opens=first, is_weak=False) if "from" in bounds else None


def is_end(partial: Partial, other: Partial, joints: Sequence[str]) -> bool:
    """Whether what is said next ends a time instead of completing it: "at 7 until Christmas", "3 until 5"."""
    is_until = any(BOUNDS.get(word) == "until" for word in joints)
    has_hour = partial.clock is not None or partial.number is not None
    if not is_until or not (has_hour or partial.part):
        return False
    return not partial.has_date if is_day_only(other) else has_hour


def is_day_only(partial: Partial) -> bool:
    """Whether only a day is said, or a span of days."""
    return partial.has_date and not partial.has_time and partial.every is None


def _edges(day: Partial, scope: Scope, bounds: Collection[str]) -> tuple[date | None, date | None]:
    """Return the first and last day of what was said; "until" a month or week that is named ends before it.

    Until "Sunday", said on a Sunday, is until the next one.
    """
    found = day_of(day, scope, Habits())
    if found is not None:
        is_bare = day == Partial(weekday=day.weekday) and found == scope.reference.date()
        if is_bare and not {"until", "before"}.isdisjoint(bounds):
            found += timedelta(days=7)
        return found, found
    period = period_of(day, scope)
    if period is None:
        return None, None
    is_whole = not bounds or period.grain == "day"
    return period.first, (period.after if is_whole else period.first) - timedelta(days=1)
