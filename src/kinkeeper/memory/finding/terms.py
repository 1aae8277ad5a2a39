"""Texts as numbers of word stems, as the index of words counts them."""

import re
import unicodedata
from collections.abc import Iterator
from importlib.resources import files

import regex
import Stemmer

_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
# Scripts written without spaces: every letter is a word of its own.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(
    rf"[{_UNSPACED}]|[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]+(?:'[\p{{L}}]+)?", regex.V1
)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'"})

_STOP_WORDS = frozenset(
    word
    for line in (files("kinkeeper.memory.finding") / "stop_words.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if not line.startswith("#")
    for word in line.split()
)

_STEMMER = Stemmer.Stemmer("english", 0)


def words(text: str) -> Iterator[str]:
    """Yield the words of a text in order: small letters without accents, possessives without their end."""
    plain = text.lower()
    if plain.isascii():
        found: Iterator[str] = (match[0] for match in _ASCII_WORD.finditer(plain))
    else:
        plain = _without_accents(plain)
        found = (match[0] for match in _WORD.finditer(plain))
    return (word.removesuffix("'s") for word in found)


def stems(text: str) -> list[str]:
    """Return the stems of the words that say what a text is about, in order."""
    return [_STEMMER.stemWord(word) for word in words(text) if word not in _STOP_WORDS]


def _without_accents(text: str) -> str:
    split = unicodedata.normalize("NFKD", text.translate(_QUOTES))
    return "".join(letter for letter in split if not unicodedata.combining(letter))


class Vocabulary:
    """Numbers of stems, given in the order in which they are met. Words of grammar have none."""

    def __init__(self) -> None:
        self._of_stem: dict[str, int] = {}
        # Chat repeats its words: most were stemmed before.
        self._of_word: dict[str, int | None] = {}

    def __len__(self) -> int:
        """Return how many stems have a number."""
        return len(self._of_stem)

    def learn(self, text: str) -> list[int]:
        """Return the numbers of a text's stems in order; new stems get one."""
        numbers: list[int] = []
        known = self._of_word
        for word in words(text):
            number = known[word] if word in known else self._learned(word)
            if number is not None:
                numbers.append(number)
        return numbers

    def known(self, text: str) -> dict[str, int]:
        """Return those stems of a text that have a number, in order, each with it.

        Args:
            text: Any, but no stems: what is left of a stem that is stemmed again may be another one. Nothing is
                learned from it.
        """
        return {stem: self._of_stem[stem] for stem in stems(text) if stem in self._of_stem}

    def _learned(self, word: str) -> int | None:
        stem = None if word in _STOP_WORDS else _STEMMER.stemWord(word)
        number = None if stem is None else self._of_stem.setdefault(stem, len(self._of_stem))
        self._of_word[word] = number
        return number
