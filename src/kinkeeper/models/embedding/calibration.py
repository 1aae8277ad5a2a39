"""What the cosine of two vectors means: the chance that their texts speak of the same thing."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinkeeper.core.errors import InputError
from kinkeeper.models.embedding.embedder import Embedder

_DATA = files("kinkeeper.models.embedding") / "data"
_ROUNDS = 50
_RIDGE = 1e-3
_LARGEST_EXPONENT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A rising curve from a model's cosine to a likeness between 0 and 1.

    Half of the pairs it was fitted on are alike, so a likeness is the chance that two texts are, if
    one knew nothing else. Thresholds on it mean the same whatever the model.

    Attributes:
        slope: Steepness, > 0.
    """

    model: str
    slope: float
    midpoint: float

    def likeness(self, cosine: ArrayLike) -> NDArray[np.float64]:
        """Return the likeness, in (0, 1), of each cosine.

        Args:
            cosine: In [-1, 1], of any shape.
        """
        return np.asarray(1 / (1 + np.exp(-self.log_odds(cosine))))

    def log_odds(self, cosine: ArrayLike) -> NDArray[np.float64]:
        """Return the log odds of each cosine's likeness.

        Args:
            cosine: In [-1, 1], of any shape.
        """
        steps = self.slope * (np.asarray(cosine, dtype=np.float64) - self.midpoint)
        return np.clip(steps, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)

    def cosine(self, likeness: float) -> float:
        """Return the cosine from which pairs reach a likeness.

        Args:
            likeness: In (0, 1).
        """
        return self.midpoint + float(np.log(likeness / (1 - likeness))) / self.slope


def fit_calibration(model: str, cosines: ArrayLike, alike: ArrayLike) -> Calibration:
    """Fit the curve to labelled pairs, as if half of them were alike.

    Args:
        model: Whose cosines they are.
        cosines: Shape (pairs,).
        alike: Whether each pair is.

    Raises:
        InputError: The pairs are all of one kind, or unlike ones are the closer ones.
    """
    x = np.asarray(cosines, dtype=np.float64)
    y = np.asarray(alike, dtype=np.float64)
    if not 0 < y.sum() < len(y):
        raise InputError("a calibration needs both similar and dissimilar pairs")
    weights = np.where(y > 0, 0.5 / y.sum(), 0.5 / (len(y) - y.sum()))
    design = np.stack([x, np.ones_like(x)], axis=1)
    beta = np.zeros(2)
    penalty = np.diag([_RIDGE / len(y), 0])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(design @ beta, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)))
        gradient = design.T @ (weights * (chance - y)) + penalty @ beta
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), gradient)
        beta -= step
        if np.abs(step).max() < 1e-9:  # noqa: PLR2004 - settled
            break
    if beta[0] <= 0:
        raise InputError(f"for {model!r}, dissimilar texts are closer than similar ones")
    return Calibration(model=model, slope=float(beta[0]), midpoint=float(-beta[1] / beta[0]))


async def calibration_of(embedder: Embedder) -> Calibration:
    """Return the curve of a model: the shipped one, or one fitted now to the shipped pairs.

    Args:
        embedder: Of a model that is not built in, it is asked for some hundred vectors.

    Raises:
        InputError: To this model unlike texts are closer than like ones.
    """
    if shipped := shipped_calibrations().get(embedder.model):
        return shipped
    alike, first, second = zip(*_shipped_pairs(), strict=True)
    cosines = (await embedder.embed(first) * await embedder.embed(second)).sum(axis=1)
    return fit_calibration(embedder.model, cosines, alike)


@cache
def shipped_calibrations() -> Mapping[str, Calibration]:
    """Return the curves of the models that are built in, by model; read once."""
    found = json.loads((_DATA / "calibrations.json").read_text(encoding="utf-8"))["curves"]
    return {each["model"]: Calibration(**each) for each in found}


@cache
def _shipped_pairs() -> Sequence[tuple[bool, str, str]]:
    lines = (_DATA / "likeness_pairs.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(label == "alike", first, second) for label, first, second in rows]
