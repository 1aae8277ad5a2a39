"""Several opinions on the same texts as one: scores are brought to a common scale and added up. Pure.

Scores, not ranks: the first of a leg that found nothing good must not weigh as much as the first of
one that did.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
"""One number a text."""

_SIMILARITY, _CONFIDENCE, _RECENCY = 0.6, 0.3, 0.1


def normalised(scores: Scores) -> Scores:
    """Return scores between 0, the least of them, and 1, the greatest; all 0 where they are equal.

    Args:
        scores: Of any scale.
    """
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def fused(legs: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """Return the weighted mean of normalised scores, in [0, 1].

    A text that is better on one leg and no worse on the others comes out better.

    Args:
        legs: By name, each of shape (texts,).
        weights: > 0, by name; legs without one do not count.
    """
    used = [name for name in legs if name in weights]
    parts = [weights[name] * normalised(legs[name]) for name in used]
    return np.asarray(np.sum(parts, axis=0) / sum(weights[name] for name in used))


def context_order(similarity: Scores, confidence: Scores, recency: Scores) -> Scores:
    """Return what memories in a context are ordered by.

    Args:
        similarity: Calibrated, in [0, 1].
        confidence: In [0, 1].
        recency: In [0, 1].
    """
    return _SIMILARITY * similarity + _CONFIDENCE * confidence + _RECENCY * recency
