"""Holidays whose day follows from a rule, and when they fall."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from dateutil.easter import EASTER_ORTHODOX, EASTER_WESTERN, easter


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
        year: Four digits.
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
