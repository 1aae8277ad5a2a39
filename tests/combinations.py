"""Which combinations of a test's values are tried: each value at least once, or, in the nightly run, every one with every other."""

import os
from collections.abc import Sequence
from itertools import product
from typing import Any, Final

_IS_WHOLE: Final = os.environ.get("KINKEEPER_TESTS") == "all"


def combined(*values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return combinations of one of each in which every value occurs; where the whole is tested, the product of all.

    Values that take turns drift against each other, so that pairs differ each time that one of them begins again.
    """
    if _IS_WHOLE:
        return list(product(*values))
    rounds = range(max(map(len, values)))
    return [tuple(each[(at + at // len(each)) % len(each)] for each in values) for at in rounds]
