"""Texts found by their meaning: the signs of their vectors, scanned; the best are then compared exactly.

Of each number of a vector only the sign is kept, a 32nd of its size. How many signs two vectors
share tells nearly as well as their cosine which are close: enough to choose those whose vectors are
worth reading.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.columns import grown
from kinkeeper.memory.finding.postings import Slots
from kinkeeper.models.embedding.embedder import Vectors

_BLOCK = 1 << 15
_WORD_BITS = 64
_NO_ROW = -1
_ROUGH_PART = 3
_ROUGHLY = 4_000

Mask = NDArray[np.bool_]


@dataclass(slots=True)
class _Block:
    """Signs of some rows, word by word, so that one word of all of them is read in one go.

    Attributes:
        signs: Shape (words, _BLOCK).
        slots: Place of the text of each row; 0 where it is gone.
        size: Rows in use.
    """

    signs: NDArray[np.uint64]
    slots: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BLOCK, np.int64))
    size: int = 0


class VectorIndex:
    """Signs of vectors, by the place of their text; the first ones tell how long all are."""

    def __init__(self) -> None:
        self._words = 0
        self._blocks: list[_Block] = []
        self._row_of = np.full(1, _NO_ROW, np.int32)
        self._count = 0

    def __len__(self) -> int:
        """Return how many texts have a vector."""
        return self._count

    def put(self, slots: Slots, vectors: Vectors) -> None:
        """Add texts' vectors, in place of earlier ones.

        Args:
            slots: Places of the texts, each once.
            vectors: Shape (texts, dimension).
        """
        if not len(slots):
            return
        self.remove(slots)
        signs = _signs(vectors)
        self._words = signs.shape[1]
        start = 0
        while start < len(slots):
            block = self._block_with_room()
            end = min(len(slots), start + _BLOCK - block.size)
            rows = slice(block.size, block.size + end - start)
            block.signs[:, rows] = signs[start:end].T
            block.slots[rows] = slots[start:end]
            first = (len(self._blocks) - 1) * _BLOCK + block.size
            self._row_of[slots[start:end]] = np.arange(first, first + end - start)
            block.size, start = rows.stop, end
        self._count += len(slots)

    def remove(self, slots: Slots) -> None:
        """Remove the vectors of texts, where they have one.

        Args:
            slots: Places of texts.
        """
        highest = int(slots.max(initial=0))
        if highest >= len(self._row_of):
            self._row_of = grown(
                self._row_of, max(highest + 1, 2 * len(self._row_of)), fill=_NO_ROW
            )
        rows = self._row_of[slots]
        for row in rows[rows != _NO_ROW].tolist():
            self._blocks[row // _BLOCK].slots[row % _BLOCK] = 0
            self._count -= 1
        self._row_of[slots] = _NO_ROW

    def search(
        self, query: Vectors, *, limit: int, is_allowed: Callable[[Slots], Mask] | None = None
    ) -> Slots:
        """Return the places of the texts whose vectors share most signs with one, best first.

        A third of the signs chooses some thousands, all of them choose among those.

        Args:
            query: Shape (dimension,).
            limit: Most of them, > 0.
            is_allowed: Tells which places may be found; all where None.
        """
        if not self._count:
            return np.empty(0, np.int64)
        signs = _signs(query[None, :])[0]
        part = -(-self._words // _ROUGH_PART)
        blocks, rows, distances = self._nearest(signs[:part], limit, is_allowed)
        slots = np.empty(len(rows), np.int64)
        for number in np.unique(blocks).tolist():
            here = np.flatnonzero(blocks == number)
            block = self._blocks[number]
            slots[here] = block.slots[rows[here]]
            for word in range(part, self._words):
                distances[here] += np.bitwise_count(block.signs[word, rows[here]] ^ signs[word])
        order = np.lexsort((-slots, distances))[:limit]
        return slots[order]

    def _nearest(
        self,
        signs: NDArray[np.uint64],
        limit: int,
        is_allowed: Callable[[Slots], Mask] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]]:
        """Return rows by some words of signs, with all of the nearest: block, row and distance of each."""
        xor, shared = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
        distance = np.empty(_BLOCK, np.uint16)
        # How many rows are how far, of those kept so far.
        histogram = np.zeros(len(signs) * _WORD_BITS + 1, np.int64)
        beyond = len(histogram)
        kept: list[tuple[int, NDArray[np.int64], NDArray[np.uint16]]] = []
        for number, block in enumerate(self._blocks):
            own = distance[: block.size]
            own[:] = 0
            for word, sign in enumerate(signs):
                np.bitwise_xor(block.signs[word, : block.size], sign, out=xor[: block.size])
                np.bitwise_count(xor[: block.size], out=shared[: block.size])
                np.add(own, shared[: block.size], out=own)
            rows = np.flatnonzero(own < beyond)
            places = block.slots[rows]
            keep = places > 0
            if is_allowed is not None:
                keep &= is_allowed(places)
            rows = rows[keep]
            kept.append((number, rows, own[rows]))
            histogram += np.bincount(own[rows], minlength=len(histogram))
            within = np.cumsum(histogram)
            # Many are equally far: those that may be needed, and then no more than are affordable.
            beyond = int(
                max(np.searchsorted(within, limit) + 1, np.searchsorted(within, _ROUGHLY, "right"))
            )
        near = [(number, rows[far < beyond], far[far < beyond]) for number, rows, far in kept]
        return (
            np.concatenate([np.full(len(rows), number) for number, rows, _ in near]),
            np.concatenate([rows for _, rows, _ in near]),
            np.concatenate([far for *_, far in near]),
        )

    def _block_with_room(self) -> _Block:
        if not self._blocks or self._blocks[-1].size == _BLOCK:
            self._blocks.append(_Block(np.zeros((self._words, _BLOCK), np.uint64)))
        return self._blocks[-1]


def _signs(vectors: Vectors) -> NDArray[np.uint64]:
    """Return the signs of vectors, packed: shape (vectors, words)."""
    number, dimension = vectors.shape
    bits = np.zeros((number, -(-dimension // _WORD_BITS) * _WORD_BITS), np.bool_)
    bits[:, :dimension] = vectors > 0
    return np.packbits(bits, axis=1).view(np.uint64)
