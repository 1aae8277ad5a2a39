"""Which vectors lie near which, block by block: memory stays bounded however many there are. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinkeeper.models.embedding.embedder import Vectors


@dataclass(frozen=True, slots=True)
class Near:
    """A stored thing that is near a new one.

    Attributes:
        cosine: In [-1, 1].
        id: Of the stored one.
    """

    cosine: float
    id: str


@dataclass(frozen=True, slots=True)
class Block:
    """Some stored things.

    Attributes:
        ids: One a row.
        groups: What each may be compared within, such as its scope.
        vectors: Shape (things, dimension), each of length 1 or 0.
    """

    ids: Sequence[str]
    groups: Sequence[str]
    vectors: Vectors


class Nearest:
    """Finds, for each new thing, the stored ones of its group that are nearest.

    Args:
        queries: Shape (new things, dimension), each of length 1 or 0.
        groups: Of each new thing.
        floor: Cosine from which a stored thing counts.
        count: Most that are kept for each new thing, > 0.
    """

    def __init__(
        self, queries: Vectors, groups: Sequence[str], *, floor: float, count: int
    ) -> None:
        self._queries = queries
        self._groups = groups
        self._floor = floor
        self._count = count
        self._found: list[list[Near]] = [[] for _ in groups]

    def look_at(self, block: Block) -> None:
        """Take in some of what is stored."""
        if not len(self._groups) or not len(block.ids):
            return
        cosines = block.vectors @ self._queries.T
        rows, columns = np.nonzero(cosines >= self._floor)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if block.groups[row] == self._groups[column]:
                near = Near(float(cosines[row, column]), block.ids[row])
                self._found[column].append(near)
        for each in self._found:
            if len(each) > self._count:
                self._keep_the_nearest(each)

    def found(self) -> list[list[Near]]:
        """Return what was found for each new thing, the nearest first."""
        for each in self._found:
            self._keep_the_nearest(each)
        return self._found

    def _keep_the_nearest(self, found: list[Near]) -> None:
        found.sort(key=lambda near: (-near.cosine, near.id))
        del found[self._count :]
