"""The tripwire's linear model: what of a message counts, and the weights fitted for it.

A message is its respelled words and the pattern families found in them. Features are sequences of
one to three words, the spelling of each word, families, pairs of families, and the shape of the
whole. The score is the logistic function of the sum of their weights.
"""

import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, combinations, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from kinkeeper.language.compact import TextRow, WordPlaces
from kinkeeper.language.memo import Memo

SHIPPED_WEIGHTS = Path(__file__).with_name("weights.json")

_SPELLING_LENGTHS = (3, 4)
_START, _END = "^", "$"


def word_sequences(words: Sequence[str]) -> list[str]:
    """Return words and runs of two and three neighbours, with "^" and "$" as the ends of runs."""
    framed = [_START, *words, _END]
    pairs = [f"{first} {second}" for first, second in pairwise(framed)]
    triples = [f"{pair} {third}" for pair, third in zip(pairs, framed[2:], strict=False)]
    return [*words, *pairs, *triples]


def spelling_parts(word: str) -> list[str]:
    """Return the runs of three and four letters of a word, with "<" and ">" as its ends.

    Marks of the household ("_child_") have none.
    """
    if word.startswith("_"):
        return []
    framed = f"<{word}>"
    return [
        framed[start : start + size]
        for size in _SPELLING_LENGTHS
        for start in range(len(framed) - size + 1)
    ]


def shape(words: Sequence[str]) -> Iterator[str]:
    """Yield what is notable about a message as a whole: its length class and marks."""
    yield f"length {min(9, int(2 * math.log2(len(words) + 1)))}"
    if any("?" in word for word in words[-2:]):
        yield "ends in a question mark"
    text = " ".join(words)
    if "?" in text:
        yield "question mark"
    if "!" in text:
        yield "exclamation mark"


def family_pairs(families: Sequence[str]) -> Iterator[str]:
    """Yield the pairs of families found together."""
    for first, second in combinations(families, 2):
        yield f"{first}+{second}"


class Contribution(NamedTuple):
    """What one feature adds to the log-odds (a named tuple: dozens are made per message).

    Attributes:
        weight: In log-odds.
        kind: Of the feature: words, spelling, pattern, patterns or shape.
        name: Of the feature.
    """

    weight: float
    kind: str
    name: str


# One for all words that begin no run: it stays in the processor's cache, which thousands would not.
_NO_RUNS: Mapping[str, Any] = {}


class _Known(NamedTuple):
    """All that the weights hold of one word, in one place: looking it up costs more than adding it.

    Attributes:
        alone: Weights of the word by itself: as a word, if it has one.
        spelling: Of its letter runs together.
        seconds: Runs of two that it begins, by their second word.
        thirds: Runs of three that it begins, by their second and third word.
    """

    alone: Contribution | None
    spelling: Contribution
    seconds: Mapping[str, Contribution]
    thirds: Mapping[str, Mapping[str, Contribution]]


class _Runs:
    """Weights of words and of runs of two and three, read out by their first word.

    Kept as letters and numbers in a row: as objects they are ten times as large, and a family says few of them.

    Args:
        weights: By run, its words joined by spaces.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        by_first = [
            (first, list(runs))
            for first, runs in groupby(sorted(weights, key=_first_word), key=_first_word)
        ]
        self._firsts = WordPlaces([first for first, _ in by_first])
        self._runs = TextRow(["\n".join(runs) for _, runs in by_first])
        self._starts = array("I", accumulate((len(runs) for _, runs in by_first), initial=0))
        self._weights = array("d", (weights[run] for _, runs in by_first for run in runs))

    def of(self, first: str) -> Iterator[Contribution]:
        """Yield what a word adds by itself and in runs that it begins."""
        place = self._firsts.find(first)
        if place is None:
            return
        weights = self._weights[self._starts[place] : self._starts[place + 1]]
        for run, weight in zip(self._runs[place].split("\n"), weights, strict=True):
            yield Contribution(weight, "words", run)


def _first_word(run: str) -> str:
    return run.partition(" ")[0]


class Weights:
    """Fitted weights, in log-odds.

    Args:
        bias: Of a message without any feature.
        words: Of word sequences.
        spelling: Of letter runs; each counts once for every word that has it.
        families: Of pattern families.
        pairs: Of pairs of families.
        shape: Of shapes.
    """

    def __init__(
        self,
        *,
        bias: float,
        words: Mapping[str, float],
        spelling: Mapping[str, float],
        families: Mapping[str, float],
        pairs: Mapping[str, float],
        shape: Mapping[str, float],
    ) -> None:
        self.bias = bias
        self._words = _Runs(words)
        self._spelling = spelling
        self._known = Memo(self._look_up)
        self._named = {
            kind: {name: Contribution(weight, kind, name) for name, weight in weights.items()}
            for kind, weights in (("pattern", families), ("patterns", pairs), ("shape", shape))
        }

    def contributions(self, words: Sequence[str], families: Sequence[str]) -> list[Contribution]:
        """Return what adds to or takes from the log-odds of a message.

        Args:
            words: Respelled.
            families: Found in it, in file order.

        Returns:
            Features with their weights; those without a fitted weight are left out.
        """
        known = list(map(self._known.__getitem__, words))
        distinct = dict(zip(words, known, strict=True)).values()
        found = [each.alone for each in distinct if each.alone]
        found += dict.fromkeys(self._runs(words, known))
        found += [each.spelling for each in distinct]
        for kind, names in (
            ("pattern", families),
            ("patterns", family_pairs(families)),
            ("shape", shape(words)),
        ):
            weights = self._named[kind]
            found += [weights[name] for name in names if name in weights]
        return found

    def _runs(self, words: Sequence[str], known: Sequence[_Known]) -> list[Contribution]:
        """Return the known runs of two, then those of three, both in the order of the text."""
        framed = [self._known[_START], *known]
        following = [*words, _END]
        runs = [
            each.seconds[second]
            for each, second in zip(framed, following, strict=True)
            if second in each.seconds
        ]
        runs += [
            thirds[third]
            for each, second, third in zip(framed, words, following[1:], strict=False)
            if (thirds := each.thirds.get(second)) and third in thirds
        ]
        return runs

    def _look_up(self, word: str) -> _Known:
        known = self._spelling
        spelling = math.fsum([known[part] for part in set(spelling_parts(word)) if part in known])
        alone: Contribution | None = None
        seconds: dict[str, Contribution] = {}
        thirds: dict[str, dict[str, Contribution]] = {}
        for each in self._words.of(word):
            _, *rest = each.name.split(" ")
            if not rest:
                alone = each
            elif len(rest) == 1:
                seconds[rest[0]] = each
            else:
                thirds.setdefault(rest[0], {})[rest[1]] = each
        return _Known(
            alone=alone, spelling=Contribution(spelling, "spelling", word),
            seconds=seconds or _NO_RUNS, thirds=thirds or _NO_RUNS,
        )  # fmt: skip


@cache
def load_weights(path: Path = SHIPPED_WEIGHTS) -> Weights:
    """Read fitted weights from JSON."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Weights(**document)
