"""Results and questions as plain text, for channels that have neither cards nor buttons of ours. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from kinkeeper.actions.payload import shown_lines

_COLUMNS = ("when", "text", "detail")


def card_in_words(title: str, items: Iterable[Mapping[str, Any]]) -> str:
    """Return a card as lines.

    Args:
        title: Its first line.
        items: What it lists.
    """
    lines = ("  ".join(str(item[name]) for name in _COLUMNS if item.get(name)) for item in items)
    return "\n".join([title, *(f"• {line}" for line in lines)])


def question_in_words(summary: str, shown: Mapping[str, Any] | None, *more: str) -> str:
    """Return all that a person must see before a yes, as lines.

    Args:
        summary: What would be done, one line.
        shown: As frozen with the request.
        more: Further lines.
    """
    lines = [f"{name}: {value}" for name, value in shown_lines(shown or {})]
    return "\n".join([summary, *lines, *more])


def paragraphs(parts: Iterable[str]) -> str:
    """Return texts one below the other, those that are empty left out."""
    return "\n\n".join(part for part in parts if part)
