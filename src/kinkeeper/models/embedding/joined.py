"""What a text means and what is written in it, in one vector. Pure but for the embedders that are asked."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from kinkeeper.models.embedding.embedder import Embedder, Vectors
from kinkeeper.models.embedding.hash_embedder import HashingEmbedder


class WithWords:
    """Sets the hashed words of a text beside its meaning: a head that reads both errs less than either.

    Args:
        embedder: Tells the meaning.
    """

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
        """Return a vector for each text, both halves of equal weight; of length 1 where neither half is empty.

        Args:
            texts: Any.

        Raises:
            UnavailableError: The embedder cannot be loaded or reached.
        """
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
    """Return an embedder that reads words, too; those that read nothing else, and none, as they are.

    Args:
        embedder: Any.
    """
    if embedder is None or isinstance(embedder, HashingEmbedder):
        return embedder
    return WithWords(embedder)
