"""Typing slips of a household's own words, told from ordinary words, names and slang."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter

from rapidfuzz import process
from rapidfuzz.distance import OSA

from kinkeeper.language.dictionary import is_known
from kinkeeper.language.folding import unaccented

_SHORTEST = 4
_SHORTEST_NAME = 5
_MOST_SLIPS = 2
_TWO_SLIPS_FROM = 5
_MEMO_LIMIT = 50_000


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
    """

    words: Iterable[str]
    names: Iterable[str] = ()
    _words: dict[str, list[str]] = field(init=False, repr=False)
    _names: dict[str, list[str]] = field(init=False, repr=False)
    _exact: frozenset[str] = field(init=False, repr=False)
    _memo: dict[str, str | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.words = tuple(dict.fromkeys(unaccented(word.casefold()) for word in self.words))
        self.names = tuple(dict.fromkeys(unaccented(name.casefold()) for name in self.names))
        self._exact = frozenset((*self.words, *self.names))
        self._words = _by_first_letter(self.words, _SHORTEST)
        self._names = _by_first_letter(self.names, _SHORTEST_NAME)
        self._memo = {}

    def nearest(self, token: str) -> str | None:
        """Return the word that a token misspells.

        Args:
            token: Folded token.

        Returns:
            The nearest word, as given; None where the token is itself right, ordinary, too short
            or too far from every word.
        """
        try:
            return self._memo[token]
        except KeyError:
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            found = self._memo[token] = self._search(unaccented(token))
            return found

    def _search(self, token: str) -> str | None:
        if len(token) < _SHORTEST or not token.isalpha() or token in self._exact or is_known(token):
            return None
        slips = _MOST_SLIPS if len(token) >= _TWO_SLIPS_FROM else 1
        near = [
            (distance, word)
            for candidates, allowed in ((self._words[token[0]], slips), (self._names[token[0]], 1))
            for word, distance, _ in process.extract_iter(
                token, candidates, scorer=OSA.distance, score_cutoff=allowed
            )
            if distance <= 1 or len(word) >= _TWO_SLIPS_FROM
        ]
        return min(near, key=itemgetter(0))[1] if near else None


def _by_first_letter(words: Iterable[str], shortest: int) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for word in words:
        if len(word) >= shortest and word.isalpha():
            groups[word[0]].append(word)
    return groups
