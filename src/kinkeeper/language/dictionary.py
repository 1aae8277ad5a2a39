"""What counts as an ordinary English word, a first name or chat slang; loaded on first use."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path

from kinkeeper.core.errors import InvariantError

_WORD_LIST = "frequency_dictionary_en_82_765.txt"
_CLITICS = ("'s", "'ll", "'d", "'re", "'ve", "'m")
_RESPELT = (("in", "ing"), ("in'", "ing"), ("z", "s"), ("s", ""))
"""Chat endings and what they stand for: "comin", "girlz"; and the plain plural."""
_SHORTEST_STEM = 3


@cache
def word_ranks() -> Mapping[str, int]:
    """Return English words with their rank by frequency, 0 being the most frequent."""
    # Importing the package that ships the list would cost more than reading it.
    package = find_spec("symspellpy")
    if package is None or package.origin is None:
        raise InvariantError(
            "the English word list is missing: reinstall kinkeeper with its dependencies"
        )
    lines = Path(package.origin).with_name(_WORD_LIST).read_text(encoding="utf-8-sig").splitlines()
    return _Ranks([line.partition(" ")[0] for line in lines])


@cache
def first_names() -> frozenset[str]:
    """Return first names that are not ordinary words as well."""
    return _read("first_names.txt")


@cache
def names_also_words() -> frozenset[str]:
    """Return first names that are ordinary words as well: names only where a sentence says so by its form."""
    return _read("names_also_words.txt")


@cache
def slang() -> frozenset[str]:
    """Return chat spellings and fillers."""
    return _read("slang.txt")


class _Ranks(Mapping[str, int]):
    """Words by rank in a sixth of the memory that a dictionary of them takes: numbers and letters in a row.

    Args:
        words: Each once, the most frequent first.
    """

    def __init__(self, words: Sequence[str]) -> None:
        encoded = [word.encode() for word in words]
        self._letters = b"".join(encoded)
        self._starts = array("I", accumulate(map(len, encoded), initial=0))
        marks = [hash(word) for word in words]
        self._ranks = array("I", sorted(range(len(words)), key=marks.__getitem__))
        self._marks = array("q", sorted(marks))

    def __getitem__(self, word: str) -> int:
        mark, marks = hash(word), self._marks
        place = bisect_left(marks, mark)
        # Words may share a mark.
        while place < len(marks) and marks[place] == mark:
            rank = self._ranks[place]
            if self._word(rank) == word:
                return rank
            place += 1
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return map(self._word, range(len(self)))

    def __len__(self) -> int:
        return len(self._ranks)

    def _word(self, rank: int) -> str:
        return self._letters[self._starts[rank] : self._starts[rank + 1]].decode()


def is_known(token: str) -> bool:
    """Tell whether a token is a word, a usual form of one, a first name or chat slang.

    Args:
        token: Folded, without diacritics.
    """
    if _is_listed(token):
        return True
    stem = next(
        (token.removesuffix(ending) for ending in _CLITICS if token.endswith(ending)), token
    )
    if _is_listed(stem):
        return True
    return any(
        stem.endswith(ending)
        and len(stem) - len(ending) >= _SHORTEST_STEM
        and _is_listed(stem.removesuffix(ending) + full)
        for ending, full in _RESPELT
    )


def _is_listed(token: str) -> bool:
    return token in word_ranks() or token in slang() or token in first_names()


def _read(name: str) -> frozenset[str]:
    lines = files(__package__).joinpath("data", name).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
