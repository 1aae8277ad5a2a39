"""Who turns texts into vectors: the protocol, vectors of hashed words, and both kinds in one."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Protocol, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kinkeeper.core.errors import InputError

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearHead:
    """A logistic regression: labels apart from each other, or one of them (`is_exclusive`).

    Attributes:
        model: Whose vectors it reads.
        labels: In the order of the columns of `weights`.
        cues: Names of the features that stand before the vector.
        weights: Shape (cues + dimension, labels).
        bias: Shape (labels,).
        is_exclusive: Whether exactly one label holds, so that the chances add up to 1.
    """

    model: str
    labels: tuple[str, ...]
    cues: tuple[str, ...]
    weights: Floats
    bias: Floats
    is_exclusive: bool

    def predict(self, cues: Mapping[str, float], vector: Floats) -> dict[str, float]:
        """Return the chance of each label, in [0, 1].

        Args:
            cues: Features by name; those not named count 0, unknown ones are not read.
            vector: Of the text, by `model`; shape (dimension,).

        Raises:
            InputError: The vector is of another length than those it was fitted on.
        """
        features = np.concatenate(
            [np.array([cues.get(name, 0.0) for name in self.cues], dtype=np.float32), vector]
        )
        if features.shape != self.weights.shape[:1]:
            raise InputError(
                f"the vector has {len(vector)} numbers, not as many as {self.model} gives"
            )
        # Most hashed words are absent; a product this small stays in one thread.
        present = np.flatnonzero(features)
        sums = np.asarray(features[present] @ self.weights[present] + self.bias, dtype=np.float64)
        if self.is_exclusive:
            chances = np.exp(sums - sums.max())
            chances /= chances.sum()
        else:
            chances = 1 / (1 + np.exp(-np.clip(sums, -60, 60)))
        return dict(zip(self.labels, map(float, chances), strict=True))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return a head as `save` wrote it."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                model=str(stored["model"]),
                labels=tuple(map(str, stored["labels"])),
                cues=tuple(map(str, stored["cues"])),
                bias=stored["bias"].astype(np.float32),
                weights=stored["weights"].astype(np.float32),
                is_exclusive=bool(stored["is_exclusive"]),
            )

    def save(self, path: Path) -> None:
        """Write it into a file, the weights in half precision."""
        np.savez_compressed(
            path,
            model=np.array(self.model),
            labels=np.array(self.labels, dtype=np.str_),
            cues=np.array(self.cues, dtype=np.str_),
            weights=self.weights.astype(np.float16),
            bias=self.bias.astype(np.float32),
            is_exclusive=np.array(self.is_exclusive),
        )


Vectors = NDArray[np.float32]
"""One row a text, each of length 1 (or 0 where a text holds nothing): shape (texts, dimension)."""


class Embedder(Protocol):
    """Turns texts into vectors; like texts get like vectors."""

    @property
    def model(self) -> str:
        """Which model makes the vectors; those of different models are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers a vector.

        Raises:
            UnavailableError: A server has to be asked first, with `embed`.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each text, in their order.

        Args:
            texts: Any number of any texts; what exceeds the model's window is left out.

        Raises:
            UnavailableError: The model cannot be loaded or reached; the message says what to do.
        """
        ...


def normalised(vectors: NDArray[np.floating]) -> Vectors:
    """Return vectors of length 1; those of length 0 stay.

    Args:
        vectors: Shape (texts, dimension).
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths, dtype=np.float32)


# Vectors without any weights: words, pairs of words and runs of letters, hashed. Pure.

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
        """Return a vector of length 1 for each text; of length 0 where a text has no words."""
        return hashed(texts)


def hashed(texts: Sequence[str]) -> Vectors:
    """Return what `HashingEmbedder` does, without a loop."""
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


# What a text means and what is written in it, in one vector. Pure but for the embedders that are
# asked.


class WithWords:
    """Sets the hashed words of a text beside its meaning: a head that reads both errs less than either."""

    def __init__(self, embedder: Embedder) -> None:
        self._meaning = embedder
        self._words = HashingEmbedder()

    @property
    def model(self) -> str:
        """Names of both."""
        return f"{self._meaning.model}+{self._words.model}"

    @property
    def dimension(self) -> int:
        """Numbers a vector.

        Raises:
            UnavailableError: A server has to be asked first, with `embed`.
        """
        return self._meaning.dimension + self._words.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text, both halves of equal weight; of length 1 where neither half is empty."""
        meaning = await self._meaning.embed(texts)
        words = await self._words.embed(texts)
        return joined(meaning, words)


def joined(meaning: Vectors, words: Vectors) -> Vectors:
    """Return what texts mean and what is written in them side by side, of equal weight.

    Args:
        meaning: Shape (texts, dimension).
        words: Shape (texts, other dimension).
    """
    return np.hstack([meaning, words]) / np.float32(sqrt(2))


def with_words(embedder: Embedder | None) -> Embedder | None:
    """Return an embedder that reads words, too; those that read nothing else, and none, as they are."""
    if embedder is None or isinstance(embedder, HashingEmbedder):
        return embedder
    return WithWords(embedder)
