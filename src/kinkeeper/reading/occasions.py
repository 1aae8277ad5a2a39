"""What titles and lines of lists tell of food, meals and birthdays, and what somebody's limits rule out. Pure.

A small reader over the closed classes of `data/occasions.toml`. Where it cannot tell, it finds nothing.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_WORD = re.compile(r"[^\W_]+")
_WHOSE = re.compile(
    r"^\W*(?:the )?(?P<who>(?:(?:my|our|your) )?[^\W\d_][\w-]*(?: [A-Z][\w-]*)?(?: and [^\W\d_][\w-]*)?)['’]s?(?= (?:\w+ )?(?:b-?day|birthday))",
    re.IGNORECASE,
)
_LEFT_OUT = frozenset({("free", "from"), ("free", "of"), ("instead", "of")})


@dataclass(frozen=True, slots=True)
class _Tables:
    food: Mapping[tuple[str, ...], frozenset[str]]
    longest: int
    instead: Mapping[str, frozenset[str]]
    limits: Mapping[str, frozenset[str]]
    before: frozenset[str]
    free: frozenset[str]
    staples: frozenset[str]
    meals: frozenset[str]
    lists: frozenset[str]
    menus: frozenset[str]
    birthdays: frozenset[str]
    plans: frozenset[str]


def foods_in(text: str) -> frozenset[str]:
    """Return the families of food that a title or a line names: "satay night" has "peanut", "nut-free cake" no nut."""
    words, tables = _words(text), _tables()
    found, left_out = set[str](), set[str]()
    for start, end, families in _named(words):
        is_out = (words[end : end + 1] or [""])[0] in tables.free
        is_out |= start > 0 and words[start - 1] in tables.before
        is_out |= tuple(words[max(start - 2, 0) : start]) in _LEFT_OUT
        (left_out if is_out else found).update(families)
    for word in words:
        left_out |= tables.instead.get(word, frozenset())
    return frozenset(found - left_out)


def foods_ruled_out(statement: str) -> frozenset[str]:
    """Return the families that a statement rules out, given that it tells an allergy, a diet or a condition."""
    limits = _tables().limits
    return frozenset[str]().union(
        *(limits.get(form, frozenset()) for word in _words(statement) for form in _singular(word))
    )


def is_staple(family: str) -> bool:
    """Whether a household buys a family of food for the others, too."""
    return family in _tables().staples


def is_meal(text: str) -> bool:
    """Whether a title tells of a meal, or of a gathering with one."""
    return not _tables().meals.isdisjoint(_words(text))


def is_food_list(title: str) -> bool:
    """Whether a list is one of things to eat or to buy."""
    return not _tables().lists.isdisjoint(_words(title))


def is_menu(title: str) -> bool:
    """Whether a list or note tells what is eaten."""
    return not _tables().menus.isdisjoint(_words(title))


def is_birthday(text: str) -> bool:
    """Whether a title tells of a birthday itself, and not of what is planned for it."""
    words, tables = {*_words(text)}, _tables()
    return not words.isdisjoint(tables.birthdays) and words.isdisjoint(
        tables.plans - tables.birthdays
    )


def plans_birthday(text: str) -> bool:
    """Whether a title or a line has to do with something planned or bought for a birthday."""
    return not _tables().plans.isdisjoint(_words(text))


def whose_birthday(text: str) -> str | None:
    """Return whose birthday a sentence tells of, as it calls them: "Grandpa", "my sister"; None where it names nobody."""
    found = _WHOSE.match(text)
    return found["who"] if found else None


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(text)]


def _singular(word: str) -> Iterator[str]:
    yield word
    for ending, single in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending):
            yield word.removesuffix(ending) + single


def _named(words: Sequence[str]) -> Iterator[tuple[int, int, Collection[str]]]:
    """Yield where a food stands, the longest name first, with its families; what only sounds like one is left out."""
    tables, start = _tables(), 0
    while start < len(words):
        for end in range(min(start + tables.longest, len(words)), start, -1):
            *first, last = words[start:end]
            forms = ((*first, form) for form in _singular(last))
            families = next((tables.food[each] for each in forms if each in tables.food), None)
            if families is not None:
                yield start, end, families
                start = end
                break
        else:
            start += 1


@cache
def _tables() -> _Tables:
    path = files("kinkeeper.reading.data") / "occasions.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    food: dict[tuple[str, ...], frozenset[str]] = {}
    for family, things in data["food"].items():
        for thing in things.split("; "):
            name = tuple(thing.split())
            food[name] = food.get(name, frozenset()) | {family}
    for thing in data["other"]["things"].split("; "):
        *first, last = thing.split()
        food |= {(*first, form): frozenset() for form in _singular(last)}

    def families(table: str) -> Mapping[str, frozenset[str]]:
        return {word: frozenset(named.split()) for word, named in data[table].items()}

    def words(table: str, name: str) -> frozenset[str]:
        return frozenset(data[table][name].split())

    return _Tables(
        food=food,
        longest=max(map(len, food)),
        instead=families("instead"),
        limits=families("limits"),
        before=words("without", "before"),
        free=words("without", "free"),
        staples=words("staples", "families"),
        meals=words("meals", "words"),
        lists=words("lists", "words"),
        menus=words("lists", "menus"),
        birthdays=words("birthdays", "words"),
        plans=words("birthdays", "plans"),
    )
