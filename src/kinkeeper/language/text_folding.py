"""Chat text folded for comparing, with the way back to the original characters."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import regex

SCORING_LIMIT = 4096
"""Characters of a message that are read; a pasted page must not cost more than a sentence."""

_GRAPHEME = regex.compile(r"\p{Regional_Indicator}{2}[\p{M}\u200d]*|\X")
_ELONGATED = re.compile(r"([^\W\d_])\1\1")
_EMOJI_MODIFIERS = regex.compile(r"[\ufe0e\ufe0f\U0001F3FB-\U0001F3FF]|\u200d[\u2640\u2642]")
_PICTOGRAPH = regex.compile(r"\p{Extended_Pictographic}|\p{Regional_Indicator}")
_INVISIBLE = regex.compile(
    r"[[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Cs}]--[\u0600-\u0605\u06dd]]|\u20e3", regex.V1
)
_MARKS = re.compile("[\u0300-\u036f]+")
_LOOKALIKES = str.maketrans(
    {
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "ʼ": "'", "′": "'", "`": "'", "´": "'", "＇": "'",
        "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "″": '"',
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "—": " - ", "―": " - ",
    }
)  # fmt: skip
_LETTERS_WITHOUT_MARKS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A text folded for comparing, which remembers where its characters came from.

    Attributes:
        text: Folded text.
        original: The text it was made of, uncut.
        origins: For each folded character, offsets of the first and past the last original
            character it stands for; None where both texts align one to one.
    """

    text: str
    original: str
    origins: tuple[tuple[int, int], ...] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Translate offsets in the folded text to offsets in the original.

        Args:
            start: Offset of the first folded character.
            end: Offset past the last folded character, > start.

        Returns:
            Offsets of the first, and past the last, original character.
        """
        if self.origins is None:
            return start, end
        return self.origins[start][0], self.origins[end - 1][1]


def fold(text: str) -> Folded:
    """Fold a message for comparing: case, compatibility forms, quotes, dashes, invisible characters.

    Letters repeated three times or more shrink to two; variation selectors, skin tones and
    gender signs of emoji go. Only the first `SCORING_LIMIT` characters are read.

    Args:
        text: Any text.

    Returns:
        The folded text with its offset map.
    """
    head = text[:SCORING_LIMIT]
    if head.isascii():
        folded = head.lower()
        if "`" in folded:
            folded = folded.replace("`", "'")
        if not _ELONGATED.search(folded):
            return Folded(text=folded, original=text, origins=None)
    return _fold_by_grapheme(head, text)


def _fold_by_grapheme(head: str, original: str) -> Folded:
    characters: list[str] = []
    origins: list[tuple[int, int]] = []
    for match in _GRAPHEME.finditer(head):
        start, end = match.span()
        folded = _fold_grapheme(match.group())
        is_aligned = len(folded) == end - start
        for offset, character in enumerate(folded):
            place = (start + offset, start + offset + 1) if is_aligned else (start, end)
            if character.isalpha() and characters[-2:] == [character, character]:
                origins[-1] = (origins[-1][0], place[1])
                continue
            characters.append(character)
            origins.append(place)
    return Folded(text="".join(characters), original=original, origins=tuple(origins))


@lru_cache(maxsize=4096)
def _fold_grapheme(grapheme: str) -> str:
    if grapheme.isascii():
        return grapheme.lower().replace("`", "'")
    if _PICTOGRAPH.search(grapheme):
        return _EMOJI_MODIFIERS.sub("", grapheme)
    plain = grapheme.translate(_LOOKALIKES)
    folded = unicodedata.normalize("NFKC", plain).casefold()
    is_one_token = len(folded) <= len(grapheme) or (folded.isascii() and folded.isalnum())
    if not is_one_token and len(set(folded)) > 1 and plain == grapheme:
        # "¼" or "⁉" would become several tokens on one character.
        folded = unicodedata.normalize("NFC", grapheme).casefold()
    return _INVISIBLE.sub("", folded)


def unaccented(text: str) -> str:
    """Drop the diacritics of Latin, Greek and Cyrillic letters; other scripts keep their marks.

    Args:
        text: Folded text.

    Returns:
        The same words in plain letters: "zoë" gives "zoe".
    """
    if text.isascii():
        return text
    bare = _MARKS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS_WITHOUT_MARKS)
