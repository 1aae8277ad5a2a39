"""The words of a household that tell who somebody is or where: they do not leave in questions to memory. Pure."""

import re
from collections.abc import Iterator

from kinkeeper.household.name_folding import fold
from kinkeeper.household.vocabulary import Vocabulary, WordKind

_LONG_ENOUGH_TO_HIDE = 3


def private_words(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the single words that name people and places.

    A place's word that every family has for an activity ("soccer" of "soccer field") tells no place.
    """
    people = {*_of_kind(vocabulary, WordKind.CHILD), *_of_kind(vocabulary, WordKind.ADULT)}
    places = {*_of_kind(vocabulary, WordKind.PLACE)}
    return frozenset(people | (places - {*_of_kind(vocabulary, WordKind.GENERIC_ACTIVITY)}))


def without_private(text: str, private: frozenset[str]) -> str:
    """Return a text without the words that tell who or where, nor words joined to one.

    Args:
        text: Of the household's vocabulary ("leo-swim at elm park").
        private: What `private_words` returned.

    Returns:
        What is left, folded ("swim at"); perhaps nothing.
    """
    return " ".join(word for word in _words(text) if not _tells(word, private))


def _tells(word: str, private: frozenset[str]) -> bool:
    return word in private or any(
        len(each) >= _LONG_ENOUGH_TO_HIDE and each in word for each in private
    )


def _of_kind(vocabulary: Vocabulary, kind: WordKind) -> Iterator[str]:
    for entry in vocabulary.of_kind(kind):
        for spelling in (entry.id, *entry.words):
            yield from _words(spelling)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(text))
