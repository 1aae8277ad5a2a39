"""How a statement is framed: made up, past, over, news, or said before; and what is said inside the frame."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

_LIST = re.compile(r"@(\w+)")
_MOST_FRAMES = 4
_LEAD = r"^(?:(?:and|but|so|well|oh|ok|okay|hey|hi)[ ,]+|(?:no|yes|yeah), *)*"


class Framing(StrEnum):
    """How something is told."""

    HYPOTHETICAL = "hypothetical"
    PAST = "past"
    RETRACTION = "retraction"
    CHANGE = "change"
    RESTATED = "restated"


@dataclass(frozen=True, slots=True, kw_only=True)
class FramingPatterns:
    """Patterns of the data file, compiled.

    Attributes:
        prefix: At the beginning of a statement, by frame.
        beside: In a part set off from it, by frame.
        inside: In a clause: "ended", "modal", "now", "past", "again", "able", "added".
    """

    prefix: Sequence[tuple[Framing, re.Pattern[str]]]
    beside: Sequence[tuple[Framing, re.Pattern[str]]]
    inside: Mapping[str, re.Pattern[str]]


@cache
def framings() -> FramingPatterns:
    """Return the patterns of the data file, read once."""
    raw = tomllib.loads(
        files(__package__).joinpath("data/framing.toml").read_text(encoding="utf-8")
    )
    lists: Mapping[str, str] = raw["lists"]

    def joined(patterns: Sequence[str]) -> str:
        return _LIST.sub(lambda found: lists[found[1]], "|".join(patterns))

    return FramingPatterns(
        prefix=[
            (Framing(name), re.compile(rf"{_LEAD}(?:{joined(patterns)})(?![\w'])[ ]*[,:;.!?-]*[ ]*"))
            for name, patterns in raw["prefix"].items()
        ],
        beside=[
            (Framing(name), re.compile(rf"(?<!\w)(?:{joined(patterns)})(?!\w)"))
            for name, patterns in raw["beside"].items()
        ],
        inside={
            name: re.compile(rf"(?<!\w)(?:{joined(patterns)})(?!\w)")
            for name, patterns in raw["inside"].items()
        },
    )  # fmt: skip


def unframed(text: str) -> tuple[str, frozenset[Framing]]:
    """Take what frames a statement off its beginning.

    Args:
        text: In lower case, contractions opened.

    Returns:
        What is left, and the frames that were taken off. A text that is all frame is left as it is.
    """
    frames: set[Framing] = set()
    rest = text.strip()
    for _ in range(_MOST_FRAMES):
        matches = [
            (match.end(), frame)
            for frame, pattern in framings().prefix
            if (match := pattern.match(rest)) and len(rest[match.end() :].split()) > 1
        ]
        if not matches:
            break
        end, frame = max(matches, key=lambda found: (found[0], found[1] is Framing.CHANGE))
        frames.add(frame)
        rest = rest[end:].strip()
    return rest, frozenset(frames)


def framed_beside(part: str) -> frozenset[Framing]:
    """Return the frames that a part of a sentence gives to what stands beside it.

    Args:
        part: In lower case, contractions opened, without its marks.
    """
    return frozenset(frame for frame, pattern in framings().beside if pattern.search(part))
