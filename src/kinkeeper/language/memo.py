"""Answers remembered by word: chat says the same few thousand words again and again."""

from array import array
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LIMIT = 8_192
_LONGEST = 64
_PLACES = 8_192


class Memo(dict[str, T]):
    """What a function made of each word; a word asked for again costs one look-up.

    Once it holds 8,192 words it begins anew, and takes over from those what is asked for again. What has a
    digit in it is kept when it is met for the second time only: chat is full of numbers that never come
    back. Words of more than 64 characters are not kept.

    Args:
        compute: Gives the answer for a word; the same one every time.
    """

    def __init__(self, compute: Callable[[str], T]) -> None:
        super().__init__()
        self._compute = compute
        self._earlier: dict[str, T] = {}
        # Of each number met once its hash, until another needs the place.
        self._met = array("q", bytes(8 * _PLACES))

    def __missing__(self, word: str) -> T:
        """Compute the answer for a word that is not kept, and keep it where that seems worth it."""
        earlier = self._earlier
        if word in earlier:
            answer = earlier[word]
        else:
            answer = self._compute(word)
            if not self._is_worth_it(word):
                return answer
        if len(self) >= _LIMIT:
            self._earlier = dict(self)
            self.clear()
        self[word] = answer
        return answer

    def _is_worth_it(self, word: str) -> bool:
        if len(word) > _LONGEST:
            return False
        if not any(map(str.isdigit, word)):
            return True
        mark = hash(word)
        place = mark % _PLACES
        if self._met[place] == mark:
            return True
        self._met[place] = mark
        return False
