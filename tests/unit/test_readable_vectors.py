"""Stored vectors, when some of them are damaged."""

import numpy as np

from kinkeeper.memory.finding.vectors import readable

WHOLE = np.ones(4, np.float16).tobytes()


def test_a_vector_of_another_length_is_left_out() -> None:
    ids, vectors = readable([("a", WHOLE), ("b", WHOLE[:4]), ("c", WHOLE)])
    assert (ids, vectors.shape) == (["a", "c"], (2, 4))


def test_what_is_no_row_of_numbers_counts_for_no_length() -> None:
    ids, vectors = readable([("a", WHOLE[:3]), ("b", WHOLE[:3]), ("c", WHOLE)])
    assert (ids, vectors.shape) == (["c"], (1, 4))
    assert readable([("a", WHOLE[:3])])[0] == []
