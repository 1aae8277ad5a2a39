"""Whether a statement is of a kind that people keep to themselves: about their own health, money, keys or love. Pure."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from kinkeeper.memory.statements.framing import unframed
from kinkeeper.memory.statements.sentences import LONGEST_MESSAGE, parts_of


def is_sensitive(text: str) -> bool:
    """Return whether a statement tells of whoever speaks what is nobody else's business unless they say so.

    What is told of others, of a child for one, and what those around have to know (an allergy) is not.

    Args:
        text: One statement, as it was said.
    """
    core, _ = unframed(" ".join(text.replace("’", "'").lower().split()).rstrip(" .!"))
    patterns = _patterns()
    if patterns["concerns_others"].search(core) or not patterns["self"].search(core):
        return False
    own = patterns["of_others"].sub(" ", core)
    if not patterns["self"].search(own):
        return False
    return any(patterns[name].search(own) for name in ("health", "money", "keys", "love", "plans"))


def holds_sensitive(message: str) -> bool:
    """Return whether any sentence of a message is sensitive.

    Args:
        message: As it was said.
    """
    parts = (part.text for part in parts_of(message))
    return any(is_sensitive(text) for text in (*_lines(message), *parts))


def _lines(message: str) -> Iterator[str]:
    """Yield the lines of a message, long ones in pieces: a search in one holds up every other thread to its end."""
    for line in message.splitlines():
        for start in range(0, len(line), LONGEST_MESSAGE):
            yield line[start : start + LONGEST_MESSAGE]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    path = files(__package__) / "data" / "sensitive.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: re.compile("".join(map(str.strip, pattern.strip("\n").split("\n"))))
        for name, pattern in data.items()
    }
