"""Things that are enumerated as they are dictated, without commas: "milk eggs olive oil and two onions". Pure."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_MOST_WORDS: Final = 40
_LONGEST_THING: Final = 4
_MOST_UNKNOWN: Final = 0.34
"""Share of things that may be unknown where the others show that things to buy are enumerated."""

_AMOUNT = re.compile(
    r"^(?:(?:\d+(?:[.,]\d+)?\s?(?:x|kg|g|ml|l|cl|oz|lb|lbs|litres?|liters?|pints?|packs?|tins?|cans?|bottles?)?|an?|some|more|a few|a couple(?: of)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half a|a dozen|dozen)\s+)*"
    r"(?:(?:bags?|tins?|cans?|packs?|packets?|bottles?|boxes|box|jars?|tubs?|loaf|loaves|bunch|bunches|cartons?|pints?|litres?|liters?|kilos?|grams?|slices?|rolls?|sacks?|crates?|punnets?|heads?|blocks?|bars?|cloves?|tubes?|sticks?)\s+of\s+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Goods:
    single: frozenset[str]
    several: frozenset[tuple[str, ...]]
    heads: frozenset[str]
    describing: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Thing:
    words: str
    is_known: bool


def things_to_buy(text: str) -> list[str] | None:
    """Return the single things of words in which several to buy are run together; None where they are not such.

    Args:
        text: Words between two commas or "and"s.
    """
    things = _things(text)
    unknown = sum(not each.is_known for each in things)
    if not things or unknown > _MOST_UNKNOWN * len(things):
        return None
    return [each.words for each in things]


def are_groceries(lines: Sequence[str]) -> bool:
    """Return whether what is enumerated is, for the greater part, what families buy every week.

    Args:
        lines: Single things.
    """
    known = [things_to_buy(each) is not None for each in lines]
    return bool(known) and sum(known) * 2 > len(known)


def _things(text: str) -> list[_Thing]:
    words = text.split()
    if len(words) > _MOST_WORDS:
        return []
    things, at = [], 0
    while at < len(words):
        length, is_known = _next(words[at:])
        things.append(_Thing(" ".join(words[at : at + length]), is_known))
        at += length
    return things


def _next(words: Sequence[str]) -> tuple[int, bool]:
    """Return how many words the first thing has, and whether it is known."""
    goods, rest = _goods(), " ".join(words)
    amount = _AMOUNT.match(rest)
    lead = len(amount[0].split()) if amount is not None else 0
    plain = [each.lower().strip(".,") for each in words[lead:]]
    while (
        plain
        and plain[0] in goods.describing
        and tuple(plain[:2]) not in goods.several
        and len(plain) > 1
    ):
        lead, plain = lead + 1, plain[1:]
    if not plain:
        return len(words), False
    for length in range(min(_LONGEST_THING, len(plain)), 1, -1):
        if tuple(plain[:length]) in goods.several:
            return lead + length, True
    if plain[0] in goods.single or (lead and f"{plain[0]}s" in goods.single):
        return lead + 1, True
    if len(plain) > 1 and plain[1] in goods.heads:
        return lead + 2, True
    return lead + 1, False


@cache
def _goods() -> _Goods:
    path = files(__package__) / "data" / "groceries.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    several = (" ".join(each.split()) for each in data["several"].split(";"))
    return _Goods(
        single=frozenset(data["single"].split()), heads=frozenset(data["heads"].split()),
        several=frozenset(tuple(each.split()) for each in several if each),
        describing=frozenset(data["describing"].split()),
    )  # fmt: skip
