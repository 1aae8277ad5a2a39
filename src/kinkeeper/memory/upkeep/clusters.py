"""Episodes that crowd together, found by density; the library for it is loaded only when it is used."""

from collections.abc import Sequence

import numpy as np

from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.embedding.embedder import Vectors

SMALLEST = 3
"""Fewer than this is no habit."""

MOST_AT_ONCE = 2_000
"""Distances are compared pairwise, so what is looked at together has an end."""


def clusters(vectors: Vectors, *, floor: float) -> list[Sequence[int]]:
    """Return the dense groups among vectors, the most central member of each first.

    Args:
        vectors: Shape (at most `MOST_AT_ONCE`, dimension), each of length 1.
        floor: Cosine to the most central member from which a member stays.

    Returns:
        Indices of the members; of each group at least `SMALLEST`. Groups come in the order of their
        first members.

    Raises:
        UnavailableError: The library is not installed.
    """
    if len(vectors) < SMALLEST:
        return []
    cosines = np.clip(vectors @ vectors.T, -1, 1).astype(np.float64)
    labels = _labels(1 - cosines)
    groups = [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]
    found = [_around_the_middle(members, cosines, floor) for members in groups]
    return sorted((each for each in found if len(each) >= SMALLEST), key=min)


def _labels(distances: np.ndarray) -> np.ndarray:
    try:
        from sklearn.cluster import HDBSCAN  # noqa: PLC0415 - large, and only a night needs it
    except ImportError as error:
        raise UnavailableError(
            "repeated statements are not detected, because scikit-learn is not installed; install kinkeeper[embedder]"
        ) from error
    found = HDBSCAN(
        min_cluster_size=SMALLEST, min_samples=2, metric="precomputed",
        cluster_selection_method="leaf", allow_single_cluster=False, copy=True,
    ).fit(distances)  # fmt: skip
    return np.asarray(found.labels_)


def _around_the_middle(members: np.ndarray, cosines: np.ndarray, floor: float) -> list[int]:
    among = cosines[np.ix_(members, members)]
    middle = int(members[int(np.argmax(among.sum(axis=1)))])
    near = [int(each) for each in members if each != middle and cosines[middle, each] >= floor]
    return [middle, *near]
