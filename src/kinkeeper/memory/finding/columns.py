"""Arrays that grow."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def grown(column: NDArray[Number], size: int, *, fill: Any = 0) -> NDArray[Number]:
    """Return an array that begins with another.

    Args:
        column: Of any shape, no longer than `size`.
        size: Length of the new one; its further dimensions are the same.
        fill: What the rest of it holds.
    """
    new = np.full((size, *column.shape[1:]), fill, column.dtype)
    new[: len(column)] = column
    return new
