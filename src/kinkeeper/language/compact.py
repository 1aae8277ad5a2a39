"""Thousands of words and answers about them in little memory."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeVar


class TextRow:
    """Texts by their place."""

    def __init__(self, texts: Sequence[str]) -> None:
        encoded = [text.encode() for text in texts]
        self._letters = b"".join(encoded)
        self._starts = array("I", accumulate(map(len, encoded), initial=0))

    def __getitem__(self, place: int) -> str:
        """Return a text by its place, >= 0."""
        return self._letters[self._starts[place] : self._starts[place + 1]].decode()

    def __iter__(self) -> Iterator[str]:
        """Yield the texts in their order."""
        return map(self.__getitem__, range(len(self)))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._starts) - 1


class WordPlaces(Mapping[str, int]):
    """Words with their place in a list, in a sixth of the memory that a dictionary of them takes.

    Args:
        words: Each once.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = TextRow(words)
        marks = [hash(word) for word in words]
        self._places = array("I", sorted(range(len(words)), key=marks.__getitem__))
        self._marks = array("q", sorted(marks))

    def find(self, word: str) -> int | None:
        """Return the place of a word; None where it is not there."""
        mark, marks = hash(word), self._marks
        at = bisect_left(marks, mark)
        # Words may share a mark.
        while at < len(marks) and marks[at] == mark:
            place = self._places[at]
            if self._words[place] == word:
                return place
            at += 1
        return None

    def __getitem__(self, word: str) -> int:
        place = self.find(word)
        if place is None:
            raise KeyError(word)
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._places)


# Answers remembered by word: chat says the same few thousand words again and again.

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
