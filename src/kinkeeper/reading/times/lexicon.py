"""The words of time, read once from the data files beside this module."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.language.slips import slips_between
from kinkeeper.reading.times.holidays import Holiday, load_holidays

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
    "WEEKDAY", "WEEKDAYS", "MONTH", "UNIT", "DAYWORD", "TONIGHT", "PART", "PARTS", "POINT", "EDGEWORD",
    "WEEKEND", "FREQ", "NOW", "SEASON", "HOLIDAY", "MERIDIEM",
)  # fmt: skip
# Long words of which a wrong letter is forgiven.
_FORGIVEN = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tomorrow", "yesterday",
    "tonight", "february", "september", "october", "november", "december", "january", "afternoon",
    "weekend", "christmas", "thanksgiving", "halloween",
)  # fmt: skip
_SHORTEST_FORGIVEN: Final = 6


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
