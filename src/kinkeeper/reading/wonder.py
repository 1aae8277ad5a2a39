"""Whether somebody wonders at what they were told: "why did you say that?". Pure."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product

from kinkeeper.language.text import Token, TokenKind

_WHY = "why"
_PAUSE = ""
_DRAWN_OUT = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrases:
    anywhere: frozenset[tuple[str, ...]]
    alone: frozenset[tuple[str, ...]]
    settled_before: frozenset[str]
    settled_after: frozenset[tuple[str, ...]]
    fillers: frozenset[str]


def wonders(tokens: Sequence[Token]) -> bool:
    """Tell whether somebody who answers a message wonders why it was said, or what it means."""
    known = _known()
    words = [_plain(token.text) if token.kind is TokenKind.WORD else _PAUSE for token in tokens]
    if any(_is_wonder(words, start, end) for start, end in _found(words, known.anywhere)):
        return True
    said = tuple(word for word in words if word != _PAUSE and word not in known.fillers)
    if said:
        return said in known.alone
    return any(set(token.text) == {"?"} for token in tokens)


def _is_wonder(words: Sequence[str], start: int, end: int) -> bool:
    """Whether a phrase is not the "why" of somebody who explains, agrees or suggests."""
    known = _known()
    if words[start] != _WHY:
        return True
    if start and words[start - 1] in known.settled_before:
        return False
    return not any(first == end for first, _ in _found(words, known.settled_after))


def _found(words: Sequence[str], phrases: frozenset[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    lengths = {len(phrase) for phrase in phrases}
    for start in range(len(words)):
        for length in lengths:
            if tuple(words[start : start + length]) in phrases:
                yield start, start + length


def _plain(word: str) -> str:
    """The word with no letter twice in a row: people draw words out ("whyyy")."""
    return _DRAWN_OUT.sub(r"\1", word)


@cache
def _known() -> _Phrases:
    path = files(__package__).joinpath("data/wonder.toml")
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    return _Phrases(
        anywhere=_spelled_out(raw["anywhere"]),
        alone=_spelled_out(raw["alone"]),
        settled_before=frozenset(map(_plain, raw["settled_before"].split())),
        settled_after=_spelled_out(raw["settled_after"]),
        fillers=frozenset(map(_plain, raw["fillers"].split())),
    )


def _spelled_out(lines: str) -> frozenset[tuple[str, ...]]:
    return frozenset(
        spoken
        for line in lines.strip().splitlines()
        for spoken in product(*(_plain(word).split("|") for word in line.split()))
    )
