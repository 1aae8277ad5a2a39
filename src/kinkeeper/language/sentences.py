"""Full stops that do not end a sentence: abbreviations, initials, decimals. Pure, linear in the text."""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

STOP_INSIDE = "\N{ONE DOT LEADER}"
"""Replaces a full stop that does not end its sentence."""

# Most of a text is far from any full stop. What the pattern finds begins, and looks ahead, no further from one.
_BEFORE, _AFTER = 12, 2
_NEIGHBOURS = re.compile(rf"\.(?:[^.]{{0,{_BEFORE + _AFTER}}}+\.)*+")


@lru_cache(maxsize=32)
def mask_stops(text: str) -> str:
    """Return a text of the same length in which every full stop ends a sentence.

    A reader that splits at full stops searches the masked text and cuts the original at the same offsets.

    Args:
        text: Any.
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
        text: Any.
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
