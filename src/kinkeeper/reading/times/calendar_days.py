"""Calendar arithmetic on whole days: weeks, months, seasons, and holidays that follow a rule."""

import calendar
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Final

from dateutil.easter import EASTER_ORTHODOX, EASTER_WESTERN, easter
from dateutil.relativedelta import relativedelta

from kinkeeper.reading.times.partial import Length, Period

# Calendar arithmetic on whole days: weeks by locale, months, quarters, seasons, parts of each.

SEASON_MONTH: Final = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


def first_of_week(day: date, week_start: int) -> date:
    """Return the first day of the calendar week that holds a day; `week_start` is its weekday, 0 is Monday."""
    return day - timedelta(days=(day.weekday() - week_start) % 7)


def week_of(day: date, week_start: int) -> Period:
    """Return the seven days from the Monday in the calendar week that holds a day.

    Which week a Sunday belongs to differs by locale; that "the week" is talked about from Monday on does not.
    """
    first = first_of_week(day, week_start)
    monday = first + timedelta(days=-first.weekday() % 7)
    return Period(monday, monday + timedelta(days=7), "week")


def weekend_of(day: date) -> Period:
    """Return Saturday and Sunday of the Monday-to-Sunday week that holds a day."""
    saturday = day - timedelta(days=day.weekday() - 5)
    return Period(saturday, saturday + timedelta(days=2), "weekend")


def month_of(year: int, month: int) -> Period:
    """Return a calendar month; `month` may lie outside 1 to 12 and then carries over."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    first = date(year, month, 1)
    return Period(first, first + timedelta(days=calendar.monthrange(year, month)[1]), "month")


def unit_of(day: date, unit: str, shift: int, *, week_start: int) -> Period | None:
    """Return the calendar unit that holds a day, moved by `shift` units; None for units without one."""
    if unit == "day":
        return Period(day + timedelta(days=shift), day + timedelta(days=shift + 1), "day")
    if unit in {"week", "fortnight"}:
        days = 7 if unit == "week" else 14
        first = week_of(day, week_start).first + timedelta(days=days * shift)
        return Period(first, first + timedelta(days=days), "week" if unit == "week" else "day")
    if unit == "workweek":
        first = week_of(day, week_start).first + timedelta(days=7 * shift)
        return Period(first, first + timedelta(days=5), "day")
    if unit == "month":
        return month_of(day.year, day.month + shift)
    if unit == "quarter":
        return quarter_of(day.year, (day.month - 1) // 3 + shift)
    if unit == "year":
        return Period(date(day.year + shift, 1, 1), date(day.year + shift + 1, 1, 1), "year")
    if unit == "decade":
        year = day.year // 10 * 10 + 10 * shift
        return Period(date(year, 1, 1), date(year + 10, 1, 1), "decade")
    return None


def quarter_of(year: int, index: int) -> Period:
    """Return a quarter; `index` 0 is January to March and may carry over."""
    first = month_of(year, index * 3 + 1).first
    return Period(first, month_of(first.year, first.month + 3).first, "quarter")


def season_of(name: str, year: int) -> Period:
    """Return a season of the northern hemisphere, by the calendar's 21st or so."""
    first = date(year, SEASON_MONTH[name], 21)
    return Period(first, first + relativedelta(months=3), "season")


def edge_of(period: Period, edge: str, *, today: date | None = None) -> Period | None:
    """Return the start, middle or end of a period: thirds of months and years, three days of a week.

    Args:
        edge: "start", "early", "middle", "late", "end", or "earlier" and "later", which today bounds.
        today: The reference's day, where it is known.
    """
    first, after = period.first, period.after
    half = first + (after - first) / 2
    if edge == "earlier":
        end = half if today is None or not first < today else min(today, half)
        return Period(first, end, "day")
    if edge == "later":
        begin = half if today is None or not first <= today < after else max(today, half)
        return Period(begin, after, "day")
    if edge in {"start", "early"}:
        return Period(first, _one_third(period), "day")
    if edge in {"end", "late"}:
        return Period(_two_thirds(period), after, "day")
    return Period(_one_third(period), _two_thirds(period), "day")


def _one_third(period: Period) -> date:
    if period.grain == "month":
        return period.first + timedelta(days=10)
    if period.grain == "year":
        return period.first + relativedelta(months=3)
    if period.grain == "week":
        return period.first + timedelta(days=3)
    return period.first + (period.after - period.first) / 3


def _two_thirds(period: Period) -> date:
    if period.grain == "month":
        return period.first + timedelta(days=20)
    if period.grain == "year":
        return period.first + relativedelta(months=8)
    if period.grain == "week":
        return period.first + timedelta(days=4)
    return period.first + (period.after - period.first) * 2 / 3


def shifted(day: date, length: Length) -> date:
    """Return a day moved by calendar months and days.

    Raises:
        OverflowError: The calendar ends before.
        ValueError: The calendar ends before.
    """
    return day + relativedelta(months=length.months) + timedelta(days=length.days)


def after_length(instant: datetime, length: Length) -> datetime:
    """Return an instant moved by months and days on the wall, and by seconds in real time.

    Raises:
        OverflowError: The calendar ends before.
        ValueError: The calendar ends before.
    """
    if length.months or length.days:
        wall = instant.replace(tzinfo=None)
        moved = wall + relativedelta(months=length.months) + timedelta(days=length.days)
        instant = on_wall(moved, instant)
    if not length.seconds:
        return instant
    exact = instant.astimezone(UTC) + timedelta(seconds=length.seconds)
    return exact.astimezone(instant.tzinfo)


def on_wall(wall: datetime, reference: datetime) -> datetime:
    """Return the instant of a wall time in the reference's zone.

    A time that the clocks skip moves forward by what they skip; of a repeated hour the first is meant.

    Args:
        wall: Naive.
    """
    local = wall.replace(tzinfo=reference.tzinfo)
    return local.astimezone(UTC).astimezone(reference.tzinfo)


def business_days(day: date, count: int) -> date:
    """Return the day after `count` working days (Monday to Friday), backwards when negative."""
    step = 1 if count > 0 else -1
    left = min(abs(count), 400)
    while left:
        day += timedelta(days=step)
        left -= day.weekday() < 5
    return day


def steps_of(lean: int | None) -> int:
    """Return how many units "this", "next", "last", "coming" or "past" (0, 1, -1, 2, -2) move."""
    return {None: 0, 0: 0, 1: 1, -1: -1, 2: 1, -2: -1}[lean]


# Holidays whose day follows from a rule, and when they fall.


@dataclass(frozen=True, slots=True)
class Holiday:
    """The rule of one holiday.

    Attributes:
        rule: "date", "nth", "easter", "orthodox" or "listed".
        numbers: What the rule needs: month and day; month, weekday, which one, days added; days after Easter.
        listed: Country code and name in the holidays library, of a listed one.
    """

    rule: str
    numbers: tuple[int, ...]
    listed: tuple[str, str] | None = None

    def in_year(self, year: int) -> date:
        """Return the day on which it falls.

        Raises:
            ValueError: `year` is outside what the calendar can hold, or what is known of the moon.
        """
        if self.listed is not None:
            return _listed_day(*self.listed, year)
        if self.rule == "date":
            return date(year, self.numbers[0], self.numbers[1])
        if self.rule in {"easter", "orthodox"}:
            return easter(
                year, EASTER_WESTERN if self.rule == "easter" else EASTER_ORTHODOX
            ) + timedelta(days=self.numbers[0])
        month, weekday, which, added = self.numbers
        return nth_weekday(year, month, weekday, which) + timedelta(days=added)


def nth_weekday(year: int, month: int, weekday: int, which: int) -> date:
    """Return the `which`-th weekday of a month, counted from its end when negative.

    Args:
        month: 1 to 12.
        weekday: 0 is Monday.
        which: 1 is the first, -1 the last; not 0.

    Raises:
        ValueError: The year is outside what the calendar can hold.
    """
    if which > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (which - 1))
    following = date(year + month // 12, month % 12 + 1, 1)
    last = following - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-which - 1))


@cache
def load_holidays() -> Mapping[str, Holiday]:
    """Return the rule of every form people type; read once."""
    raw = files(__package__).joinpath("holidays.toml").read_text(encoding="utf-8")
    return {
        form: _holiday(rule, value)
        for rule, table in tomllib.loads(raw).items()
        for value, forms in table.items()
        for form in forms
    }


def _holiday(rule: str, value: str) -> Holiday:
    if rule == "listed":
        country, _, name = value.partition("/")
        return Holiday(rule, (), (country, name))
    return Holiday(rule, tuple(int(number) for number in value.split()))


@cache
def _listed_day(country: str, name: str, year: int) -> date:
    days = [
        day
        for day, said in _country_days(country, year).items()
        if said.startswith(name) or f"; {name}" in said
    ]
    if not days:
        raise ValueError(f"the date of {name} {year} is not known")
    return min(days)


@cache
def _country_days(country: str, year: int) -> Mapping[date, str]:
    # A third of a second of import, for names that few messages hold.
    from holidays import country_holidays  # noqa: PLC0415

    empty = country_holidays(country)
    language = "en_US" if "en_US" in empty.supported_languages else None
    return country_holidays(
        country, years=year, language=language, categories=empty.supported_categories
    )
