"""Answers remembered by word: chat says the same few thousand words again and again."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LIMIT = 50_000
_LONGEST = 64


class Memo(dict[str, T]):
    """What a function made of each word; a word asked for again costs one look-up.

    Forgets everything once it holds 50,000 words. Words of more than 64 characters are not kept.

    Args:
        compute: Gives the answer for a word; the same one every time.
    """

    def __init__(self, compute: Callable[[str], T]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, word: str) -> T:
        """Compute and keep the answer for a word met for the first time."""
        answer = self._compute(word)
        if len(word) <= _LONGEST:
            if len(self) >= _LIMIT:
                self.clear()
            self[word] = answer
        return answer
