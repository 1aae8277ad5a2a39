"""Chat text as tokens that know their place, and safe to show."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import regex

from kinkeeper.language.memo import Memo
from kinkeeper.language.text_folding import SCORING_LIMIT, fold

_GRAPHEME = regex.compile(r"\p{Regional_Indicator}{2}[\p{M}\u200d]*|\X")
_NEARBY = 80
_LONGEST_GRAPHEME = (
    32  # characters of what people type; matching \X slows down with the length of a row of flags
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
    tokens: list[Token] = []
    split, find, keep, offset = _SPLIT, text.index, tokens.append, 0
    # Past the named tuple's own constructor, which costs twice as much.
    new, token = tuple.__new__, Token
    for run in text[:SCORING_LIMIT].split():
        offset = find(run, offset)
        for word, start, end, kind in split[run]:
            keep(new(token, (word, offset + start, offset + end, kind, text)))
        offset += len(run)
    return tuple(tokens)


def _units(run: str) -> tuple[tuple[str, int, int, TokenKind], ...]:
    """Split a run of characters without white space; offsets are those in the run."""
    folded = fold(run)
    comparable = folded.text
    has_link = "@" in comparable or "://" in comparable or "ww." in comparable
    rules = _rules(is_ascii=comparable.isascii(), has_link=has_link)
    units: list[tuple[str, int, int, TokenKind]] = []
    for match in rules.finditer(comparable):
        start, end = folded.span(*match.span())
        if units and start < units[-1][2]:
            continue  # a symbol with a stray letter's mark on it: one character, one token
        units.append((match[0], start, end, _KINDS[match.lastgroup or "punctuation"]))
    return tuple(units)


# No token reaches across white space, and chat repeats its words: most runs were split before.
_SPLIT = Memo(_units)


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


def one_line(text: str) -> str:
    """Return a text as one line that shows what it says: titles, names and places are kept so.

    Args:
        text: Any text, also with lone surrogates.

    Returns:
        The text without control, bidirectional and zero-width characters; where there were any, or line ends,
        white space is one space. Empty where nothing else is left.
    """
    return text if text.isprintable() else " ".join(strip_controls(text).split())


def _shown(match: "regex.Match[str]") -> str:
    if match.lastgroup == "keep":
        return match[0]
    return "\n" if match.lastgroup == "newline" else ""


def words_before(text: str, offset: int) -> str:
    """Return what stands just before an offset: whole words of the last 80 characters.

    Enough for patterns that end there, and as cheap at the end of a long text as at its beginning.

    Args:
        text: Any.
        offset: In the text.
    """
    start = offset - _NEARBY
    return text[:offset] if start <= 0 else text[start:offset].partition(" ")[2]


def enumerated(words: Sequence[str], *, last: str = "and") -> str:
    """Return words in a row as a person would say them: "a", "a and b", "a, b and c".

    Args:
        words: Any number.
        last: Stands before the last of several.
    """
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def shorten(text: str, limit: int) -> str:
    """Shorten to a number of user-visible characters, at a word boundary where one is near.

    Args:
        text: Text to show.
        limit: Most user-visible characters of the result, >= 0.

    Returns:
        The text itself where it fits; else its beginning and "…". A word is cut in two only where
        the last boundary lies in the first half.
    """
    if len(text) <= limit:
        return text
    head = text[: limit * _LONGEST_GRAPHEME]
    graphemes = _GRAPHEME.findall(head)
    if len(graphemes) <= limit and len(head) == len(text):
        return text
    if limit <= 0:
        return ""
    kept = graphemes[: limit - 1]
    if kept and kept[-1][0].isalnum() and "".join(graphemes[limit - 1 : limit])[:1].isalnum():
        boundary = next(
            (place for place in range(len(kept), 0, -1) if kept[place - 1].isspace()), 0
        )
        if boundary * 2 >= limit:
            kept = kept[:boundary]
    return "".join(kept).rstrip() + "…"
