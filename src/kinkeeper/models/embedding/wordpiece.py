"""Texts as the numbers of an uncased WordPiece vocabulary, as BERT and its descendants read them. Pure."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD = 100
_CONTINUES = "##"
_REMEMBERED_WORDS = 20_000
_ASCII_SIGNS = ((33, 47), (58, 64), (91, 96), (123, 126))
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co"})


class WordPiece:
    """Splits texts into pieces of a vocabulary.

    Args:
        vocabulary: Pieces in the order of their numbers; those that continue a word begin with "##".
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = self._numbers[UNKNOWN]
        self._start = self._numbers[START]
        self._end = self._numbers[END]
        self._word = lru_cache(_REMEMBERED_WORDS)(self._pieces)

    def numbers(self, text: str, limit: int) -> list[int]:
        """Return the numbers of a text, between those of its start and its end.

        Args:
            text: Any.
            limit: Most numbers, start and end included, > 2; the text's tail is left out.
        """
        found = [self._start]
        for word in _words(_cleaned(text)):
            found += self._word(word)
            if len(found) >= limit:
                break
        return [*found[: limit - 1], self._end]

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Return the longest pieces that make up a word, or the unknown one's number."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = _CONTINUES if start else ""
            for end in range(len(word), start, -1):
                number = self._numbers.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found)


@cache
def shipped_vocabulary() -> WordPiece:
    """Return the 30,522 pieces of BERT's uncased English vocabulary, read once."""
    path = files("kinkeeper.models.embedding") / "data" / "vocabulary.txt"
    return WordPiece(path.read_text(encoding="utf-8").rstrip("\n").split("\n"))


def _cleaned(text: str) -> str:
    """Return a text without controls and accents, in lower case, its ideographs set apart."""
    if text.isascii() and text.isprintable():
        return text.lower()
    spaced = "".join(map(_seen, text))
    plain = unicodedata.normalize("NFD", spaced)
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Mn").lower()


def _seen(sign: str) -> str:
    if sign in "\t\n\r":
        return " "
    if sign in "\0\ufffd" or unicodedata.category(sign) in _CONTROL:
        return ""
    return f" {sign} " if _within(ord(sign), _IDEOGRAPHS) else sign


def _words(text: str) -> Iterator[str]:
    """Yield words and single punctuation signs."""
    for run in text.split():
        start = 0
        for end, sign in enumerate(run):
            if _is_sign(sign):
                if start < end:
                    yield run[start:end]
                yield sign
                start = end + 1
        if start < len(run):
            yield run[start:]


@lru_cache(_REMEMBERED_WORDS)
def _is_sign(sign: str) -> bool:
    return _within(ord(sign), _ASCII_SIGNS) or unicodedata.category(sign).startswith("P")


def _within(number: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= number <= last for first, last in ranges)
