"""What counts as an ordinary word, a name or slang, and typing slips of a household's own words."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from operator import itemgetter

from kinkeeper.language.compact import Memo, WordPlaces
from kinkeeper.language.text import unaccented

_CLITICS = ("'s", "'ll", "'d", "'re", "'ve", "'m")
_RESPELT = (("in", "ing"), ("in'", "ing"), ("z", "s"), ("s", ""))
"""Chat endings and what they stand for: "comin", "girlz"; and the plain plural."""
_SHORTEST_STEM = 3


@cache
def word_ranks() -> Mapping[str, int]:
    """Return English words with their rank by frequency, 0 being the most frequent."""
    return WordPlaces(_listed("english_words.txt"))


_ORDINARY = 15_000
"""Rank up to which a word is too common to be a name that no list has."""


def may_be_name(word: str) -> bool:
    """Return whether a word is rare enough for the name of somebody or something that no list has.

    Args:
        word: In small letters.
    """
    return word_ranks().get(word, _ORDINARY) >= _ORDINARY


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
    return frozenset(_listed(name))


def _listed(name: str) -> list[str]:
    lines = files(__package__).joinpath("data", name).read_text(encoding="utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


# Typing slips of a household's own words, told from ordinary words, names and slang.

_SHORTEST = 4
_SHORTEST_NAME = 5
_MOST_SLIPS = 2
_TWO_SLIPS_FROM = 5


@dataclass(slots=True)
class Misspellings:
    """Finds the word that a misspelt token was meant to be.

    A slip is a letter missing, added, changed or swapped with its neighbour. One is forgiven, two
    where both words have five letters or more; the first letter must agree. Ordinary words, their
    inflections, first names and chat slang are never slips.

    Attributes:
        words: Words to find; shorter than four letters are never matched.
        names: Names to find; they forgive one slip only, from five letters on, since another
            person's name is often near.
        known: Words that are right as they are, though no dictionary has them.
    """

    words: Iterable[str]
    names: Iterable[str] = ()
    known: Iterable[str] = ()
    _words: Mapping[tuple[str, int], list[str]] = field(init=False, repr=False)
    _names: Mapping[tuple[str, int], list[str]] = field(init=False, repr=False)
    _exact: frozenset[str] = field(init=False, repr=False)
    _memo: Memo[str | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.words = tuple(dict.fromkeys(unaccented(word.casefold()) for word in self.words))
        self.names = tuple(dict.fromkeys(unaccented(name.casefold()) for name in self.names))
        self._exact = frozenset((*self.words, *self.names, *self.known))
        self._words = _by_place(self.words, _SHORTEST, _MOST_SLIPS)
        self._names = _by_place(self.names, _SHORTEST_NAME, 1)
        self._memo = Memo(self._search)

    def nearest(self, token: str) -> str | None:
        """Return the word that a token misspells.

        Args:
            token: Folded token.

        Returns:
            The nearest word, as given; None where the token is itself right, ordinary, too short
            or too far from every word.
        """
        return self._memo[token]

    def _search(self, folded: str) -> str | None:
        token = unaccented(folded)
        if len(token) < _SHORTEST or not token.isalpha() or token in self._exact or is_known(token):
            return None
        from rapidfuzz import process  # noqa: PLC0415 - two megabytes that an idle server is spared
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        slips = _MOST_SLIPS if len(token) >= _TWO_SLIPS_FROM else 1
        place = token[0], len(token)
        near = [
            (distance, word)
            for candidates, allowed in (
                (self._words.get(place), slips),
                (self._names.get(place), 1),
            )
            if candidates
            for word, distance, _ in process.extract(
                token, candidates, scorer=OSA.distance, score_cutoff=allowed, limit=None
            )
            if distance <= 1 or len(word) >= _TWO_SLIPS_FROM
        ]
        return min(near, key=itemgetter(0))[1] if near else None


def _by_place(
    words: Iterable[str], shortest: int, slips: int
) -> Mapping[tuple[str, int], list[str]]:
    """List the words that a token of a first letter and a length can be a slip of."""
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word in words:
        if len(word) >= shortest and word.isalpha():
            for length in range(len(word) - slips, len(word) + slips + 1):
                groups[word[0], length].append(word)
    return groups


# How many slips of the pen lie between two words.


def slips_between(word: str, other: str, *, most: int) -> int:
    """Return how many letters were missed, added, changed or swapped with their neighbour; more than `most` where many.

    Args:
        most: Beyond this nothing is counted, >= 0.
    """
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - two megabytes that an idle server is spared

    return OSA.distance(word, other, score_cutoff=most)
