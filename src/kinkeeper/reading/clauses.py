"""Where one clause of a message ends and the next begins. Pure, linear in the text."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise

from kinkeeper.language.sentences import mask_stops
from kinkeeper.reading.model import Clause

# What ends a sentence with the space after it, or a line break. Possessive, and begun only where a run of stops begins:
# the time stays linear.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++|\n\s*+")
_WORD = re.compile(r"\w")


def cut_clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a message: whole sentences; every character belongs to one.

    A piece without a letter or digit, such as an emoji, belongs to the sentence before it.

    Args:
        text: Any.
    """
    return cut_at(text, (found.end() for found in _END.finditer(mask_stops(text))))


def cut_at(text: str, places: Iterable[int]) -> tuple[Clause, ...]:
    """Return the clauses of a message that is cut at some places, where each then holds a letter or digit.

    Args:
        text: Any.
        places: Offsets in the text, in order.
    """
    words = [found.start() for found in _WORD.finditer(text)]
    starts, passed = [0], 0
    for place in places:
        words_before = bisect_left(words, place)
        if passed < words_before < len(words):
            starts.append(place)
            passed = words_before
    return tuple(Clause(start, end) for start, end in pairwise([*starts, len(text)]))
