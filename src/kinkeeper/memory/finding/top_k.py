"""The best of many places, and those of the best that may be found. Pure."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.postings import Slots

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
        slots: Places.
        scores: As many.
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
        slots: Places.
        scores: As many.
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
        slots: Places.
        scores: As many.
        wanted: How many at least, where so many may be found; > 0.
        is_allowed: Tells which.
    """
    most = _ASKED_FOR_ONE * wanted
    while True:
        some, theirs = foremost(slots, scores, most)
        keep = is_allowed(some)
        if len(some) == len(slots) or np.count_nonzero(keep) >= wanted:
            return some[keep], theirs[keep]
        most *= _ASKED_FOR_ONE
