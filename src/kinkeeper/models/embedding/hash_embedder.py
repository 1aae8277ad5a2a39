"""Vectors without any weights: words, pairs of words and runs of letters, hashed. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from zlib import crc32

import numpy as np

from kinkeeper.models.embedding.embedder import Vectors, normalised

MODEL = "hashing-1"
DIMENSION = 2048
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_RUNS = (3, 4, 5)
_WORD_WEIGHT, _PAIR_WEIGHT, _RUN_WEIGHT = 1.0, 0.7, 0.35
_REMEMBERED_WORDS = 20_000
_SIGN_BIT = 1 << 31


class HashingEmbedder:
    """Makes vectors of what is written, not of what is meant: needs nothing, and always gives the same."""

    @property
    def model(self) -> str:
        """Name and version of the recipe."""
        return MODEL

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return DIMENSION

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each text; of length 0 where a text has no words.

        Args:
            texts: Any.
        """
        return hashed(texts)


def hashed(texts: Sequence[str]) -> Vectors:
    """Return what `HashingEmbedder` does, without a loop.

    Args:
        texts: Any.
    """
    vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    for vector, text in zip(vectors, texts, strict=True):
        for place, weight in _features(text):
            vector[place] += weight
    return normalised(vectors)


def _features(text: str) -> Iterator[tuple[int, float]]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    words: list[str] = _WORD.findall(plain)
    for word in words:
        yield from _of_word(word)
    for first, second in pairwise(words):
        yield _hashed(f"{first} {second}", _PAIR_WEIGHT)


@lru_cache(_REMEMBERED_WORDS)
def _of_word(word: str) -> tuple[tuple[int, float], ...]:
    bordered = f"<{word}>"
    runs = [
        bordered[start : start + length]
        for length in _RUNS
        for start in range(len(bordered) - length + 1)
    ]
    # A long word counts as one word, not as its many runs.
    weight = _RUN_WEIGHT / max(1.0, len(runs)) ** 0.5
    return (_hashed(word, _WORD_WEIGHT), *(_hashed(f"#{run}", weight) for run in runs))


def _hashed(feature: str, weight: float) -> tuple[int, float]:
    """Return where a feature counts, and how much; half of them count backwards, so that clashes cancel."""
    value = crc32(feature.encode())
    return value % DIMENSION, weight if value & _SIGN_BIT else -weight
