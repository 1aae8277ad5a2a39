"""The most worth that fits into a number of tokens. Pure."""

from collections.abc import Sequence

import numpy as np


def best_fit(sizes: Sequence[int], worths: Sequence[float], room: int) -> list[int]:
    """Return the places, ascending, of the things that together fit and are worth the most.

    What is worth nothing is left out. Costs time and memory in the number of things times the room.

    Args:
        sizes: Tokens of each thing, >= 0.
        worths: Worth of each, >= 0, in the same order.
        room: Tokens, >= 0.
    """
    best = np.zeros(room + 1)
    is_taken = np.zeros((len(sizes), room + 1), dtype=bool)
    for place, (size, worth) in enumerate(zip(sizes, worths, strict=True)):
        if size > room:
            continue
        with_it = best[: room + 1 - size] + worth
        better = with_it > best[size:]
        is_taken[place, size:] = better
        best[size:] = np.where(better, with_it, best[size:])
    chosen = []
    left = room
    for place in range(len(sizes) - 1, -1, -1):
        if is_taken[place, left]:
            chosen.append(place)
            left -= sizes[place]
    return chosen[::-1]
