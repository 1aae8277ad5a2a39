"""Texts found by their meaning: the signs of their vectors, scanned; the best are then compared exactly.

Of each number of a vector only the sign is kept, a 32nd of its size. How many signs two vectors
share tells nearly as well as their cosine which are close: enough to choose those whose vectors are
worth reading.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.arrays import Allowing, Slots, best, foremost_allowed, grown, widened
from kinkeeper.models.embedding.embedder import Vectors

_BLOCK = 1 << 15
_WORD_BITS = 64
_NO_ROW = -1
_ROUGH_PART = 3
_ROUGHLY = 4_000
_MORE, _SAMPLE = 4, 256
_SPARE = 1.3
_GROWTH = 1.5

Signs = NDArray[np.uint64]
Rows = NDArray[np.intp]
Distances = NDArray[np.unsignedinteger[Any]]


class VectorIndex:
    """Signs of vectors, by the place of their text; the first ones tell how long all are.

    While there are few, the vectors themselves are kept too: reading them would cost more than the search.
    """

    def __init__(self) -> None:
        # The signs that are scanned: blocks of rows, word by word, so that one word of all is read in one go.
        self._rough: list[Signs] = []
        # The others row by row, and the place of the text of each row; 0 where it is gone.
        self._fine = np.empty((0, 0), np.uint64)
        self._slots = np.zeros(0, np.int64)
        self._values: NDArray[np.float16] | None = None
        self._size = 0
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
        part = _scanned(signs.shape[1])
        first, end = self._size, self._size + len(slots)
        self._make_room(end, signs.shape[1], vectors.shape[1])
        for start in range(first - first % _BLOCK, end, _BLOCK):
            own = slice(max(first, start), min(end, start + _BLOCK))
            block = self._rough[start // _BLOCK]
            block[:, own.start - start : own.stop - start] = signs[
                own.start - first : own.stop - first, :part
            ].T
        self._fine[first:end], self._slots[first:end] = signs[:, part:], slots
        if self._values is not None:
            self._values[first:end] = vectors
        self._row_of[slots] = np.arange(first, end)
        self._size = end
        self._count += len(slots)

    def remove(self, slots: Slots) -> None:
        """Remove the vectors of texts, where they have one."""
        highest = int(slots.max(initial=0))
        if highest >= len(self._row_of):
            self._row_of = grown(
                self._row_of, max(highest + 1, 2 * len(self._row_of)), fill=_NO_ROW
            )
        rows = self._row_of[slots]
        rows = rows[rows != _NO_ROW]
        self._slots[rows] = 0
        self._count -= len(rows)
        self._row_of[slots] = _NO_ROW

    def kept(self, slots: Slots) -> Vectors | None:
        """Return the vectors of texts, 0 of those without one; None where they are not kept."""
        if self._values is None:
            return None
        rows = self._row_of[np.minimum(slots, len(self._row_of) - 1)]
        kept: Vectors = widened(self._values.take(rows, axis=0))
        kept[(rows == _NO_ROW) | (slots >= len(self._row_of))] = 0
        return kept

    def search(self, query: Vectors, *, limit: int, is_allowed: Allowing | None = None) -> Slots:
        """Return the places of the texts whose vectors share most signs with one, best first.

        A third of the signs chooses so many that some thousands of them may be found, all signs choose
        among those.

        Args:
            query: Shape (dimension,).
            limit: Most of them, > 0.
            is_allowed: Tells which places may be found; all where None.
        """
        if not self._count:
            return np.empty(0, np.int64)
        signs = _signs(query[None, :])[0]
        part = _scanned(len(signs))
        rough = self._distances(signs[:part])
        most = _ROUGHLY if is_allowed is None else self._so_many_that(is_allowed, _ROUGHLY)
        while True:
            rows = self._nearest(rough, limit, most)
            differing = np.bitwise_count(self._fine.take(rows, axis=0) ^ signs[part:])
            # Word by word: to sum up short rows takes numpy ten times as long.
            further = sum(differing.T, start=rough[rows].astype(np.float32))
            slots, shared = self._slots[rows], -further
            if is_allowed is not None:
                slots, shared = foremost_allowed(slots, shared, limit, is_allowed)
            if len(slots) >= limit or len(rows) == self._count:
                return best(slots, shared, limit)[0]
            most *= _MORE

    def _so_many_that(self, is_allowed: Allowing, wanted: int) -> int:
        """Return of how many texts about as many as wanted may be found, told by a sample."""
        some = self._slots[: self._size : 1 + self._size // _SAMPLE]
        share = np.count_nonzero(is_allowed(some[some > 0])) / len(some)
        return int(wanted / max(share, 1 / len(some)))

    def _nearest(self, distances: Distances, limit: int, most: int) -> Rows:
        """Return the nearest rows that have a text.

        Args:
            limit: How many at least, where there are so many.
            most: How many at most, if that is possible.
        """
        some = distances[:: 1 + len(distances) // _BLOCK]
        share = min(1.0, _SPARE * most / len(distances))
        beyond = 1 + int(np.searchsorted(np.cumsum(np.bincount(some)), share * len(some)))
        furthest = int(distances.max())
        more = 1
        while True:
            rows = np.flatnonzero(distances < beyond)
            rows = rows[self._slots[rows] > 0]
            near = distances[rows]
            cut = _enough(np.bincount(near, minlength=beyond), limit, most)
            # Of what is as far as the last ones, there may be more.
            if cut < beyond or beyond > furthest:
                return rows[near < cut]
            beyond, more = beyond + more, 2 * more

    def _distances(self, signs: Signs) -> Distances:
        """Return in how many of the scanned signs each row differs."""
        kind = np.min_scalar_type(len(signs) * _WORD_BITS)
        found = np.zeros(self._size, kind)
        xor, differing = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
        for number, block in enumerate(self._rough):
            own = found[number * _BLOCK : (number + 1) * _BLOCK]
            size = len(own)
            for word, sign in enumerate(signs):
                np.bitwise_xor(block[word, :size], sign, out=xor[:size])
                np.bitwise_count(xor[:size], out=differing[:size])
                np.add(own, differing[:size], out=own)
        return found

    def _make_room(self, size: int, words: int, dimension: int) -> None:
        part = _scanned(words)
        while len(self._rough) * _BLOCK < size:
            self._rough.append(np.zeros((part, _BLOCK), np.uint64))
        if not self._size:
            self._fine = np.zeros((0, words - part), np.uint64)
            self._values = np.zeros((_BLOCK, dimension), np.float16)
        if len(self._rough) > 1:
            self._values = None
        if size > len(self._slots):
            room = max(size, int(_GROWTH * len(self._slots)))
            self._fine, self._slots = grown(self._fine, room), grown(self._slots, room)


def _scanned(words: int) -> int:
    """Return how many words of signs are scanned."""
    return -(-words // _ROUGH_PART)


def _enough(histogram: NDArray[np.int64], limit: int, most: int) -> int:
    """Return below which distance there are as many as wanted, and no more than affordable if possible."""
    within = np.cumsum(histogram)
    return int(max(np.searchsorted(within, limit) + 1, np.searchsorted(within, most, "right")))


def _signs(vectors: Vectors) -> NDArray[np.uint64]:
    """Return the signs of vectors, packed: shape (vectors, words)."""
    number, dimension = vectors.shape
    bits = np.zeros((number, -(-dimension // _WORD_BITS) * _WORD_BITS), np.bool_)
    bits[:, :dimension] = vectors > 0
    return np.packbits(bits, axis=1).view(np.uint64)
