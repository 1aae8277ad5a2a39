"""How many slips of the pen lie between two words."""


def slips_between(word: str, other: str, *, most: int) -> int:
    """Return how many letters were missed, added, changed or swapped with their neighbour; more than `most` where many.

    Args:
        word: As it was written.
        other: As it may have been meant.
        most: Beyond this nothing is counted, >= 0.
    """
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - two megabytes that an idle server is spared

    return OSA.distance(word, other, score_cutoff=most)
