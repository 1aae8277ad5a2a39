"""Words that families use whatever their household file says, read from `generic_words.toml`."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericActivity:
    """Something families do that no household file needs to define.

    Attributes:
        name: Canonical name.
        category: session, pursuit, health, school, care, social or errand. A session is what one
            does with an activity ("practice"); a pursuit is an activity of its own ("chess").
        words: What people write for it, the canonical name first; plurals included.
        forms: Ordinary words that stand for it only where a household names the activity.
        minutes: How long it usually takes, > 0.
        is_appointment: Whether it is arranged for one person with somebody outside the family.
        is_occasion: Whether it is a special occasion of an activity, not its usual series.
    """

    name: str
    category: str
    words: tuple[str, ...]
    forms: tuple[str, ...]
    minutes: int
    is_appointment: bool
    is_occasion: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleWords:
    """Words for people that name nobody.

    Attributes:
        all_children: Words for all children.
        by_count: Words for all children of a household with that many.
        some: Words for some of the children.
        titles: First words of a name that do not name the person.
        function_words: Words too common for a name without its accents to be taken for one.
    """

    all_children: tuple[str, ...]
    by_count: dict[int, tuple[str, ...]]
    some: tuple[str, ...]
    titles: frozenset[str]
    function_words: frozenset[str]


@cache
def generic_activities() -> tuple[GenericActivity, ...]:
    """Return the generic activities in file order; no word stands for two of them."""
    return tuple(
        GenericActivity(
            name=name,
            category=category,
            words=_with_plurals((name, *entry["words"]), category),
            forms=tuple(entry.get("forms", ())),
            minutes=entry["minutes"],
            is_appointment=entry.get("appointment", False),
            is_occasion=entry.get("occasion", False),
        )
        for category, entries in _data()["activities"].items()
        for name, entry in entries.items()
    )


@cache
def people_words() -> PeopleWords:
    """Return the words for people that name nobody."""
    people = _data()["people"]
    return PeopleWords(
        all_children=tuple(people["all_children"]),
        by_count={int(count): tuple(words) for count, words in people["by_count"].items()},
        some=tuple(people["some"]["words"]),
        titles=frozenset(people["titles"]["words"]),
        function_words=frozenset(people["function_words"]["words"]),
    )


def _with_plurals(words: tuple[str, ...], category: str) -> tuple[str, ...]:
    """Return `words` and their plurals; what one pursues ("chess", "soccer") has none."""
    if category == "pursuit":
        return with_phrase_plurals(words)
    return tuple(dict.fromkeys([*words, *(plural(word) for word in words)]))


def with_phrase_plurals(words: Iterable[str]) -> tuple[str, ...]:
    """Return `words` and the plurals of those that end in a session's name ("chess lesson")."""
    heads = _data()["activities"]["session"]
    plurals = [plural(word) for word in words if word.split()[-1:] and word.split()[-1] in heads]
    return tuple(dict.fromkeys([*words, *plurals]))


def plural(word: str) -> str:
    """Return the English plural of a word or phrase; what ends in -s or -ing has none here."""
    if not word.isascii() or word.endswith(("s", "ing")):
        return f"{word}es" if word.endswith("ss") else word
    if word.endswith(("x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


@cache
def _data() -> dict[str, Any]:
    text = files("kinkeeper.household").joinpath("generic_words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
