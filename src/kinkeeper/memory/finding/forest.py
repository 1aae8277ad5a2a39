"""Small regression trees, all walked at once. Pure."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Trees whose leaves are added up. A node that leads to itself is a leaf.

    Attributes:
        columns: Names of the numbers that are asked for.
        feature: Column each node looks at: shape (trees, nodes).
        threshold: At or below it the way leads left: shape (trees, nodes).
        left: Node there: shape (trees, nodes).
        right: Node otherwise: shape (trees, nodes).
        value: What a leaf adds: shape (trees, nodes).
        depth: Most steps from a root to a leaf.
    """

    columns: tuple[str, ...]
    feature: Numbers
    threshold: NDArray[np.float32]
    left: Numbers
    right: Numbers
    value: NDArray[np.float32]
    depth: int

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sum of leaves for each row.

        Args:
            rows: Shape (rows, columns).
        """
        trees = np.arange(len(self.feature))[None, :]
        each = np.arange(len(rows))[:, None]
        nodes = np.zeros((len(rows), len(self.feature)), np.int32)
        for _ in range(self.depth):
            is_left = rows[each, self.feature[trees, nodes]] <= self.threshold[trees, nodes]
            nodes = np.where(is_left, self.left[trees, nodes], self.right[trees, nodes])
        total: NDArray[np.float64] = self.value[trees, nodes].sum(axis=1, dtype=np.float64)
        return total

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return a forest as `save` wrote it.

        Args:
            path: The file.
        """
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                columns=tuple(map(str, stored["columns"])), depth=int(stored["depth"]),
                feature=stored["feature"], threshold=stored["threshold"],
                left=stored["left"], right=stored["right"], value=stored["value"],
            )  # fmt: skip

    def save(self, path: Path) -> None:
        """Write it into a file.

        Args:
            path: The file.
        """
        np.savez_compressed(
            path, columns=np.array(self.columns, dtype=np.str_), depth=np.array(self.depth),
            feature=self.feature, threshold=self.threshold,
            left=self.left, right=self.right, value=self.value,
        )  # fmt: skip
