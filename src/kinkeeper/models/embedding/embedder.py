"""The protocol of whatever turns texts into vectors, and what all of them share. Pure."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
