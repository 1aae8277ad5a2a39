"""What kind of answer a question wants. Pure."""

import re
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Want(IntEnum):
    """One kind of answer; the value is its column."""

    WHEN = 0
    HOW_LONG = 1
    HOW_MANY = 2
    WHO = 3
    WHERE = 4
    WHY = 5
    HOW = 6
    YES_OR_NO = 7
    NAME = 8
    LIST = 9


_PLACES = "city|country|place|town|state|street"
_PATTERNS = {
    Want.WHEN: (
        r"^when|^(?:on |in )?(?:what|which) (?:day|days|date|time|month|year|week)\b"
        r"|(?:since|until|from) when|\bhow long ago\b"
    ),
    Want.HOW_LONG: r"\bhow (?:long|often|old)\b",
    Want.HOW_MANY: r"\bhow (?:many|much|big|far|high|heavy|tall)\b",
    Want.WHO: r"\b(?:who|whom|whose)\b",
    Want.WHERE: rf"\bwhere\b|\b(?:what|which) (?:{_PLACES})\b",
    Want.WHY: r"\bwhy\b|\bwhat (?:made|motivat|inspir|caused|prompted)|\breason\b",
    Want.HOW: r"^how (?!many|much|long|often|old|big|far)",
    Want.YES_OR_NO: r"^(?:would|could|is|are|does|do|did|was|were|has|have|can|might|will)\b",
    Want.NAME: r"\b(?:name|named|called|title)\b",
    Want.LIST: (
        r"\bwhat (?:are|kinds?|types?|activities|things|books|events|items|places|hobbies)\b"
        r"|\bwhich .*s\b have|\bin what ways\b"
    ),
}  # fmt: skip
_COMPILED = [re.compile(_PATTERNS[want], re.IGNORECASE) for want in Want]


def wants_of(text: str) -> NDArray[np.bool_]:
    """Return which kinds of answers a question wants: shape (kinds,).

    Args:
        text: A question, or any other words: most want nothing.
    """
    return np.array([pattern.search(text) is not None for pattern in _COMPILED])
