"""Rules for weeks, months, quarters, seasons, their edges, and for holidays."""

from datetime import date, timedelta

from kinkeeper.reading.times.grammar import Grammar, Scope
from kinkeeper.reading.times.holidays import Holiday, nth_weekday
from kinkeeper.reading.times.partial import Partial, Period, sure_clock
from kinkeeper.reading.times.spans import (
    edge_of,
    month_of,
    quarter_of,
    season_of,
    steps_of,
    unit_of,
    week_of,
    weekend_of,
)

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


@PERIODS.rule("EDGE|SHADE -|of|in? the? MONTH ,? YEAR?")
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
