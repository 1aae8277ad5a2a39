"""What limits a wish, by price and by day of the week, and which sentences keep to it. Pure."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

_DAYS: Final = ("mo", "tu", "we", "th", "fr", "sa", "su")
_WEEKDAYS: Final = frozenset(range(5))
_WEEKEND: Final = frozenset({5, 6})
_ALL: Final = _WEEKDAYS | _WEEKEND
_NEAR: Final = 40
"""How many characters before a price or day are looked at."""


@dataclass(frozen=True, slots=True)
class Price:
    """An amount of money.

    Attributes:
        currency: As its sign ("£"), or in lower case where it has none.
    """

    amount: float
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The limits of a wish.

    Attributes:
        most: The highest price; None where any will do.
        days: Days of the week that will do, Monday is 0; empty where all do.
    """

    most: Price | None = None
    days: frozenset[int] = frozenset()

    def allow(self, sentence: str) -> bool:
        """Whether nothing in a sentence is beyond the limits: it may also say nothing of price and day."""
        most = self.most
        if most is not None:
            prices = [each for each in prices_in(sentence) if each.currency == most.currency]
            if prices and min(each.amount for each in prices) > most.amount:
                return False
        said = days_in(sentence) if self.days else frozenset[int]()
        return not said or not said.isdisjoint(self.days)


def bounds_of(wish: str) -> Bounds:
    """Return what limits a wish."""
    limits = [Price(*_amount(each)) for each in _form("price").finditer(wish) if _is_most(each)]
    wanted, unwanted = set[int](), set[int]()
    for each in _form("days").finditer(wish):
        is_never = _form("never").search(_before(each)) is not None
        (unwanted if is_never else wanted).update(_days(each))
    most = min(limits, key=lambda each: each.amount, default=None)
    days = (wanted or (_ALL if unwanted else set())) - unwanted
    return Bounds(most=most, days=frozenset(days))


def without_bounds(wish: str) -> str:
    """Return a wish without the words of its limits, for comparing it with what is found."""
    pieces, done = list[str](), 0
    for each in sorted(_spans(wish)):
        if each[0] >= done:
            pieces.append(_form("joint").sub("", wish[done : each[0]]))
            done = each[1]
    return " ".join(" ".join((*pieces, wish[done:])).split())


def prices_in(text: str) -> list[Price]:
    """Return the prices that a text names."""
    return [Price(*_amount(each)) for each in _form("price").finditer(text)]


def days_in(text: str) -> frozenset[int]:
    """Return the days of the week that a text names, Monday is 0."""
    return frozenset(day for each in _form("days").finditer(text) for day in _days(each))


def _spans(wish: str) -> Iterator[tuple[int, int]]:
    for each in _form("price").finditer(wish):
        if _is_most(each):
            before = _form("most").search(_before(each))
            begin = each.start() - (0 if before is None else len(before[0]))
            after = _form("most_after").match(wish, each.end())
            yield begin, each.end() if after is None else after.end()
    for each in _form("days").finditer(wish):
        never = _form("never").search(_before(each))
        yield each.start() - (0 if never is None else len(never[0])), each.end()


def _is_most(price: re.Match[str]) -> bool:
    before = _form("most").search(_before(price))
    return (before or _form("most_after").match(price.string, price.end())) is not None


def _before(found: re.Match[str]) -> str:
    return found.string[max(0, found.start() - _NEAR) : found.start()]


def _amount(found: re.Match[str]) -> tuple[float, str]:
    written = found["amount"] or found["bare"]
    sign = (found["before"] or found["after"]).lower()
    whole, comma, rest = written.rpartition(",")
    # "12,50" is a decimal comma, "1,250" a mark of thousands.
    if comma and "." not in written and len(rest) in {1, 2}:
        written = f"{whole}.{rest}"
    amount = float(written.replace(",", "")) * (1000 if found["thousands"] else 1)
    return amount, _signs().get(sign, sign)


def _days(found: re.Match[str]) -> frozenset[int]:
    if found["weekend"]:
        return _WEEKEND
    if found["weekday"]:
        return _WEEKDAYS
    first = _DAYS.index(found["day"][:2].lower())
    if not found["last"]:
        return frozenset({first})
    last = _DAYS.index(found["last"][:2].lower())
    return frozenset((first + each) % 7 for each in range((last - first) % 7 + 1))


def _form(name: str) -> re.Pattern[str]:
    return _forms()[name]


@cache
def _table() -> Mapping[str, Any]:
    path = files("kinkeeper.reading.data") / "bounds.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile("".join(form.strip("\n").split("\n")), re.IGNORECASE)
        for name, form in _table()["forms"].items()
    }


@cache
def _signs() -> Mapping[str, str]:
    return {word: sign for sign, words in _table()["currencies"].items() for word in words}
