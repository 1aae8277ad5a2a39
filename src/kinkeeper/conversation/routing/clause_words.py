"""A message as clauses of canonical words, and the fitted weights that tell a social clause from others. Pure."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import pairwise, product
from typing import Any

import numpy as np

from kinkeeper.language.text import tokenise
from kinkeeper.models.embedding.embedder import Floats, LinearHead
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
    """Return the phrases of a list of the data file, spelled out."""
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


# The fitted weights that tell a social clause from others. Pure.

GOES_ON = "none"
"""Label of a clause that is not social."""

FOREIGN, LENGTH, FAMILIAR = "<foreign>", "<length>", "<familiar>"
"""Features besides words and pairs: words that no social clause has, how many words, that all are known."""

NEVER_SOCIAL = frozenset({"<number>", "<link>", "<name>", "<adult>"})
"""Words that name something, and so count as foreign wherever they stand."""

_MOST_FOREIGN, _MOST_WORDS = 3, 15
_FOREIGN_WEIGHT, _WORDS_A_UNIT, _FAMILIAR_WEIGHT = 2.0, 5.0, 2.0


@dataclass(frozen=True, slots=True)
class SocialHead:
    """The fitted weights by feature.

    Attributes:
        labels: In the order of the columns.
        words: Those that social clauses have.
        rows: Weights of each feature, shape (labels,).
        bias: Shape (labels,).
    """

    labels: tuple[str, ...]
    words: frozenset[str]
    rows: Mapping[str, Floats]
    bias: Floats

    def chances(self, clause: Clause) -> Mapping[str, float]:
        """Return the chance of each label; they add up to 1."""
        sums = self.bias.astype(np.float64)
        for name, value in features(clause, self.words):
            row = self.rows.get(name)
            if row is not None:
                sums = sums + value * row
        chances = np.exp(sums - sums.max())
        return dict(zip(self.labels, map(float, chances / chances.sum()), strict=True))


def features(clause: Clause, social_words: Collection[str]) -> Iterator[tuple[str, float]]:
    """Yield what the fitted weights read of a clause, each with its value.

    Args:
        clause: Canonical words.
    """
    for word in {*clause, *(f"{first} {second}" for first, second in pairwise(clause))}:
        yield word, 1.0
    foreign = sum(word not in social_words for word in clause)
    yield FOREIGN, min(foreign, _MOST_FOREIGN) * _FOREIGN_WEIGHT
    yield LENGTH, min(len(clause), _MOST_WORDS) / _WORDS_A_UNIT
    if not foreign:
        yield FAMILIAR, _FAMILIAR_WEIGHT


@cache
def social_head() -> SocialHead:
    """Return the weights that training/fit_router.py wrote; read once."""
    with as_file(files(__package__).joinpath("data/social_head.npz")) as path:
        head = LinearHead.load(path)
    rows = {name: row.astype(np.float32) for name, row in zip(head.cues, head.weights, strict=True)}
    marks = {FOREIGN, LENGTH, FAMILIAR}
    words = frozenset(name for name in head.cues if " " not in name) - marks - NEVER_SOCIAL
    return SocialHead(labels=head.labels, words=words, rows=rows, bias=head.bias)
