"""The words of time, and text cut into tokens that know which of them they may be."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from kinkeeper.language.dictionary import slips_between
from kinkeeper.reading.times.calendar_days import Holiday, load_holidays

# The words of time, read once from the data files beside this module.

Meanings = Mapping[str, int | str | Holiday]

WORD: Final = r"[a-z]+(?:['’][a-z]+)*"
_PIECE = re.compile(rf" ?(?:{WORD}|[0-9]+|[^\s])")
_STRING_CATEGORIES = frozenset(
    {
        "UNIT",
        "LETTER",
        "PART",
        "PARTS",
        "POINT",
        "MERIDIEM",
        "SHORTMER",
        "EDGE",
        "SHADE",
        "EDGEWORD",
        "FREQ",
    }
    | {"SEASON"}
)
# Categories that can begin or hold an expression by themselves; the others only help.
_ANCHORS = (
    "WEEKDAY",
    "WEEKDAYS",
    "MONTH",
    "UNIT",
    "DAYWORD",
    "TONIGHT",
    "PART",
    "PARTS",
    "POINT",
    "EDGEWORD",
    "WEEKEND",
    "FREQ",
    "NOW",
    "SEASON",
    "HOLIDAY",
    "MERIDIEM",
)
# Long words of which a wrong letter is forgiven.
_FORGIVEN = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "tomorrow",
    "yesterday",
    "tonight",
    "february",
    "september",
    "october",
    "november",
    "december",
    "january",
    "afternoon",
    "weekend",
    "christmas",
    "thanksgiving",
    "halloween",
)
_SHORTEST_FORGIVEN: Final = 6
_TIMELY: Final = frozenset(
    {"INT", "HM", "ORDINAL", "WEEKDAY", "DAYWORD", "TONIGHT", "MONTH", "PART", "POINT", "HOLIDAY"}
)
_COUNTED: Final = frozenset({"UNIT", "WEEKDAYS", "PARTS"})


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Compiled words.

    Attributes:
        words: Meanings (category to value) of each single word.
        phrases: First piece of a phrase to its candidates, longest first: pieces and meanings.
        triggers: Words without which (and without a digit or number word) nothing can be said.
    """

    words: Mapping[str, Meanings]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], Meanings], ...]]
    triggers: frozenset[str]

    def forgive(self, word: str) -> str | None:
        """Return the word that a misspelt one of six letters or more stands for, or None."""
        return None if word in self.words else _nearest(word)


def pieces_of(form: str) -> tuple[str, ...]:
    """Return a form cut as texts are cut: words, digit runs, single signs, each with the space before it."""
    return tuple(_PIECE.findall(form.lower()))


@cache
def load_lexicon() -> Lexicon:
    """Return the lexicon of the data files; read once."""
    meanings: dict[tuple[str, ...], dict[str, int | str | Holiday]] = {}
    raw = files(__package__).joinpath("lexicon.toml").read_text(encoding="utf-8")
    for category, values in tomllib.loads(raw).items():
        for value, forms in values.items():
            typed = value if category in _STRING_CATEGORIES else int(value)
            for form in forms:
                meanings.setdefault(pieces_of(form), {})[category] = typed
    for form, holiday in load_holidays().items():
        meanings.setdefault(pieces_of(form), {})["HOLIDAY"] = holiday
    return _compile(meanings)


def _compile(meanings: Mapping[tuple[str, ...], Meanings]) -> Lexicon:
    words: dict[str, Meanings] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], Meanings]]] = {}
    triggers: set[str] = set()
    for pieces, meaning in meanings.items():
        if len(pieces) == 1:
            words[pieces[0]] = meaning
        else:
            phrases.setdefault(pieces[0], []).append((pieces, meaning))
        if any(category in meaning for category in _ANCHORS):
            triggers.add(max(pieces, key=len).strip())
        if "NUMBER" in meaning and len(pieces) == 1:
            triggers.add(pieces[0])
    ordered = {
        first: tuple(sorted(found, key=lambda item: -len(item[0])))
        for first, found in phrases.items()
    }
    return Lexicon(words=words, phrases=ordered, triggers=frozenset(triggers - {"one"}))


_INITIALS = frozenset(word[0] for word in _FORGIVEN)


@cache
def _distances() -> tuple[tuple[str, int], ...]:
    return tuple((word, 2 if len(word) > 7 else 1) for word in _FORGIVEN)


def _nearest(word: str) -> str | None:
    if len(word) < _SHORTEST_FORGIVEN or word[0] not in _INITIALS:
        return None
    for target, limit in _distances():
        if (
            word[0] == target[0]
            and word[-1] == target[-1]
            and abs(len(word) - len(target)) <= limit
        ) and slips_between(word, target, most=limit) <= limit:
            return target
    return None


_TOKEN = re.compile(
    r"(?P<ISO>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}t[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?z?)(?![0-9])"
    r"|(?P<DATE3>[0-9]{4}(?P<sep>[./-])[0-9]{1,2}(?P=sep)[0-9]{1,2}"
    r"|[0-9]{1,2}(?P<mark>[./-])[0-9]{1,2}(?P=mark)(?:[0-9]{4}|[0-9]{2}))(?![0-9]|[./-][0-9])"
    r"|(?P<HM>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?![0-9:])"
    r"|(?P<HH>[0-9]{1,2}h[0-9]{2})(?![0-9a-z])"
    r"|(?P<FRACTION>[0-9]{1,2}/[0-9]{1,4})(?![0-9/]|\.[0-9])"
    r"|(?P<DOT>[0-9]{1,2}\.[0-9]{1,2})(?![0-9]|\.[0-9])"
    r"|(?P<ORD>[0-9]{1,2}(?:st|nd|rd|th))(?![a-z])"
    # A number before "-4:30" or "-15.11.2017" begins a range.
    r"|(?P<FIRST>[0-9]{1,2}(?=-[0-9]{1,2}(?:[:.][0-9]{2}(?![0-9:.])|[./][0-9]{1,2}[./][0-9]{4}(?![0-9]))))"
    r"|(?P<JUNK>[0-9]+(?:[.,:/+-][0-9]+){2,}|[0-9]+[.,][0-9]+|[0-9]{5,7}(?![0-9])|[0-9]{9,}"
    r"|(?:https?://|www\.)[^\s]+)"
    r"|(?P<INT>[0-9]+)"
    rf"|(?P<WORD>{WORD})"
    r"|(?P<SIGN>[^\s])"
)
_TENS: Final = frozenset(range(20, 100, 10))
_CENTURIES: Final = frozenset({17, 18, 19})
_FIRST_YEAR: Final = 1700
_LAST_YEAR: Final = 2199
_INVISIBLE = frozenset(
    "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)


class Token(NamedTuple):
    """One word, number, sign or phrase.

    Attributes:
        text: Lower case; of a phrase, its pieces joined by a space.
        start: Offset in the folded text.
        end: Offset past it.
        spaced: Whether white space (or the text's start) stands before it.
    """

    text: str
    start: int
    end: int
    spaced: bool
    meanings: Mapping[str, Any]


class Folded(NamedTuple):
    """A text in the form that is read, with the way back.

    Attributes:
        text: Lower case, without invisible characters, digits as ASCII.
        origin: Offset in the original of each character, or None when they are the same.
    """

    text: str
    origin: Sequence[int] | None


def fold(text: str) -> Folded:
    """Return `text` lower-cased and rid of invisible characters, remembering where each came from."""
    if text.isascii():
        return Folded(text.lower(), None)
    kept: list[str] = []
    origin: list[int] = []
    for offset, character in enumerate(text):
        if character in _INVISIBLE:
            continue
        kept.append(_fold_character(character))
        origin.append(offset)
    return Folded("".join(kept), origin)


def _fold_character(character: str) -> str:
    if character.isascii():
        return character.lower()
    plain = unicodedata.normalize("NFKC", character).lower()
    if character in "‐‑‒–—−":
        return "-"
    if character in "‘’ʼ":
        return "'"
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    return plain if len(plain) == 1 else character


def tokenize(text: str, lexicon: Lexicon) -> list[Token]:
    """Return the tokens of a folded text, phrases and spelled numbers joined."""
    tokens: list[Token] = []
    last = -1
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        kind = _kind(match)
        word = match.group()
        spaced = start != last
        if kind == "WORD":
            token = _word(word, start, spaced=spaced, lexicon=lexicon)
        else:
            token = Token(word, start, end, spaced, _number_meanings(kind, word))
        tokens.append(token)
        last = end
    return _without_people(_join_numbers(_join_phrases(tokens, lexicon)))


_OURSELVES: Final = frozenset({"us", "we", "you", "them"})
_CLOCKS: Final = frozenset(
    {"am", "pm", "a.m", "p.m", "o'clock", "oclock", ":", "thirty", "fifteen"}
)


def _without_people(tokens: list[Token]) -> list[Token]:
    """Return tokens in which the number of some people ("the two of us", "us two") is none of a time."""
    texts = ["", *(each.text for each in tokens), "", ""]
    units = {each.text for each in tokens if "UNIT" in each.meanings}
    return [
        each._replace(meanings={})
        if "NUMBER" in each.meanings
        and each.text.isalpha()
        and (
            (before in {"us", "we"} and following not in _CLOCKS | units)
            or (following == "of" and behind in _OURSELVES)
        )
        else each
        for each, before, following, behind in zip(
            tokens, texts, texts[2:], texts[3:], strict=False
        )
    ]


def is_counted(text: str) -> bool:
    """Whether a text begins with what a number before it counts: "days before", "school days", "Fridays"."""
    first = tokenize(fold(text).text, load_lexicon())[:1]
    return any(not _COUNTED.isdisjoint(each.meanings) for each in first)


def names_time(text: str) -> bool:
    """Whether a text has a number or names a day or a part of one."""
    return any(
        not _TIMELY.isdisjoint(each.meanings) for each in tokenize(fold(text).text, load_lexicon())
    )


def _kind(match: re.Match[str]) -> str:
    kind = match.lastgroup or "SIGN"
    return "DATE3" if kind in {"sep", "mark"} else kind


def _word(word: str, start: int, *, spaced: bool, lexicon: Lexicon) -> Token:
    meanings = lexicon.words.get(word)
    if meanings is None and word not in lexicon.phrases:
        ish = (
            lexicon.words.get(word.removesuffix("ish"), {}).get("NUMBER")
            if word.endswith("ish")
            else None
        )
        if ish is not None and int(str(ish)) <= 12:
            return Token(word, start, start + len(word), spaced, {"ISH": int(str(ish))})
        base = word[:-2] if word.endswith(("'s", "’s")) else word
        meanings = lexicon.words.get(base)
        if meanings is not None:
            return Token(base, start, start + len(base), spaced, meanings)
        right = lexicon.forgive(base)
        if right is not None:
            return Token(right, start, start + len(base), spaced, lexicon.words[right])
    return Token(word, start, start + len(word), spaced, _spelled(meanings or {}))


def _spelled(meanings: Meanings) -> Mapping[str, Any]:
    if "NUMBER" in meanings:
        return {**meanings, **_integer_meanings(int(str(meanings["NUMBER"])), digits=0)}
    if "ORDINAL" in meanings:
        return {**meanings, "ORDWORD": meanings["ORDINAL"]}
    return meanings


def _number_meanings(kind: str, word: str) -> Mapping[str, Any]:
    if kind in {"INT", "FIRST"}:
        return _integer_meanings(int(word), digits=len(word))
    if kind == "ORD":
        value = int(word[:-2])
        return {"ORDINAL": value} if 1 <= value <= 31 else {}
    if kind in {"HM", "HH"}:
        parts = [int(part) for part in re.split("[:h]", word)]
        if parts[0] <= 24 and all(part < 60 for part in parts[1:]):
            return {"HM": (word, parts[0], parts[1], parts[2] if len(parts) > 2 else None)}
        return {}
    return {} if kind == "SIGN" else {kind: word}


def _integer_meanings(value: int, *, digits: int) -> dict[str, Any]:
    """Return everything a whole number may be; `digits` is 0 for a spelled one."""
    meanings: dict[str, Any] = {"INT": value}
    if digits == 8:
        return {"COMPACT": value}
    if digits <= 2:
        if value <= 24:
            meanings["HOUR"] = value
        if value < 60 and digits != 1:
            meanings["MINUTE"] = value
        if 1 <= value <= 31:
            meanings["DAYNUM"] = value
    elif digits <= 4:
        if value // 100 <= 24 and value % 100 < 60:
            meanings["HHMM"] = (value // 100, value % 100, digits)
        if _FIRST_YEAR <= value <= _LAST_YEAR:
            meanings["YEAR"] = value
    return meanings


def _join_phrases(tokens: list[Token], lexicon: Lexicon) -> list[Token]:
    joined: list[Token] = []
    index = 0
    phrases = lexicon.phrases
    while index < len(tokens):
        token = tokens[index]
        candidates = phrases.get(token.text)
        found = None
        if candidates is not None:
            found = next(
                (
                    (pieces, meanings)
                    for pieces, meanings in candidates
                    if _stands_at(tokens, index, pieces)
                ),
                None,
            )
        if found is None:
            joined.append(token)
            index += 1
            continue
        pieces, meanings = found
        end = tokens[index + len(pieces) - 1].end
        text = " ".join(piece.strip() for piece in pieces)
        joined.append(Token(text, token.start, end, token.spaced, _of_phrase(meanings)))
        index += len(pieces)
    return joined


def _of_phrase(meanings: Meanings) -> Mapping[str, Any]:
    """Return what a phrase may be; "a couple of" counts, but is no hour and no day."""
    return (
        {"NUMBER": meanings["NUMBER"], "INT": meanings["NUMBER"]}
        if "NUMBER" in meanings
        else meanings
    )


def _stands_at(tokens: list[Token], index: int, pieces: tuple[str, ...]) -> bool:
    """Whether a phrase begins at a token; a piece with a leading space may stand apart, others may not."""
    if index + len(pieces) > len(tokens):
        return False
    for offset, piece in enumerate(pieces):
        token = tokens[index + offset]
        if token.text != piece.lstrip() or (offset and token.spaced and piece[0] != " "):
            return False
    return True


def _join_numbers(tokens: list[Token]) -> list[Token]:
    """Join "twenty three", "twenty-third", "two thousand and eighteen", "five hundred"."""
    joined: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        value = token.meanings.get("NUMBER")
        if value is None:
            joined.append(token)
            index += 1
            continue
        meanings, following = _spelled_number(tokens, index, int(value))
        if following == index + 1:
            joined.append(token)
        else:
            end = tokens[following - 1].end
            text = " ".join(piece.text for piece in tokens[index:following])
            joined.append(Token(text, token.start, end, token.spaced, meanings))
        index = following
    return joined


def _spelled_number(tokens: list[Token], index: int, value: int) -> tuple[Mapping[str, Any], int]:
    index += 1
    if value in _CENTURIES and index < len(tokens):
        decade = tokens[index].meanings.get("NUMBER")
        if decade is not None and 10 <= int(decade) < 100 and " " not in tokens[index].text:
            rest, following, _ = _units(tokens, index + 1, int(decade))
            return _integer_meanings(value * 100 + rest, digits=4), following
    value, index, is_ordinal = _units(tokens, index, value)
    if is_ordinal:
        return {"ORDINAL": value, "ORDWORD": value}, index
    scale = (
        {"hundred": 100, "thousand": 1000}.get(tokens[index].text) if index < len(tokens) else None
    )
    if scale is None:
        return {"NUMBER": value, **_integer_meanings(value, digits=0)}, index
    value *= scale
    index += 1
    after = index + 1 if index < len(tokens) and tokens[index].text == "and" else index
    small = tokens[after].meanings.get("NUMBER") if after < len(tokens) else None
    if small is not None:
        more, index, _ = _units(tokens, after + 1, int(small))
        value += more
    return {"NUMBER": value, **_integer_meanings(value, digits=len(str(value)))}, index


def _units(tokens: list[Token], index: int, value: int) -> tuple[int, int, bool]:
    """Return value, next index and whether an ordinal ended it, after "twenty" [-] "three"."""
    if value not in _TENS:
        return value, index, False
    at = index + 1 if index < len(tokens) and tokens[index].text == "-" else index
    if at < len(tokens):
        unit = tokens[at].meanings.get("NUMBER")
        if unit is not None and int(unit) < 10 and " " not in tokens[at].text:
            return value + int(unit), at + 1, False
        ordinal = tokens[at].meanings.get("ORDWORD")
        if ordinal is not None and int(ordinal) < 10:
            return value + int(ordinal), at + 1, True
    return value, index, False
