"""The words of the data file, and a message as clauses of canonical words. Pure."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from typing import Any

from kinkeeper.language.text import tokenise
from kinkeeper.reading.phrases import ASKED, ENDS, canonical

Clause = tuple[str, ...]
"""Canonical words; the last is "?" where the clause asks."""

NAMES = frozenset({"<name>", "<adult>"})
"""Stand for names of people."""

_ANYTHING = "<thing>"
_THANKS = "thx"
_APPRECIATE = frozenset({"appreciate", "appreciated"})


@cache
def word_lists() -> Mapping[str, frozenset[str]]:
    """Return the lists of words of the data file by name; read once."""
    return {name: frozenset(words.split()) for name, words in _data()["words"].items()}


@cache
def phrases(name: str) -> frozenset[Clause]:
    """Return the phrases of a list of the data file, spelled out.

    Args:
        name: Of the list.
    """
    return frozenset(
        phrase
        for line in _data()["phrases"][name]
        for phrase in product(*(word.split("|") for word in line.split()))
    )


@cache
def _data() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("data/words.toml").read_text(encoding="utf-8"))


def clauses_of(text: str, names: Collection[str] = ()) -> tuple[Clause, ...]:
    """Return the clauses of a message, without the assistant's name; emoji and marks say nothing here.

    Args:
        text: Any.
        names: What the assistant is called.
    """
    return _clauses(text, tuple(names))


# One message is read for what it answers, what it wants and how it is meant in turn.
@lru_cache(maxsize=64)
def _clauses(text: str, names: tuple[str, ...]) -> tuple[Clause, ...]:
    called = word_lists()["assistants"] | {name.casefold() for name in names}
    return tuple(map(tuple, _split(canonical(tokenise(text)), called)))


def _split(words: Sequence[str], called: Collection[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    for word in words:
        if word not in ENDS:
            clause.append(word)
            continue
        spoken = [each for each in clause if each not in called]
        if spoken:
            yield [*spoken, ASKED] if word == ASKED else spoken
        clause = []


def without_address(clause: Clause) -> Clause:
    """Return a clause without the person it is said to, and without what thanks are for.

    Args:
        clause: Canonical words.
    """
    words, bearing = [*clause], word_lists()["name_bearing"]
    while len(words) > 1 and words[-1] in NAMES and words[-2] not in bearing:
        words.pop()
    while len(words) > 1 and words[0] in NAMES and words[1] != ASKED:
        words.pop(0)
    for place, word in enumerate(words):
        if word in _APPRECIATE or (word == "for" and _THANKS in words[:place]):
            return _without_reason(words, place + 1)
    return tuple(words)


def _without_reason(words: Sequence[str], start: int) -> Clause:
    joints = word_lists()["joints"]
    end = start
    while end < len(words) and words[end] not in joints and words[end] != ASKED:
        end += 1
    named = (_ANYTHING,) if end > start else ()
    return (*words[:start], *named, *words[end:])
