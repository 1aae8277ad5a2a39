"""Small classifiers over cues and a vector: one weighted sum a label, and its chance. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kinkeeper.core.errors import InputError

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearHead:
    """A logistic regression: labels apart from each other, or one of them (`is_exclusive`).

    Attributes:
        model: Whose vectors it reads.
        labels: In the order of the columns of `weights`.
        cues: Names of the features that stand before the vector.
        weights: Shape (cues + dimension, labels).
        bias: Shape (labels,).
        is_exclusive: Whether exactly one label holds, so that the chances add up to 1.
    """

    model: str
    labels: tuple[str, ...]
    cues: tuple[str, ...]
    weights: Floats
    bias: Floats
    is_exclusive: bool

    def predict(self, cues: Mapping[str, float], vector: Floats) -> dict[str, float]:
        """Return the chance of each label, in [0, 1].

        Args:
            cues: Features by name; those not named count 0, unknown ones are not read.
            vector: Of the text, by `model`; shape (dimension,).

        Raises:
            InputError: The vector is of another length than those it was fitted on.
        """
        features = np.concatenate(
            [np.array([cues.get(name, 0.0) for name in self.cues], dtype=np.float32), vector]
        )
        if features.shape != self.weights.shape[:1]:
            raise InputError(
                f"the vector has {len(vector)} numbers, not as many as {self.model} gives"
            )
        # Most hashed words are absent; a product this small stays in one thread.
        present = np.flatnonzero(features)
        sums = np.asarray(features[present] @ self.weights[present] + self.bias, dtype=np.float64)
        if self.is_exclusive:
            chances = np.exp(sums - sums.max())
            chances /= chances.sum()
        else:
            chances = 1 / (1 + np.exp(-np.clip(sums, -60, 60)))
        return dict(zip(self.labels, map(float, chances), strict=True))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return a head as `save` wrote it."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                model=str(stored["model"]), labels=tuple(map(str, stored["labels"])),
                cues=tuple(map(str, stored["cues"])), bias=stored["bias"].astype(np.float32),
                weights=stored["weights"].astype(np.float32),
                is_exclusive=bool(stored["is_exclusive"]),
            )  # fmt: skip

    def save(self, path: Path) -> None:
        """Write it into a file, the weights in half precision."""
        np.savez_compressed(
            path, model=np.array(self.model), labels=np.array(self.labels, dtype=np.str_),
            cues=np.array(self.cues, dtype=np.str_), weights=self.weights.astype(np.float16),
            bias=self.bias.astype(np.float32), is_exclusive=np.array(self.is_exclusive),
        )  # fmt: skip
