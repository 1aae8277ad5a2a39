"""Answers remembered by word: chat says the same few thousand words again and again."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LIMIT = 8_192
_LONGEST = 64


class Memo(dict[str, T]):
    """What a function made of each word; a word asked for again costs one look-up.

    Once it holds 8,192 words it begins anew, and takes over from those what is asked for again; chat is
    full of numbers, which are not. Words of more than 64 characters are not kept.

    Args:
        compute: Gives the answer for a word; the same one every time.
    """

    def __init__(self, compute: Callable[[str], T]) -> None:
        super().__init__()
        self._compute = compute
        self._earlier: dict[str, T] = {}

    def __missing__(self, word: str) -> T:
        """Compute and keep the answer for a word met for the first time, or for the first time since long."""
        earlier = self._earlier
        answer = earlier[word] if word in earlier else self._compute(word)
        if len(word) <= _LONGEST:
            if len(self) >= _LIMIT:
                self._earlier = dict(self)
                self.clear()
            self[word] = answer
        return answer
