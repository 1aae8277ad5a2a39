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
        values: The vectors themselves, shape (_BLOCK, dimension), of a block that is the only one.
    """

    signs: NDArray[np.uint64]
    slots: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BLOCK, np.int64))
    size: int = 0
    values: NDArray[np.float16] | None = None


class VectorIndex:
    """Signs of vectors, by the place of their text; the first ones tell how long all are.

    While there are few, the vectors themselves are kept too: reading them would cost more than the search.
    """

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
            block = self._block_with_room(vectors.shape[1])
            end = min(len(slots), start + _BLOCK - block.size)
            rows = slice(block.size, block.size + end - start)
            block.signs[:, rows] = signs[start:end].T
            block.slots[rows] = slots[start:end]
            if block.values is not None:
                block.values[rows] = vectors[start:end]
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

    def kept(self, slots: Slots) -> Vectors | None:
        """Return the vectors of texts, 0 of those without one; None where they are not kept.

        Args:
            slots: Places of texts.
        """
        values = self._blocks[0].values if self._blocks else None
        if values is None:
            return None
        rows = self._row_of[np.minimum(slots, len(self._row_of) - 1)]
        kept: Vectors = values[rows].astype(np.float32)
        kept[(rows == _NO_ROW) | (slots >= len(self._row_of))] = 0
        return kept

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
        near = self._nearest(signs[:part], limit, is_allowed, most=_ROUGHLY)
        if near is None:
            # Of the nearest, few may be found: all are asked.
            near = self._nearest(signs[:part], limit, is_allowed, most=_BLOCK) or _Near()
        for number in np.unique(near.rows // _BLOCK).tolist():
            here = np.flatnonzero(near.rows // _BLOCK == number)
            block, rows = self._blocks[number], near.rows[here] % _BLOCK
            near.slots[here] = block.slots[rows]
            for word in range(part, self._words):
                near.distances[here] += np.bitwise_count(block.signs[word, rows] ^ signs[word])
        order = np.lexsort((-near.slots, near.distances))[:limit]
        return near.slots[order]

    def _nearest(
        self,
        signs: NDArray[np.uint64],
        limit: int,
        is_allowed: Callable[[Slots], Mask] | None,
        *,
        most: int,
    ) -> "_Near | None":
        """Return rows by some words of signs, with all of the nearest; None where too few were asked.

        Args:
            signs: The first words of the query's.
            limit: How many are wanted.
            is_allowed: Tells which places may be found.
            most: How many rows of a block are asked whether they may be found, where that can be told.
        """
        scan = _Scan(signs)
        near, beyond = _Near(), scan.furthest + 1
        # All were asked that are nearer than this: beyond all distances where no block was cut.
        asked_below = scan.furthest + 2
        histogram = np.zeros(scan.furthest + 1, np.int64)
        for number, block in enumerate(self._blocks):
            distances = scan.distances(block)
            rows = np.flatnonzero(distances < beyond)
            if len(rows) > most:
                cut = _enough(np.bincount(distances[rows]), limit, most)
                asked_below = min(asked_below, cut)
                rows = rows[distances[rows] < cut]
            places = block.slots[rows]
            keep = places > 0
            if is_allowed is not None:
                keep &= is_allowed(places)
            near.add(number * _BLOCK + rows[keep], distances[rows[keep]])
            histogram += np.bincount(distances[rows[keep]], minlength=len(histogram))
            beyond = _enough(histogram, limit, _ROUGHLY)
        needed = int(np.searchsorted(np.cumsum(histogram), limit)) + 1
        if needed > asked_below:
            return None
        near.keep_below(beyond)
        return near

    def _block_with_room(self, dimension: int) -> _Block:
        if self._blocks and self._blocks[-1].size < _BLOCK:
            return self._blocks[-1]
        block = _Block(np.zeros((self._words, _BLOCK), np.uint64))
        if self._blocks:
            self._blocks[0].values = None
        else:
            block.values = np.zeros((_BLOCK, dimension), np.float16)
        self._blocks.append(block)
        return block


@dataclass(slots=True)
class _Near:
    """Rows that may be near.

    Attributes:
        rows: Numbered through all blocks.
        distances: How many signs differ.
        slots: Places of their texts.
    """

    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    distances: NDArray[np.uint16] = field(default_factory=lambda: np.empty(0, np.uint16))
    slots: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def add(self, rows: NDArray[np.int64], distances: NDArray[np.uint16]) -> None:
        self.rows = np.concatenate([self.rows, rows])
        self.distances = np.concatenate([self.distances, distances])

    def keep_below(self, beyond: int) -> None:
        near = self.distances < beyond
        self.rows, self.distances = self.rows[near], self.distances[near]
        self.slots = np.zeros(len(self.rows), np.int64)


class _Scan:
    """Counts in how many signs the rows of blocks differ from a query's."""

    def __init__(self, signs: NDArray[np.uint64]) -> None:
        self.furthest = len(signs) * _WORD_BITS
        self._signs = signs
        self._xor = np.empty(_BLOCK, np.uint64)
        self._differing = np.empty(_BLOCK, np.uint8)
        self._distances = np.empty(_BLOCK, np.uint16)

    def distances(self, block: _Block) -> NDArray[np.uint16]:
        """Return the distance of each row; the array is used again for the next block."""
        size = block.size
        own = self._distances[:size]
        own[:] = 0
        for word, sign in enumerate(self._signs):
            np.bitwise_xor(block.signs[word, :size], sign, out=self._xor[:size])
            np.bitwise_count(self._xor[:size], out=self._differing[:size])
            np.add(own, self._differing[:size], out=own)
        return own


def _enough(histogram: NDArray[np.int64], limit: int, most: int) -> int:
    """Return below which distance there are as many as wanted, and no more than affordable if possible.

    Args:
        histogram: How many there are at each distance.
        limit: How many are wanted.
        most: How many are affordable.
    """
    within = np.cumsum(histogram)
    return int(max(np.searchsorted(within, limit) + 1, np.searchsorted(within, most, "right")))


def _signs(vectors: Vectors) -> NDArray[np.uint64]:
    """Return the signs of vectors, packed: shape (vectors, words)."""
    number, dimension = vectors.shape
    bits = np.zeros((number, -(-dimension // _WORD_BITS) * _WORD_BITS), np.bool_)
    bits[:, :dimension] = vectors > 0
    return np.packbits(bits, axis=1).view(np.uint64)
