"""The fitted weights that tell a social clause from others. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise

import numpy as np

from kinkeeper.conversation.routing.clause_words import Clause
from kinkeeper.models.embedding.heads import Floats, LinearHead

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
        social_words: Words that social clauses have.
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
