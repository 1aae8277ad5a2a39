"""Whether a message asks something about the assistant itself: what it can do, what it reads, who sees what. Pure."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_LEAD = re.compile(
    r"^(?:(?:hi|hiya|hey|hello|oh|so|well|um+|uh+|please|ok|okay|and|but|just|quick question|good (?:morning|afternoon|evening))(?: there)? )+(?=.)"
)
_TAIL = re.compile(r" (?:please|thanks|thank you|actually|anyway|btw|by the way|then|exactly)$")
_WORD = re.compile(r"@(\w+)")
_MARKS = re.compile(r"[^\w\s]")


def asks_about(text: str) -> str | None:
    """Return the topic of a message that asks about the assistant; None where it asks something else.

    Args:
        text: The whole message.
    """
    said = " ".join(_MARKS.sub(" ", text.casefold().replace("’", "'")).split())
    said = _TAIL.sub("", _LEAD.sub("", said))
    return next(
        (
            topic
            for topic, patterns in _topics().items()
            if any(each.fullmatch(said) for each in patterns)
        ),
        None,
    )


@cache
def _topics() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    path = files(__package__) / "data" / "about.toml"
    data: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    words: dict[str, str] = {}

    def expanded(pattern: str) -> str:
        return _WORD.sub(lambda found: words[found[1]], pattern)

    for name, pattern in data["words"].items():
        words[name] = f"(?:{expanded(pattern)})"

    return {
        name: tuple(re.compile(expanded(each)) for each in patterns)
        for name, patterns in data["topics"].items()
    }
