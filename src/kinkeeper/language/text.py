"""Chat text made comparable: folding, tokens that know their place, and safe shortening."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import regex

SCORING_LIMIT = 4096
"""Characters of a message that are read; a pasted page must not cost more than a sentence."""

_GRAPHEME = regex.compile(r"\X")
_ELONGATED = re.compile(r"([^\W\d_])\1\1")
_ELONGATED_ANY = regex.compile(r"([^\W\d_])\1\1+")
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


class TokenKind(StrEnum):
    """What a token is made of."""

    WORD = "word"
    NUMBER = "number"
    TIME = "time"
    EMOJI = "emoji"
    PUNCTUATION = "punctuation"
    LINK = "link"


class Token(NamedTuple):
    """One unit of a message (a named tuple: dozens are made per message on the hot path).

    Attributes:
        text: Folded form, for comparing.
        start: Offset of the first character in the original text.
        end: Offset past the last character in the original text.
        kind: What it is made of; ASCII emoticons count as emoji.
        source: The original text as a whole.
    """

    text: str
    start: int
    end: int
    kind: TokenKind
    source: str

    @property
    def surface(self) -> str:
        """The characters as they were typed."""
        return self.source[self.start : self.end]


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
        place = match.span()
        for character in _fold_grapheme(match.group()):
            is_repeated = characters[-2:] == [character, character]
            if is_repeated and character.isalpha():
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


# Scripts written without spaces, or with particles glued on: every letter is a token of its own, so
# that a name is found inside a run of them.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_LINK = r"(?P<link>(?:https?://|www?\.)\S+|[\w.+-]+@[\w-]+\.[\w.-]+)|"
_DIGITS = r"""
    (?P<time>\d{1,2}[:h]\d\d(?::\d\d)?(?:[ap]\.m\b\.?|[ap]m?)?(?![\w:])
            |\d{1,2}(?:\.\d\d)?(?:[ap]\.m\b\.?|[ap]m?|ish|h|hrs?|mins?)(?!\w))
    |(?P<number>\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?(?!\w))
"""
_MARKS_AND_SMILEYS = r"""
    (?P<smiley>(?:[:;=]'?-?[)(dpo/|*\]\[]|<3+)(?!\w))
    |(?P<punctuation>(?P<mark>[^\w\s]|_)(?P=mark)*)
"""
_KINDS = {
    "word": TokenKind.WORD,
    "mixed": TokenKind.WORD,
    "glyph": TokenKind.WORD,
    "time": TokenKind.TIME,
    "number": TokenKind.NUMBER,
    "emoji": TokenKind.EMOJI,
    "smiley": TokenKind.EMOJI,
    "link": TokenKind.LINK,
    "punctuation": TokenKind.PUNCTUATION,
}


def _words(first: str, inner: str) -> str:
    """Compose the rule for words: "i'll", "pick-up", "n/m", "p.m.", and after the digits "2moro"."""
    return rf"""
    (?P<word>[ap]\.m\b\.?|{first}/{first}(?![\w/])|{first}{inner}*(?:['&-]{inner}+)*)
    |{_DIGITS}
    |(?P<mixed>\d+{first}{inner}*(?:['-]{inner}+)*)
    """


_LETTER = rf"[\p{{L}}--[{_UNSPACED}]]"
_INNER = rf"[\p{{L}}\p{{M}}\p{{N}}--[{_UNSPACED}]]"
_ASCII = _words("[a-z]", "[a-z0-9]")
_UNICODE = rf"""
    (?P<emoji>\p{{RI}}{{2}}|\p{{Extended_Pictographic}}(?:\u200d\p{{Extended_Pictographic}})*)
    |(?P<glyph>[{_UNSPACED}]\p{{M}}*)
    |{_words(_LETTER, _INNER)}
"""


@lru_cache(maxsize=4)
def _rules(*, is_ascii: bool, has_link: bool) -> "re.Pattern[str] | regex.Pattern[str]":
    link = _LINK if has_link else ""
    if is_ascii:
        return re.compile(f"{link}{_ASCII}|{_MARKS_AND_SMILEYS}", re.VERBOSE)
    return regex.compile(f"{link}{_UNICODE}|{_MARKS_AND_SMILEYS}", regex.VERBOSE | regex.V1)


def tokenise(text: str) -> tuple[Token, ...]:
    """Split a message into folded tokens whose offsets point into the original.

    Contractions ("i'll"), hyphenated words ("pick-up"), clock times ("4:30pm"), dates in digits,
    links and joined emoji are one token each. Letters of scripts written without spaces are one
    token each.

    Args:
        text: Any text; only the first `SCORING_LIMIT` characters are read.

    Returns:
        The tokens in order; white space is dropped.
    """
    folded = fold(text)
    comparable = folded.text
    has_link = "@" in comparable or "://" in comparable or "ww." in comparable
    rules = _rules(is_ascii=comparable.isascii(), has_link=has_link)
    if folded.origins is None:
        return tuple(
            Token(
                match[0], match.start(), match.end(), _KINDS[match.lastgroup or "punctuation"], text
            )
            for match in rules.finditer(comparable)
        )
    tokens = []
    for match in rules.finditer(comparable):
        start, end = folded.span(*match.span())
        tokens.append(Token(match[0], start, end, _KINDS[match.lastgroup or "punctuation"], text))
    return tuple(tokens)


_SHOWN = regex.compile(
    r"""
    (?P<keep>(?<=[\p{Extended_Pictographic}\ufe0f\U0001F3FB-\U0001F3FF])\u200d(?=\p{Extended_Pictographic})
            |(?<=\U0001F3F4[\U000E0020-\U000E007F]*)[\U000E0020-\U000E007F])
    |(?P<newline>\r\n?|[\u2028\u2029\x0b\x0c\x85])
    |[[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\t\n\ufe0e\ufe0f]]
    """,
    regex.VERBOSE | regex.V1,
)


def strip_controls(text: str) -> str:
    """Remove what is invisible or reorders text, before it is shown to people.

    Args:
        text: Any text, also with lone surrogates.

    Returns:
        The text without control, bidirectional and zero-width characters; joiners and tags stay
        inside emoji, line ends become a plain newline, tabs stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SHOWN.sub(_shown, text)


def _shown(match: "regex.Match[str]") -> str:
    if match.lastgroup == "keep":
        return match[0]
    return "\n" if match.lastgroup == "newline" else ""


def grapheme_count(text: str) -> int:
    """Count user-visible characters: an emoji with its modifiers is one."""
    return sum(1 for _ in _GRAPHEME.finditer(text))


def shorten(text: str, limit: int) -> str:
    """Shorten to a number of user-visible characters, at a word boundary where one is near.

    Args:
        text: Text to show.
        limit: Most user-visible characters of the result, >= 0.

    Returns:
        The text itself where it fits; else its beginning and "…". A word is cut in two only where
        the last boundary lies in the first half.
    """
    graphemes = _GRAPHEME.findall(text)
    if len(graphemes) <= limit:
        return text
    if limit <= 0:
        return ""
    kept = graphemes[: limit - 1]
    if kept and kept[-1][0].isalnum() and graphemes[limit - 1][0].isalnum():
        boundary = next(
            (place for place in range(len(kept), 0, -1) if kept[place - 1].isspace()), 0
        )
        if boundary * 2 >= limit:
            kept = kept[:boundary]
    return "".join(kept).rstrip() + "…"
