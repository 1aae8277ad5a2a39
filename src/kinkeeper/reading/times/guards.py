"""The words that tell times from look-alikes, and what the words around a time speak of."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from kinkeeper.reading.times.tokens import Token

_FIRST_HOUR: Final = 5
_FIRST_HOUR_OF_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class Guards:
    """The words of the data file."""

    follow: frozenset[str]
    cue: frozenset[str]
    shy: frozenset[str]
    naming: frozenset[str]
    street: frozenset[str]
    meeting: frozenset[str]
    daytime: frozenset[str]
    morning: frozenset[str]
    morning_phrases: tuple[str, ...]
    rounds: frozenset[str]
    round_phrases: tuple[str, ...]
    homographs: Mapping[str, tuple[frozenset[str], frozenset[str]]]


@cache
def load_guards() -> Guards:
    """Return the words that tell times from look-alikes; read once."""
    raw = tomllib.loads(files(__package__).joinpath("guards.toml").read_text(encoding="utf-8"))
    homographs = {
        word: (frozenset(sides["before"]), frozenset(sides["after"]))
        for word, sides in raw["homographs"].items()
    }
    return Guards(
        follow=frozenset(raw["follow"]),
        cue=frozenset(raw["cue"]),
        shy=frozenset(raw["shy"]),
        naming=frozenset(raw["naming"]),
        street=frozenset(raw["street"]),
        meeting=frozenset(raw["meeting"]),
        daytime=frozenset(raw["daytime"]),
        morning=frozenset(raw["morning"]),
        morning_phrases=tuple(raw["morning_phrases"]),
        rounds=frozenset(raw["rounds"]),
        round_phrases=tuple(raw["round_phrases"]),
        homographs=homographs,
    )


def is_daytime_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of somebody whom one sees while offices are open."""
    words = {token.text for token in tokens}
    return not load_guards().daytime.isdisjoint(words | {word.removesuffix("s") for word in words})


def morning_begins(tokens: Sequence[Token]) -> int | None:
    """Return the first hour that is of the morning by the words around: breakfast, waking up, the school run; or None."""
    guards = load_guards()
    texts = ["", *(token.text for token in tokens), ""]
    words = [
        word
        for before, word, after in zip(texts, texts[1:], texts[2:], strict=False)
        if not is_another_word(word, before, after)
    ]
    line = " ".join(words)
    if not guards.morning.isdisjoint(words) or _holds(line, guards.morning_phrases):
        return _FIRST_HOUR
    is_round = not guards.rounds.isdisjoint(words) or _holds(line, guards.round_phrases)
    return _FIRST_HOUR_OF_ROUNDS if is_round else None


def _holds(line: str, phrases: Sequence[str]) -> bool:
    return any(phrase in line for phrase in phrases)


def is_another_word(word: str, before: str, after: str) -> bool:
    """Whether a word of time is none beside its neighbours: "sat down", "I am".

    Args:
        word: The word, in lower case.
        before: The word before it, or "".
        after: The word after it, or "".
    """
    sides = load_guards().homographs.get(word)
    return sides is not None and (before in sides[0] or after in sides[1])
