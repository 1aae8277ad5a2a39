"""The tripwire's linear model: what of a message counts, and the weights fitted for it.

A message is its respelled words and the pattern families found in them. Features are sequences of
one to three words, the spelling of each word, families, pairs of families, and the shape of the
whole. The score is the logistic function of the sum of their weights.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

SHIPPED_WEIGHTS = Path(__file__).with_name("tripwire_weights.json")

_SPELLING_LENGTHS = (3, 4)
_MEMO_LIMIT = 50_000


def word_sequences(words: Sequence[str]) -> list[str]:
    """Return words and runs of two and three neighbours, with "^" and "$" as the ends of runs."""
    framed = ["^", *words, "$"]
    pairs = [f"{first} {second}" for first, second in pairwise(framed)]
    triples = [f"{pair} {third}" for pair, third in zip(pairs, framed[2:], strict=False)]
    return [*words, *pairs, *triples]


def spelling_parts(word: str) -> Iterator[str]:
    """Yield the runs of three and four letters of a word, with "<" and ">" as its ends.

    Marks of the household ("_child_") have none.
    """
    if word.startswith("_"):
        return
    framed = f"<{word}>"
    for size in _SPELLING_LENGTHS:
        for start in range(len(framed) - size + 1):
            yield framed[start : start + size]


def shape(words: Sequence[str]) -> Iterator[str]:
    """Yield what is notable about a message as a whole: its length class and marks."""
    yield f"length {min(9, int(2 * math.log2(len(words) + 1)))}"
    if any("?" in word for word in words[-2:]):
        yield "ends in a question mark"
    if any("?" in word for word in words):
        yield "question mark"
    if any("!" in word for word in words):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Fitted weights, in log-odds.

    Attributes:
        bias: Of a message without any feature.
        words: Of word sequences.
        spelling: Of letter runs; each counts once for every word that has it.
        families: Of pattern families.
        pairs: Of pairs of families.
        shape: Of shapes.
    """

    bias: float
    words: Mapping[str, float]
    spelling: Mapping[str, float]
    families: Mapping[str, float]
    pairs: Mapping[str, float]
    shape: Mapping[str, float]
    _memo: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def contributions(self, words: Sequence[str], families: Sequence[str]) -> list[Contribution]:
        """Return what adds to or takes from the log-odds of a message.

        Args:
            words: Respelled.
            families: Found in it, in file order.

        Returns:
            Features with their weights; those without a fitted weight are left out.
        """
        known = self.words
        found = [
            Contribution(known[run], "words", run)
            for run in dict.fromkeys(word_sequences(words))
            if run in known
        ]
        found += [
            Contribution(self._spelling_weight(word), "spelling", word)
            for word in dict.fromkeys(words)
        ]
        for kind, weights, names in (
            ("pattern", self.families, families),
            ("patterns", self.pairs, family_pairs(families)),
            ("shape", self.shape, shape(words)),
        ):
            found += [Contribution(weights[name], kind, name) for name in names if name in weights]
        return found

    def _spelling_weight(self, word: str) -> float:
        try:
            return self._memo[word]
        except KeyError:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            known = self.spelling
            weight = math.fsum(known.get(part, 0.0) for part in set(spelling_parts(word)))
            self._memo[word] = weight
            return weight


@cache
def load_weights(path: Path = SHIPPED_WEIGHTS) -> Weights:
    """Read fitted weights from JSON."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Weights(**document)
