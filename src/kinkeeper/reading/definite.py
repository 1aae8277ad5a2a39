"""Whether a text speaks of the thing that a question speaks of as a known one: "the fence", "our alarm code". Pure."""

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

_DEFINITE = re.compile(
    r"\b(?:the|my|our|your|his|her|their|this|that|[^\W\d_]+'s)\s+(?P<words>[^\W\d_]+(?:[ -]+[^\W\d_]+){0,2})",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_MOST = 2


def speaks_of_other(
    question: str,
    known: str,
    roots: Callable[[str], Sequence[str]],
    *,
    ignored: Collection[str] = (),
) -> bool:
    """Return whether a text holds no word of such a thing, or its kind with another word before it ("wifi code").

    Args:
        question: As asked.
        known: A text that may answer it.
        roots: Returns the roots of the content words of a text, in order.
        ignored: Roots of names, which are no things.
    """
    said = [next(iter(roots(word)), "") for word in _WORD.findall(known.replace("’", "'"))]
    beside = set(pairwise(["", *said]))
    for found in _DEFINITE.finditer(question.replace("’", "'")):
        first, *more = [each for each in roots(found["words"]) if each not in ignored][:_MOST] or [
            ""
        ]
        if not first or first in said:
            continue
        if not any(each in said for each in more):
            return True
        if any(other and kind in more for other, kind in beside):
            return True
    return False
