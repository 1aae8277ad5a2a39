"""Whether what was found bears on the query at all. Pure."""

import numpy as np

from kinkeeper.memory.finding.fusion import Scores
from kinkeeper.models.embedding.calibration import Calibration

FORESEEN = 0.02
"""Relevance from which a hit of what whole turns call for is one: of all they say, what was said before shares little."""

_STEEPNESS, _HALF = 12.0, 0.35
# What words and meaning have in sum seldom goes as high as one of them may. Quantiles of first hits: the sum, and
# what it counts as, so that a threshold lets through as much whether or not meaning is compared
# (training/fit_relevance.py). The first and last are the least and most there can be.
_SUMS = (-16.0, -4.7, -3.8, -2.4, -1.6, -0.6, 0.5, 2.4, 4.5, 14.2)
_COUNTS_AS = (-4.2, -1.2, -0.4, 0.8, 1.5, 2.0, 2.6, 3.3, 3.9, 7.8)


def relevance(
    words: Scores, most: float, cosines: Scores | None, calibration: Calibration | None
) -> Scores:
    """Return the chance that texts bear on a query, in [0, 1].

    Words and meaning are two witnesses: their log odds add up, so what has only one of them counts less
    than what has both.

    Args:
        words: Score of each text by the query's words, names left out.
        most: The highest score such a query can have.
        cosines: Of each text to the query, 0 where its meaning is not known; None where nothing tells.
        calibration: What cosines mean; None where nothing tells.
    """
    share = words / most if most else np.zeros_like(words)
    log_odds = by_words(share)
    if cosines is not None and calibration is not None:
        both = np.interp(log_odds + calibration.log_odds(cosines), _SUMS, _COUNTS_AS)
        log_odds = np.where(cosines == 0, log_odds, both)
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def by_words(share: Scores) -> Scores:
    """Return log odds that texts bear on a query, by its words alone.

    Args:
        share: Of the highest score, in [0, 1].
    """
    return _STEEPNESS * (share - _HALF)
