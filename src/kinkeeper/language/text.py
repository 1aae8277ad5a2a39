"""Chat text as tokens and sentences, folded for comparing, and safe to show."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import regex

from kinkeeper.language.compact import Memo

# Chat text folded for comparing, with the way back to the original characters.

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
    """
    start = offset - _NEARBY
    return text[:offset] if start <= 0 else text[start:offset].partition(" ")[2]


def enumerated(words: Sequence[str], *, last: str = "and") -> str:
    """Return words in a row as a person would say them: "a", "a and b", "a, b and c".

    Args:
        last: Stands before the last of several.
    """
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def texts_within(value: Any) -> Iterator[str]:
    """Yield the texts within a JSON value, in their order.

    Args:
        value: Any; keys of objects are no texts.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from texts_within([*value.values()])
    elif isinstance(value, Sequence):
        for each in value:
            yield from texts_within(each)


def shorten(text: str, limit: int) -> str:
    """Shorten to a number of user-visible characters, at a word boundary where one is near.

    Args:
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


# Full stops that do not end a sentence: abbreviations, initials, decimals. Pure, linear in the
# text.

STOP_INSIDE = "\N{ONE DOT LEADER}"
"""Replaces a full stop that does not end its sentence."""

# Most of a text is far from any full stop. What the pattern finds begins, and looks ahead, no further from one.
_BEFORE, _AFTER = 12, 2
_NEIGHBOURS = re.compile(rf"\.(?:[^.]{{0,{_BEFORE + _AFTER}}}+\.)*+")


@lru_cache(maxsize=32)
def mask_stops(text: str) -> str:
    """Return a text of the same length in which every full stop ends a sentence.

    A reader that splits at full stops searches the masked text and cuts the original at the same offsets.
    """
    pieces: list[str] = []
    done, pattern = 0, _pattern()
    for near in _NEIGHBOURS.finditer(text):
        for found in pattern.finditer(text, max(done, near.start() - _BEFORE), near.end() + _AFTER):
            pieces += text[done : found.start()], found[0].replace(".", STOP_INSIDE)
            done = found.end()
    return "".join((*pieces, text[done:]))


def split_sentences(text: str, ends: re.Pattern[str]) -> list[str]:
    """Split a text where a pattern matches, as `re.split` does, but not at an abbreviation.

    Args:
        ends: Matches what separates two pieces; without groups.
    """
    pieces, begin = [], 0
    for found in ends.finditer(mask_stops(text)):
        pieces.append(text[begin : found.start()])
        begin = found.end()
    return [*pieces, text[begin:]]


@cache
def _pattern() -> re.Pattern[str]:
    path = files(__package__).joinpath("data/abbreviations.toml")
    kinds = tomllib.loads(path.read_text(encoding="utf-8"))
    always, number, lower = (
        "|".join(map(re.escape, sorted(kinds[kind].split(), key=len, reverse=True)))
        for kind in ("always", "before_number", "before_lower_case")
    )
    follows = r"(?=[^\n\r])"
    return re.compile(
        rf"(?<![\w.])(?i:{always})\.{follows}"
        rf"|(?<![\w.])(?i:{number})\.(?= ?\d)"
        rf"|(?:(?<![\w.])|(?<=\d))(?i:{lower})\.(?=[,;:)]| ?[\d(a-z])"
        r"|(?<![\w.'’])[A-HJ-Z]\.(?= [A-Z])"  # initials
        r"|(?<![\w.'’])(?:[^\W\d_]\.)+(?=[^\W\d_]\.)"  # all but the last stop of "U.S."
        r"|(?<=\d)\.(?=\d)"
        r"|^[ \t]{0,8}\d{1,2}\.(?= \S)",  # a numbered line
        re.MULTILINE,
    )
