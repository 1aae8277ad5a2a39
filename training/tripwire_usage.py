"""Which words are used alike, learnt from unlabelled chat.

Words that stand beside the same words get vectors that lie close together, so that the fit can tell
something about a word that occurs in no labelled message. The vectors themselves are not shipped: a
linear model of their sums is a weight for each word.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from scipy.sparse.linalg import svds

from evals.coordination import read_lines
from kinkeeper.language.text import tokenise
from kinkeeper.observer.tripwire.model import PatternSet

DIMENSIONS = 60
NEIGHBOURS = 3
RAREST = 6
# Rare neighbours say less than their surprise suggests; the usual smoothing of their frequency.
SMOOTHING = 0.75

_COMMANDS = ("clinc_router_dev.jsonl", "hwu_router_dev.jsonl")

Floats = NDArray[np.float64]


def unlabelled(data: Path, patterns: PatternSet) -> Iterator[list[str]]:
    """Yield respelled messages of the public sets, without the conversations we measure on."""
    measured = {row["conversation"] for row in read_lines(data / "coordination_real_dev.jsonl")}
    for text in _texts(data, measured):
        yield patterns.respell(tokenise(text))


def _texts(data: Path, measured: set[str]) -> Iterator[str]:
    for row in read_lines(data / "sms_real_dev.jsonl"):
        if row["thread"] not in measured:
            yield row["text"]
    for row in read_lines(data / "cabnc_home_conversations_dev.jsonl"):
        if row["conversation"] not in measured:
            yield from (turn["text"] for turn in row["turns"])
    for name in _COMMANDS:
        yield from (row["text"] for row in read_lines(data / name))


def word_vectors(messages: Iterable[Sequence[str]]) -> dict[str, Floats]:
    """Learn vectors of unit length, shape (DIMENSIONS,), for words that occur often enough."""
    heard = [list(words) for words in messages]
    counts = Counter(word for words in heard for word in words)
    index = {
        word: at
        for at, word in enumerate(word for word, count in counts.most_common() if count >= RAREST)
    }
    after = _neighbours(heard, index)
    surprise = hstack([_surprise(after), _surprise(after.T.tocsr())]).tocsr()
    start = np.ones(min(surprise.shape))
    left, strengths, _ = svds(surprise, k=DIMENSIONS, v0=start)
    vectors = left * np.sqrt(strengths)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    return {word: vectors[at] for word, at in index.items()}


def _neighbours(messages: Iterable[Sequence[str]], index: Mapping[str, int]) -> csr_matrix:
    """Count how often a word follows another, near ones more, shape (words, words)."""
    together: defaultdict[tuple[int, int], float] = defaultdict(float)
    for words in messages:
        places = [index.get(word, -1) for word in words]
        for at, first in enumerate(places):
            for distance, second in enumerate(places[at + 1 : at + 1 + NEIGHBOURS], start=1):
                if first >= 0 and second >= 0:
                    together[first, second] += 1 / distance
    rows, columns = zip(*together, strict=True)
    shape = (len(index), len(index))
    return csr_matrix((list(together.values()), (rows, columns)), shape=shape)


def _surprise(counts: csr_matrix) -> csr_matrix:
    """Return how much more often than by chance words meet, in log-odds; chance or less is 0."""
    pairs = counts.tocoo()
    rows = np.asarray(counts.sum(axis=1)).ravel()
    columns = np.asarray(counts.sum(axis=0)).ravel() ** SMOOTHING
    values = np.log(pairs.data * columns.sum() / (rows[pairs.row] * columns[pairs.col]))
    kept = values > 0
    return csr_matrix((values[kept], (pairs.row[kept], pairs.col[kept])), shape=pairs.shape)
