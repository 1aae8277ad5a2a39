"""The words that tell times from look-alikes, and what the words around a time speak of."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kinkeeper.language.when.tokens import Token


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
        homographs=homographs,
    )


def is_daytime_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of somebody whom one sees while offices are open."""
    words = {token.text for token in tokens}
    return not load_guards().daytime.isdisjoint(words | {word.removesuffix("s") for word in words})


def is_morning_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of the early hours: breakfast, the school run, waking up."""
    guards = load_guards()
    # "I am" and "am I" speak of no hour.
    words = [word for word, beside in _with_neighbours(tokens) if word != "am" or "i" not in beside]
    if not guards.morning.isdisjoint(words):
        return True
    line = " ".join(words)
    return any(phrase in line for phrase in guards.morning_phrases)


def _with_neighbours(tokens: Sequence[Token]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each word with the ones before and after it; empty at the ends."""
    words = ["", *(token.text for token in tokens), ""]
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        yield word, (before, after)
