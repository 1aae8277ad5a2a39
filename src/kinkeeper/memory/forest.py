"""Small regression trees, all of them at once. Pure.

After C. Lucchese and others, "QuickScorer: a fast algorithm to rank documents with additive ensembles of
regression trees" (SIGIR 2015): a test that fails rules out the leaves on its left; of those that no test
rules out the first is where the way ends. So all tests are made, without a way being followed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]

_MOST_LEAVES = 64


class _Test(NamedTuple):
    """One test of each tree.

    Attributes:
        feature: Column it looks at: shape (trees,).
        threshold: At or below it nothing is ruled out: shape (trees, 1).
        kept: Bits of the leaves that are left otherwise: shape (trees, 1).
    """

    feature: NDArray[np.intp]
    threshold: NDArray[np.float32]
    kept: NDArray[np.unsignedinteger[Any]]


class _Walk(NamedTuple):
    """Trees as they are asked.

    Attributes:
        all_leaves: A bit for each leaf.
        values: Leaves from left to right: shape (trees, leaves).
    """

    all_leaves: np.unsignedinteger[Any]
    values: NDArray[np.float32]
    tests: Sequence[_Test]


@dataclass(frozen=True, kw_only=True)
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
        walk = self._walk
        columns = np.ascontiguousarray(rows.T)
        left = np.full((len(self.feature), len(rows)), walk.all_leaves)
        for test in walk.tests:
            passed = columns[test.feature] <= test.threshold
            left &= np.where(passed, walk.all_leaves, test.kept)
        # Below the lowest bit that is set there are as many bits as leaves before the first one left.
        first = np.bitwise_count((left & (~left + 1)) - 1)
        found = np.take_along_axis(walk.values, first.astype(np.intp), axis=1)
        total: NDArray[np.float64] = np.ascontiguousarray(found.T).sum(axis=1, dtype=np.float64)
        return total

    @cached_property
    def _walk(self) -> _Walk:
        trees = [self._tree(number) for number in range(len(self.feature))]
        leaves = max(len(values) for values, _ in trees)
        if leaves > _MOST_LEAVES:
            raise ValueError(f"a tree has {leaves} leaves; at most {_MOST_LEAVES} are supported")
        mask = np.min_scalar_type((1 << leaves) - 1)
        all_leaves = (1 << leaves) - 1
        values = np.zeros((len(trees), leaves), np.float32)
        for row, (own, _) in zip(values, trees, strict=True):
            row[: len(own)] = own
        tests = []
        for place in range(max(len(own) for _, own in trees)):
            # A tree that has no more tests makes one that rules out nothing.
            each = [own[place] if place < len(own) else (0, 0.0, 0) for _, own in trees]
            feature, threshold, out = zip(*each, strict=True)
            kept = np.array([all_leaves & ~ruled_out for ruled_out in out], mask)
            tests.append(
                _Test(np.array(feature), np.array(threshold, np.float32)[:, None], kept[:, None])
            )
        return _Walk(all_leaves=mask.type(all_leaves), values=values, tests=tests)

    def _tree(self, number: int) -> tuple[list[float], list[tuple[int, float, int]]]:
        """Return a tree's leaves from left to right, and its tests: column, threshold, leaves on the left."""
        values: list[float] = []
        tests: list[tuple[int, float, int]] = []

        def visit(node: int) -> None:
            if self.left[number, node] == node:
                values.append(float(self.value[number, node]))
                return
            first = len(values)
            visit(int(self.left[number, node]))
            on_left = (1 << len(values)) - (1 << first)
            tests.append(
                (int(self.feature[number, node]), float(self.threshold[number, node]), on_left)
            )
            visit(int(self.right[number, node]))

        visit(0)
        return values, tests

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return a forest as `save` wrote it."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                columns=tuple(map(str, stored["columns"])),
                depth=int(stored["depth"]),
                feature=stored["feature"],
                threshold=stored["threshold"],
                left=stored["left"],
                right=stored["right"],
                value=stored["value"],
            )

    def save(self, path: Path) -> None:
        """Write it into a file."""
        np.savez_compressed(
            path,
            columns=np.array(self.columns, dtype=np.str_),
            depth=np.array(self.depth),
            feature=self.feature,
            threshold=self.threshold,
            left=self.left,
            right=self.right,
            value=self.value,
        )
