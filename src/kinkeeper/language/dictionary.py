"""What counts as an ordinary English word, a first name or chat slang; loaded on first use."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from kinkeeper.core.errors import InvariantError
from kinkeeper.language.compact import WordPlaces

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
    return WordPlaces([line.partition(" ")[0] for line in lines])


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
    lines = files(__package__).joinpath("data", name).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
