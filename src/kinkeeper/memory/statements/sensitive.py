"""Whether a statement is of a kind that people keep to themselves: about their own health, feelings, money, keys or love. Pure."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from kinkeeper.memory.statements.sentences import LONGEST_MESSAGE, parts_of
from kinkeeper.memory.statements.statement_frames import unframed

_OWN = ("health", "body", "feelings", "love")
_UNLESS_SHARED = ("money", "keys", "plans")
_GIFTS = "gifts"


def is_sensitive(text: str, *, with_gifts: bool = True) -> bool:
    """Return whether a statement tells of whoever speaks what is nobody else's business unless they say so.

    What is told of others, of a child for one, and what those around have to know (an allergy) is not.

    Args:
        text: One statement, as it was said.
        with_gifts: Whether what they want to give is, too.
    """
    core, _ = unframed(" ".join(text.replace("’", "'").lower().split()).rstrip(" .!"))
    patterns = _patterns()
    if patterns["concerns_others"].search(core) or not patterns["self"].search(core):
        return False
    if patterns["toward"].search(core):
        return True
    own = patterns["of_others"].sub(" ", core)
    if not patterns["self"].search(own):
        return False
    topics = _OWN if patterns["shared"].search(core) else (*_OWN, *_UNLESS_SHARED)
    if with_gifts:
        topics = (*topics, _GIFTS)
    return any(patterns[name].search(own) for name in topics)


def holds_sensitive(message: str, *, with_gifts: bool = True) -> bool:
    """Return whether any sentence of a message is sensitive.

    Args:
        message: As it was said.
        with_gifts: Whether gifts count.
    """
    parts = (part.text for part in parts_of(message))
    return any(is_sensitive(text, with_gifts=with_gifts) for text in (*_lines(message), *parts))


def speaks_of_self(text: str) -> bool:
    """Return whether any word of a text is for whoever speaks.

    Args:
        text: As it was said.
    """
    return _patterns()["self"].search(text.lower()) is not None


def _lines(message: str) -> Iterator[str]:
    """Yield the lines of a message, long ones in pieces: a search in one holds up every other thread to its end."""
    for line in message.splitlines():
        for start in range(0, len(line), LONGEST_MESSAGE):
            yield line[start : start + LONGEST_MESSAGE]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    path = files("kinkeeper.reading") / "data" / "sensitive.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: re.compile("".join(map(str.strip, pattern.strip("\n").split("\n"))))
        for name, pattern in data.items()
    }
