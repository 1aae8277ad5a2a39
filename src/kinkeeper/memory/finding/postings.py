"""Which text holds which term how often: runs of sorted numbers that are merged as they grow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.int64]
"""Places of texts in an index."""

_PLACE_BITS = 32
_MOST_OFTEN = 255
_GROWTH = 2


class Posting(NamedTuple):
    """Where one term occurs.

    Attributes:
        slots: Ascending.
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
        counts: As many.
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
        posting: Of the term.
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
