"""What both indexes are made of: arrays that grow, runs of sorted numbers, the best of many places."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

# Arrays that grow.

Number = TypeVar("Number", bound=np.generic)


def grown(column: NDArray[Number], size: int, *, fill: Any = 0) -> NDArray[Number]:
    """Return an array that begins with another.

    Args:
        column: Of any shape, no longer than `size`.
        size: Length of the new one; its further dimensions are the same.
        fill: What the rest of it holds.
    """
    new = np.full((size, *column.shape[1:]), fill, column.dtype)
    new[: len(column)] = column
    return new


# Numbers of half precision as those of single precision, three times as fast as the processor's
# library converts them.

# What each of the 65,536 numbers is: to look one up costs less than to convert it.
_SINGLE = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def widened(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return the same numbers, of the same shape.

    Args:
        halves: Of any shape, in any order of bytes.
    """
    return _SINGLE.take(halves.astype(np.float16, copy=False).view(np.uint16))


# Which text holds which term how often: runs of sorted numbers that are merged as they grow.

Slots = NDArray[np.int64]
"""Places of texts in an index."""

_PLACE_BITS = 32
_MOST_OFTEN = 255
_GROWTH = 2


class Posting(NamedTuple):
    """Where one term occurs.

    Attributes:
        counts: How often, in each; at most 255.
    """

    slots: NDArray[np.uint32]
    counts: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Run:
    """Postings of some texts, by term.

    Attributes:
        terms: Ascending, each once.
        offsets: Where each one's postings begin, and where the last one's end.
        slots: Ascending for each term.
    """

    terms: NDArray[np.int32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.uint32]
    counts: NDArray[np.uint8]

    def find(self, term: int) -> Posting | None:
        place = int(np.searchsorted(self.terms, term))
        if place == len(self.terms) or self.terms[place] != term:
            return None
        start, end = self.offsets[place], self.offsets[place + 1]
        return Posting(self.slots[start:end], self.counts[start:end])


class Postings:
    """Postings of texts whose places only grow; a batch costs as much as it holds, in the long run.

    Batches are runs; whenever the last one has become half as long as the one before, the two are merged.
    So there are few of them, and no number is moved more often than there are doublings.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    @property
    def size(self) -> int:
        """How many postings there are."""
        return sum(len(run.slots) for run in self._runs)

    def add(
        self, first: int, texts: Sequence[Sequence[int]], *, is_alive: NDArray[np.bool_]
    ) -> None:
        """Add texts.

        Args:
            first: Place of the first of them, after all before; the others follow.
            texts: The terms of each, repeated as they are.
            is_alive: By place; of texts that are gone, postings are dropped where runs are merged.
        """
        lengths = np.fromiter((len(text) for text in texts), np.int64, len(texts))
        terms = np.fromiter((term for text in texts for term in text), np.int64, int(lengths.sum()))
        if not len(terms):
            return
        slots = np.repeat(np.arange(first, first + len(texts), dtype=np.int64), lengths)
        keys, counts = np.unique((terms << _PLACE_BITS) | slots, return_counts=True)
        self._runs.append(
            _run(
                (keys >> _PLACE_BITS).astype(np.int32),
                (keys & ((1 << _PLACE_BITS) - 1)).astype(np.uint32),
                np.minimum(counts, _MOST_OFTEN).astype(np.uint8),
            )
        )
        while len(self._runs) > 1 and len(self._runs[-2].slots) < _GROWTH * len(
            self._runs[-1].slots
        ):
            later, earlier = self._runs.pop(), self._runs.pop()
            if merged := _merged(earlier, later, is_alive):
                self._runs.append(merged)

    def find(self, term: int) -> Posting:
        """Return where a term occurs.

        Args:
            term: Any; of an unknown one the posting is empty.
        """
        found = [posting for run in self._runs if (posting := run.find(term)) is not None]
        if len(found) == 1:
            return found[0]
        if not found:
            return Posting(np.empty(0, np.uint32), np.empty(0, np.uint8))
        return Posting(
            np.concatenate([posting.slots for posting in found]),
            np.concatenate([posting.counts for posting in found]),
        )


def counts_in(posting: Posting, slots: Slots) -> NDArray[np.float32]:
    """Return how often a term occurs in texts, of their shape.

    Args:
        slots: Places of texts, of any shape.
    """
    if not len(posting.slots):
        return np.zeros(slots.shape, np.float32)
    wanted = slots.astype(np.uint32)
    places = np.minimum(np.searchsorted(posting.slots, wanted), len(posting.slots) - 1)
    return np.where(posting.slots[places] == wanted, posting.counts[places], 0).astype(np.float32)


def _run(terms: NDArray[np.int32], slots: NDArray[np.uint32], counts: NDArray[np.uint8]) -> _Run:
    starts = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1])))
    offsets = np.append(starts, len(terms)).astype(np.int64)
    return _Run(terms[starts], offsets, slots, counts)


def _merged(earlier: _Run, later: _Run, is_alive: NDArray[np.bool_]) -> _Run | None:
    terms = np.concatenate([np.repeat(run.terms, np.diff(run.offsets)) for run in (earlier, later)])
    slots = np.concatenate([earlier.slots, later.slots])
    counts = np.concatenate([earlier.counts, later.counts])
    alive = is_alive[slots]
    if not alive.all():
        terms, slots, counts = terms[alive], slots[alive], counts[alive]
    if not len(terms):
        return None
    # Two sorted runs: a stable sort finds and interleaves them, in linear time.
    order = np.argsort(terms, kind="stable")
    return _run(terms[order], slots[order], counts[order])


# The best of many places, and those of the best that may be found. Pure.

Mask = NDArray[np.bool_]
Allowing = Callable[[Slots], Mask]
"""Tells which of some places may be found: a mask of their shape."""

_ASKED_FOR_ONE = 4
"""How many are asked at first whether they may be found, for each that is wanted."""


def best(
    slots: Slots, scores: NDArray[np.float32], limit: int
) -> tuple[Slots, NDArray[np.float32]]:
    """Return the places with the highest scores, best first; of equal ones the later.

    Args:
        limit: Most of them, > 0.
    """
    slots, scores = foremost(slots, scores, limit)
    order = np.lexsort((-slots, -scores))[:limit]
    return slots[order], scores[order]


def foremost(
    slots: Slots, scores: NDArray[np.float32], limit: int
) -> tuple[Slots, NDArray[np.float32]]:
    """Return the places with the highest scores in the order in which they come; all of equal ones.

    Args:
        limit: How many at least, where there are so many.
    """
    if len(slots) <= limit:
        return slots, scores
    worst = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    kept = np.flatnonzero(scores >= worst)
    return slots[kept], scores[kept]


def foremost_allowed(
    slots: Slots, scores: NDArray[np.float32], wanted: int, is_allowed: Allowing
) -> tuple[Slots, NDArray[np.float32]]:
    """Return places that may be found, all of the best among them; most may, so few are asked at first.

    Args:
        wanted: How many at least, where so many may be found; > 0.
    """
    most = _ASKED_FOR_ONE * wanted
    while True:
        some, theirs = foremost(slots, scores, most)
        keep = is_allowed(some)
        if len(some) == len(slots) or np.count_nonzero(keep) >= wanted:
            return some[keep], theirs[keep]
        most *= _ASKED_FOR_ONE
