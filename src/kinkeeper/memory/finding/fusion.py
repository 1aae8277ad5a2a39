"""In which order memories stand in a context. Pure."""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
"""One number a text."""

_SIMILARITY, _CONFIDENCE, _RECENCY = 0.6, 0.3, 0.1


def context_order(similarity: Scores, confidence: Scores, recency: Scores) -> Scores:
    """Return what memories in a context are ordered by.

    Args:
        similarity: Calibrated, in [0, 1].
        confidence: In [0, 1].
        recency: In [0, 1].
    """
    return _SIMILARITY * similarity + _CONFIDENCE * confidence + _RECENCY * recency
