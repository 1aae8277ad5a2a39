"""Typing slips of a household's own words, told from ordinary words, names and slang."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from kinkeeper.language.dictionary import is_known
from kinkeeper.language.memo import Memo
from kinkeeper.language.text_folding import unaccented

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
    """

    words: Iterable[str]
    names: Iterable[str] = ()
    _words: Mapping[tuple[str, int], list[str]] = field(init=False, repr=False)
    _names: Mapping[tuple[str, int], list[str]] = field(init=False, repr=False)
    _exact: frozenset[str] = field(init=False, repr=False)
    _memo: Memo[str | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.words = tuple(dict.fromkeys(unaccented(word.casefold()) for word in self.words))
        self.names = tuple(dict.fromkeys(unaccented(name.casefold()) for name in self.names))
        self._exact = frozenset((*self.words, *self.names))
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
