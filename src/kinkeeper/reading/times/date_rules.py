"""Rules for days, weeks, months, quarters, seasons and holidays."""

from dataclasses import replace
from datetime import date, timedelta

from kinkeeper.reading.times.calendar_days import (
    Holiday,
    edge_of,
    month_of,
    nth_weekday,
    quarter_of,
    season_of,
    steps_of,
    unit_of,
    week_of,
    weekend_of,
)
from kinkeeper.reading.times.grammar import Grammar, Scope
from kinkeeper.reading.times.partial import Partial, Period, sure_clock

DATES = Grammar()

_CENTURY_TURN = 50
_FARTHEST_YEAR = 20
_EARLIEST_YEAR = 1900


def full_year(year: int, *, digits: int = 4) -> int | None:
    """Return four digits of a year given with two or four; None for three."""
    if digits == 4:
        return year if 1000 <= year <= 2999 else None
    if digits != 2:
        return None
    return year + (2000 if year < _CENTURY_TURN else 1900)


def checked(year: int | None, month: int, day: int) -> Partial | None:
    """Return a numeric date, or None when no calendar has it."""
    try:
        date(year or 2000, month, day)
    except ValueError:
        return None
    return Partial(year=year, month=month, day=day)


@DATES.rule("ISO")
def iso_time(_: Scope, text: str) -> Partial | None:
    """2015-07-31T12:00:00."""
    day, clock = text.removesuffix("z").split("t")
    year, month, number = (int(part) for part in day.split("-"))
    hour, minute, *seconds = clock.split(".")[0].split(":")
    if int(hour) > 24 or int(minute) > 59 or checked(year, month, number) is None:
        return None
    second = int(seconds[0]) if seconds else None
    sure = sure_clock(int(hour), int(minute), second)
    return Partial(year=year, month=month, day=number, clock=sure)


@DATES.rule("DATE3")
def numeric_date(scope: Scope, text: str) -> Partial | None:
    """2018-03-05, 3/15/2016, 26.9.2017, 13/04/21."""
    separator = next(sign for sign in text if not sign.isdigit())
    parts = text.split(separator)
    first, second, third = (int(part) for part in parts)
    if len(parts[0]) == 4:
        return (
            checked(full_year(first), second, third) if len(parts[2]) == 2 or third < 32 else None
        )
    year = full_year(third, digits=len(parts[2]))
    if (
        year is None
        or len(parts[0]) > 2
        or (
            separator == "-"
            and len(parts[2]) == 2
            and first < 13
            and second < 13
            and not third > 12
        )
    ):
        return None
    day_first = scope.is_day_first or separator == "."
    for day, month in (
        ((first, second), (second, first)) if day_first else ((second, first), (first, second))
    ):
        found = checked(year, month, day)
        if found is not None and 1900 <= year <= 2199:
            return found
        if found is not None and separator == "." and year // 100 <= 24 and year % 100 < 60:
            return Partial(day=day, month=month, clock=sure_clock(year // 100, year % 100))
    return None


@DATES.rule("COMPACT")
def compact_date(_: Scope, value: int) -> Partial | None:
    """20200701."""
    year = value // 10000
    return checked(year, value // 100 % 100, value % 100) if 1900 <= year <= 2199 else None


@DATES.rule("YEAR DAYNUM DAYNUM")
def spaced_date(_: Scope, year: int, month: int, day: int) -> Partial | None:
    """2016 10 16."""
    return checked(year, month, day)


@DATES.rule("REL? FRACTION")
def slashed(scope: Scope, lean: int | None, text: str) -> Partial | None:
    """3/15 by the locale's order, the other order where only that is a date."""
    first, second = (int(part) for part in text.split("/"))
    found = _in_order(first, second, year=None, is_day_first=scope.is_day_first)
    return None if found is None else replace(found, lean=lean)


@DATES.rule("FRACTION , YEAR")
def slashed_year(scope: Scope, text: str, year: int) -> Partial | None:
    """5/7, 2020."""
    first, second = (int(part) for part in text.split("/"))
    return _in_order(first, second, year=year, is_day_first=scope.is_day_first)


def _in_order(*numbers: int, year: int | None, is_day_first: bool) -> Partial | None:
    """Return the date of two numbers in the wanted order, else in the other."""
    first, second = numbers
    orders = [(first, second), (second, first)]
    for day, month in orders if is_day_first else reversed(orders):
        found = checked(year, month, day)
        if found is not None:
            return found
    return None


@DATES.rule("the? DAYNUM|ORDINAL day|day's? of|-|/|.? the? MONTH")
@DATES.rule("the? ORDINAL of? MONTH")
def day_month(_: Scope, day: int, month: int) -> Partial | None:
    """The 3rd of March, 15 mar, 05-Aug."""
    return checked(None, month, day)


@DATES.rule("MONTH .|-|/|,? the? ORDINAL|DAYNUM")
def month_day(_: Scope, month: int, day: int) -> Partial | None:
    """March 3rd, May/22."""
    return checked(None, month, day)


@DATES.rule(
    "the? DAYNUM|ORDINAL of|-|/|.? MONTH .? of|-|/|,? ' ~INT",
    "the? DAYNUM|ORDINAL of|-|/|.? MONTH .? of|in|-|/|,? YEAR",
)
def day_month_year(_: Scope, day: int, month: int, year: int) -> Partial | None:
    """3 March 2018, 05-Aug-2016."""
    if year > 99:
        return month_day_year(_, month, day, year)
    full = full_year(year, digits=2)
    return checked(full, month, day) if full else None


@DATES.rule("MONTH .|-|/? the? ORDINAL|DAYNUM of|in|-|/|,? YEAR")
def month_day_year(scope: Scope, month: int, day: int, year: int) -> Partial | None:
    """March 3rd, 2018; a far year that can be a time is one: 3 Dec 2125.

    Raises:
        ValueError: No calendar has this day; reading less of it would be wrong too.
    """
    found = checked(year, month, day)
    if found is None:
        raise ValueError("no such day")
    is_far = year > scope.reference.year + _FARTHEST_YEAR or year < _EARLIEST_YEAR
    if is_far and year % 100 < 60 and year < 2400:
        return Partial(month=month, day=day, clock=sure_clock(year // 100, year % 100))
    return found


@DATES.rule("DAYNUM -|/ ~MONTH -|/ ~DAYNUM", "MONTH -|/ ~DAYNUM -|/ ~DAYNUM")
def short_year(_: Scope, first: int, second: int, year: int) -> Partial | None:
    """31/Oct/74 is told from Oct-31-74 by trying."""
    return checked(full_year(year, digits=2), second, first)


@DATES.rule("YEAR -|/|. ~DAYNUM -|/|. ~MONTH")
def year_day_month(_: Scope, year: int, day: int, month: int) -> Partial | None:
    """2020/23/Sep."""
    return checked(year, month, day)


@DATES.rule("YEAR -|/ ~MONTH -|/ ~DAYNUM")
def year_month_day(_: Scope, year: int, month: int, day: int) -> Partial | None:
    """2019-aug-01."""
    return checked(year, month, day)


@DATES.rule("MONTH - ~YEAR - ~DAYNUM")
def month_year_day(_: Scope, month: int, year: int, day: int) -> Partial | None:
    """September-2020-23."""
    return checked(year, month, day)


@DATES.rule("DAYNUM - ~YEAR - ~MONTH")
def day_year_month(_: Scope, day: int, year: int, month: int) -> Partial | None:
    """23-2020-September."""
    return checked(year, month, day)


@DATES.rule("MONTH .? of|-|/|,|in? YEAR", "MONTH -|/ YEAR")
def month_year(_: Scope, month: int, year: int) -> Partial:
    """July 2019."""
    return Partial(year=year, month=month)


@DATES.rule("MONTH of? ' ~INT", "MONTH of INT")
def month_short_year(_: Scope, month: int, year: int) -> Partial | None:
    """April of '87."""
    full = full_year(year, digits=2) if 32 <= year <= 99 else None
    return Partial(year=full, month=month) if full else None


@DATES.rule("YEAR -|/? MONTH")
def year_month(_: Scope, year: int, month: int) -> Partial:
    """2017 april."""
    return Partial(year=year, month=month)


@DATES.rule("YEAR - ~DAYNUM")
def iso_month(_: Scope, year: int, month: int) -> Partial | None:
    """2015-3."""
    return Partial(year=year, month=month) if month <= 12 else None


@DATES.rule("REL? MONTH")
def bare_month(_: Scope, lean: int | None, month: int) -> Partial:
    """July, next March."""
    return Partial(month=month, lean=lean, is_weak=False)


@DATES.rule("MONTH REL year", "MONTH of|in REL year")
def month_of_leaning_year(scope: Scope, month: int, lean: int) -> Partial:
    """April next year."""
    return Partial(month=month, year=scope.reference.year + steps_of(lean))


@DATES.rule("in|since|during|through|of YEAR", "the? year YEAR", "in|since YEAR a . d .")
def certain_year(_: Scope, year: int) -> Partial:
    """In 2014."""
    return Partial(year=year)


@DATES.rule("before YEAR")
def before_year(_: Scope, year: int) -> Partial:
    """Before 2014."""
    return Partial(year=year, bound="before")


@DATES.rule("after YEAR")
def after_year(_: Scope, year: int) -> Partial:
    """After 2014."""
    return Partial(year=year, bound="after")


@DATES.rule("the? ORDINAL")
def day_of_month(_: Scope, day: int) -> Partial | None:
    """The 15th."""
    return Partial(day=day, is_weak=False)


@DATES.rule("the? ORDINAL|DAYNUM day? of the? REL month", "the? ORDINAL REL month")
def day_of_leaning_month(scope: Scope, day: int, lean: int) -> Partial | None:
    """20th of next month."""
    first = month_of(scope.reference.year, scope.reference.month + steps_of(lean)).first
    return checked(first.year, first.month, day)


@DATES.rule("the? ORDINAL of the? month", "the? ORDINAL of each|every month")
def day_of_this_month(_: Scope, day: int) -> Partial:
    """The 5th of the month."""
    return Partial(day=day)


@DATES.rule("WEEKDAY")
def bare_weekday(_: Scope, weekday: int) -> Partial:
    """Friday."""
    return Partial(weekday=weekday)


@DATES.rule("REL WEEKDAY", "on? REL WEEKDAY")
def leaning_weekday(_: Scope, lean: int, weekday: int) -> Partial:
    """Next Thursday."""
    return Partial(weekday=weekday, lean=lean)


@DATES.rule("WEEKDAY ,|-|of|from|in|on? the? REL week", "the? WEEKDAY week? after next")
def weekday_of_week(scope: Scope, weekday: int, lean: int = 2) -> Partial:
    """Wednesday of next week, the Wednesday after next; "this week" is the one that a household's calendar shows."""
    steps = 2 if lean == 2 else steps_of(lean)
    start = 0 if steps else scope.week_start
    return Partial(
        weekday=weekday, period=unit_of(scope.reference.date(), "week", steps, week_start=start)
    )


@DATES.rule("SHADE in? DAYWORD")
def shaded_day(scope: Scope, _: str, days: int) -> Partial | None:
    """Later today."""
    return day_word(scope, days)


@DATES.rule("DAYWORD")
def day_word(scope: Scope, days: int) -> Partial:
    """Tomorrow."""
    return Partial(on=scope.reference.date() + timedelta(days=days))


@DATES.rule("DAYWORD week", "a|1? week from|after|on DAYWORD")
def week_from_day_word(scope: Scope, days: int, weeks: int = 1) -> Partial | None:
    """Tomorrow week."""
    ahead = timedelta(days=days, weeks=weeks)
    return Partial(on=scope.reference.date() + ahead) if days >= 0 else None


@DATES.rule("DAYWORD fortnight")
def fortnight_from_day_word(scope: Scope, days: int) -> Partial | None:
    """Tomorrow fortnight."""
    return week_from_day_word(scope, days, weeks=2)


@DATES.rule("WEEKDAY week", "a|1 week on|from WEEKDAY")
def weekday_week(scope: Scope, weekday: int, weeks: int = 1) -> Partial:
    """Tuesday week: a week after the coming Tuesday."""
    today = scope.reference.date()
    ahead = timedelta(days=(weekday - today.weekday()) % 7 or 7, weeks=weeks)
    return Partial(on=today + ahead)


@DATES.rule("WEEKDAY fortnight", "a? fortnight on WEEKDAY")
def weekday_fortnight(scope: Scope, weekday: int) -> Partial | None:
    """Tuesday fortnight: two weeks after the coming Tuesday."""
    return weekday_week(scope, weekday, weeks=2)


@DATES.rule("INT WEEKDAYS|WEEKDAY from now|today", "INT more WEEKDAYS")
def weekdays_ahead(scope: Scope, count: int, weekday: int) -> Partial | None:
    """Three fridays from now."""
    today = scope.reference.date()
    if not 1 <= count <= 60:
        return None
    return Partial(
        on=today + timedelta(days=((weekday - today.weekday()) % 7 or 7) + 7 * (count - 1))
    )


@DATES.rule("INT WEEKDAYS|WEEKDAY ago|back")
def weekdays_ago(scope: Scope, count: int, weekday: int) -> Partial | None:
    """Two Thursdays back."""
    today = scope.reference.date()
    if not 1 <= count <= 60:
        return None
    return Partial(
        on=today - timedelta(days=((today.weekday() - weekday) % 7 or 7) + 7 * (count - 1))
    )


@DATES.rule("NOW")
def now(scope: Scope, _: int) -> Partial:
    """Now."""
    return Partial(instant=scope.reference, instant_grain="second")


# Rules for weeks, months, quarters, seasons, their edges, and for holidays.

PERIODS = Grammar()


@PERIODS.rule("the? REL UNIT", "the? UNIT after? next")
def leaning_unit(scope: Scope, lean: int | str, unit: str | None = None) -> Partial | None:
    """Next week, this month, the week after next."""
    if isinstance(lean, str):
        steps, unit = 2, lean
    else:
        steps = steps_of(lean)
    period = unit_of(scope.reference.date(), str(unit), steps, week_start=scope.week_start)
    if period is None:
        return None
    if unit == "day":
        return Partial(on=period.first) if steps else None
    return Partial(year=period.first.year) if unit == "year" else Partial(period=period)


@PERIODS.rule(
    "rest|remainder|remaining of the? UNIT",
    "the rest|remainder|remaining of the? UNIT",
    "rest of the? REL UNIT",
)
def rest_of_unit(scope: Scope, *values: int | str) -> Partial | None:
    """Rest of the week."""
    period = unit_of(scope.reference.date(), str(values[-1]), 0, week_start=scope.week_start)
    return (
        None
        if period is None
        else Partial(period=Period(scope.reference.date(), period.after, "day"))
    )


@PERIODS.rule("REL? WEEKEND", "the WEEKEND", "at the? WEEKEND")
def weekend(scope: Scope, lean: int | None, *_: int) -> Partial:
    """This weekend, next weekend."""
    today = scope.reference.date()
    return Partial(period=weekend_of(today + timedelta(days=7 * steps_of(lean))))


@PERIODS.rule("week INT", "the? week number INT", "wk INT")
def numbered_week(scope: Scope, number: int) -> Partial | None:
    """Week 36, by ISO count."""
    if not 1 <= number <= 53:
        return None
    try:
        first = date.fromisocalendar(scope.reference.year, number, 1)
    except ValueError:
        return None
    return Partial(period=Period(first, first + timedelta(days=7), "week"))


@PERIODS.rule("EDGEWORD")
def edge_word(scope: Scope, name: str) -> Partial | None:
    """EOD, end of day, EOM."""
    unit = name.split()[1]
    if unit == "day":
        return Partial(clock=sure_clock(23, 59, 59))
    period = unit_of(scope.reference.date(), unit, 0, week_start=0)
    return None if period is None else Partial(period=edge_of(period, name.split(maxsplit=1)[0]))


@PERIODS.rule("EDGE|SHADE of? the? REL UNIT", "EDGE of the? UNIT", "EDGE of around REL UNIT")
@PERIODS.rule("SHADE in the? REL UNIT", "SHADE in the UNIT")
def edge_of_unit(scope: Scope, edge: str, *values: int | str) -> Partial | None:
    """End of next week."""
    unit = str(values[-1])
    lean = values[0] if len(values) == 2 else 0
    if unit not in {"week", "month", "quarter", "year", "decade"}:
        return None
    period = unit_of(scope.reference.date(), unit, steps_of(int(lean)), week_start=0)
    found = None if period is None else edge_of(period, edge, today=scope.reference.date())
    return None if found is None else Partial(period=found)


@PERIODS.rule("EDGE|SHADE -|of? the? MONTH ,? YEAR?", "SHADE in the? MONTH ,? YEAR?")
def edge_of_month(scope: Scope, edge: str, month: int, year: int | None) -> Partial | None:
    """Mid March."""
    today = scope.reference.date()
    ahead = year or (today.year if month >= today.month else today.year + 1)
    found = edge_of(month_of(ahead, month), edge)
    return None if found is None else Partial(period=found)


@PERIODS.rule("EDGE of YEAR", "SHADE in? YEAR")
def edge_of_year(_: Scope, edge: str, year: int) -> Partial | None:
    """Beginning of 2017."""
    found = edge_of(Period(date(year, 1, 1), date(year + 1, 1, 1), "year"), edge)
    return None if found is None else Partial(period=found)


@PERIODS.rule(
    "the? ORDINAL quarter|qtr of? YEAR?", "in|during? YEAR -? q ~DAYNUM", "q ~DAYNUM of|,? YEAR?"
)
def quarter(scope: Scope, first: int, second: int | None = None) -> Partial | None:
    """Third quarter, Q1 2017, 2018Q4."""
    year, number = (first, second) if first > 1000 else (second or scope.reference.year, first)
    return (
        Partial(period=quarter_of(int(year or 0), int(number or 0) - 1))
        if 1 <= int(number or 0) <= 4
        else None
    )


@PERIODS.rule("YEAR -? h ~DAYNUM")
def half_year(_: Scope, year: int, half: int) -> Partial | None:
    """2019 H2."""
    if half not in {1, 2}:
        return None
    first = date(year, 1 if half == 1 else 7, 1)
    return Partial(period=Period(first, month_of(year, first.month + 6).first, "quarter"))


@PERIODS.rule("REL SEASON", "in the SEASON", "SEASON of? YEAR", "EDGE|SHADE of? the? SEASON")
def season(scope: Scope, first: int | str, second: int | str | None = None) -> Partial | None:
    """This summer, summer 2020."""
    today = scope.reference.date()
    name = next(str(value) for value in (second, first) if isinstance(value, str))
    year = second if isinstance(second, int) else today.year
    period = season_of(name, year)
    if isinstance(first, int) and isinstance(second, str):
        steps = steps_of(first)
        if steps > 0 and period.first <= today:
            period = season_of(name, year + 1)
        if steps < 0 and period.after > today:
            period = season_of(name, year - 1)
    return Partial(period=period)


@PERIODS.rule("REL? HOLIDAY of|in|,? YEAR?")
def holiday(scope: Scope, lean: int | None, rule: Holiday, year: int | None) -> Partial | None:
    """Thanksgiving, last Christmas, easter 2018."""
    if year is not None:
        return Partial(on=rule.in_year(year))
    today = scope.reference.date()
    day = rule.in_year(today.year)
    if lean is not None and steps_of(lean) < 0:
        return Partial(on=day if day < today else rule.in_year(today.year - 1))
    return Partial(on=day if day >= today else rule.in_year(today.year + 1))


@PERIODS.rule("HOLIDAY of|in? REL year", "HOLIDAY in NUMBER|INT years")
def holiday_of_leaning_year(scope: Scope, rule: Holiday, lean: int) -> Partial:
    """MLK day of last year."""
    return Partial(on=rule.in_year(scope.reference.year + lean))


@PERIODS.rule(
    "the? ORDINAL WEEKDAY of|in? the? MONTH ,? YEAR?", "the? REL WEEKDAY of|in? the? MONTH ,? YEAR?"
)
def nth_of_month(
    scope: Scope, which: int, weekday: int, *month_and_year: int | None
) -> Partial | None:
    """First Wednesday of October 2014, last friday in october."""
    first = _month_ahead(scope, *month_and_year).first
    return _nth(first.year, first.month, weekday, which)


@PERIODS.rule(
    "the? ORDINAL WEEKDAY of|in the? REL? month", "the? REL WEEKDAY of|in the? REL? month"
)
def nth_of_leaning_month(
    scope: Scope, which: int, weekday: int, lean: int | None
) -> Partial | None:
    """First monday of next month."""
    today = scope.reference.date()
    first = month_of(today.year, today.month + steps_of(lean or 0)).first
    found = _nth(first.year, first.month, weekday, which)
    if lean is None and found is not None and found.on is not None and found.on < today:
        first = month_of(today.year, today.month + 1).first
        return _nth(first.year, first.month, weekday, which)
    return found


def _month_ahead(scope: Scope, month: int | None, year: int | None) -> Period:
    """Return a month of a year, or without one the month as it comes next."""
    today = scope.reference.date()
    number = month or today.month
    return month_of(year or (today.year if number >= today.month else today.year + 1), number)


def _nth(year: int, month: int, weekday: int, which: int) -> Partial | None:
    if which and -1 <= which <= 5:
        day = nth_weekday(year, month, weekday, which)
        return Partial(on=day) if day.month == month else None
    return None


@PERIODS.rule("the? ORDINAL|REL UNIT|WEEKEND of|in the? MONTH ,? YEAR?")
def nth_unit(
    scope: Scope, which: int, unit: str | int, *month_and_year: int | None
) -> Partial | None:
    """Last day of october 2015, first week of October, last weekend of July."""
    ahead = _month_ahead(scope, *month_and_year)
    if unit == "day":
        day = (
            ahead.after - timedelta(days=1)
            if which < 0
            else ahead.first + timedelta(days=which - 1)
        )
        return Partial(on=day)
    if unit == "week":
        if which < 0:
            return Partial(period=week_of(ahead.after - timedelta(days=7), 0))
        monday = week_of(ahead.first + timedelta(days=3), 0).first
        first = monday + timedelta(days=7 * (which - 1))
        return Partial(period=Period(first, first + timedelta(days=7), "week"))
    if isinstance(unit, int):
        saturday = nth_weekday(ahead.first.year, ahead.first.month, 5, max(which, -1) or 1)
        return Partial(period=weekend_of(saturday))
    return None


@PERIODS.rule("the? ORDINAL|REL week of the? YEAR")
def week_of_year(_: Scope, which: int, year: int) -> Partial | None:
    """3rd week of 2018."""
    if which < 1:
        return None
    first = date.fromisocalendar(year, min(which, 52), 1)
    return Partial(period=Period(first, first + timedelta(days=7), "week"))


@PERIODS.rule("in|during? the? YEAR ' ~s", "in|during? the? YEAR s")
def decade(_: Scope, year: int) -> Partial | None:
    """The 1990s."""
    return (
        Partial(period=Period(date(year, 1, 1), date(year + 10, 1, 1), "decade"))
        if year % 10 == 0
        else None
    )
