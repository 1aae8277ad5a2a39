"""Whether what was found bears on the query at all. Pure."""

import numpy as np

from kinkeeper.memory.finding.fusion import Scores
from kinkeeper.models.embedding.calibration import Calibration

OPEN = 0.2
"""Relevance from which a hit may be shown unasked."""

FORESEEN = 0.02
"""The same of what whole turns call for: of all they say, what was said before shares little."""

_STEEPNESS, _HALF = 12.0, 0.35


def relevance(
    words: Scores, most: float, cosines: Scores | None, calibration: Calibration | None
) -> Scores:
    """Return the chance that texts bear on a query, in [0, 1].

    Args:
        words: Score of each text by the query's words, names left out.
        most: The highest score such a query can have.
        cosines: Of each text to the query; None where nothing tells.
        calibration: What cosines mean; None where nothing tells.
    """
    share = words / most if most else np.zeros_like(words)
    found = 1 / (1 + np.exp(-_STEEPNESS * (share - _HALF)))
    if cosines is not None and calibration is not None:
        found = np.maximum(found, calibration.likeness(cosines))
    return np.asarray(found)
