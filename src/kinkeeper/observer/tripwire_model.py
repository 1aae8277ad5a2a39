"""The tripwire's linear model: what of a message counts, and the weights fitted for it.

A message is its respelled words and the pattern families found in them. Features are sequences of
one to three words, the spelling of each word, families, pairs of families, and the shape of the
whole. The score is the logistic function of the sum of their weights.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

SHIPPED_WEIGHTS = Path(__file__).with_name("tripwire_weights.json")

_LONGEST_SEQUENCE = 3
_SPELLING_LENGTHS = (3, 4)
_MEMO_LIMIT = 50_000


def word_sequences(words: Sequence[str]) -> Iterator[str]:
    """Yield the runs of one to three neighbouring words, with "^" and "$" as the ends."""
    framed = ["^", *words, "$"]
    for size in range(1, _LONGEST_SEQUENCE + 1):
        for start in range(len(framed) - size + 1):
            yield " ".join(framed[start : start + size])


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

    def contributions(
        self, words: Sequence[str], families: Sequence[str]
    ) -> list[tuple[str, float]]:
        """Return what adds to or takes from the log-odds of a message.

        Args:
            words: Respelled.
            families: Found in it, in file order.

        Returns:
            Names of features with their weights; those that weigh nothing are left out.
        """
        known = self.words
        named = [(f"words: {run}", known[run]) for run in word_sequences(words) if run in known]
        for word in set(words):
            weight = self._spelling_weight(word)
            if weight:
                named.append((f"spelling: {word}", weight))
        named += [(f"pattern: {name}", self.families.get(name, 0.0)) for name in families]
        named += [
            (f"patterns: {pair}", self.pairs[pair])
            for pair in family_pairs(families)
            if pair in self.pairs
        ]
        named += [(f"shape: {name}", self.shape.get(name, 0.0)) for name in shape(words)]
        return named

    def _spelling_weight(self, word: str) -> float:
        try:
            return self._memo[word]
        except KeyError:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            known = self.spelling
            weight = sum(known.get(part, 0.0) for part in set(spelling_parts(word)))
            self._memo[word] = weight
            return weight


def load_weights(path: Path = SHIPPED_WEIGHTS) -> Weights:
    """Read fitted weights from JSON."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Weights(**document)
