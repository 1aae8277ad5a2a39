"""Of texts that say the same, one. Pure."""

import numpy as np
from numpy.typing import NDArray

ALIKE = 0.8
"""Likeness from which two texts say the same."""


def without_repeats(likeness: NDArray[np.floating], confidences: NDArray[np.floating]) -> list[int]:
    """Return which texts to keep, in their order: of each cluster the most confident one.

    A cluster forms around its best text: whatever is like it belongs to it, unless it already belongs
    to a better one. The text kept takes the place of the cluster's best.

    Args:
        likeness: Calibrated, in [0, 1], symmetric, of texts in the order of their worth, best first.
        confidences: In [0, 1], as many.
    """
    kept: list[int] = []
    is_left = np.ones(len(confidences), np.bool_)
    for first in range(len(confidences)):
        if not is_left[first]:
            continue
        is_alike = is_left & (likeness[first] >= ALIKE)
        is_alike[first] = True
        cluster = np.flatnonzero(is_alike)
        kept.append(int(cluster[np.argmax(confidences[cluster])]))
        is_left &= ~is_alike
    return kept
