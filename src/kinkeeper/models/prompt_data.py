"""Data inside a prompt: a block that no text can leave, whatever it says. Pure."""

import json
import unicodedata
from collections.abc import Mapping, Sequence

# Marks of chat templates and of our own blocks are made of these: inside a block they stand escaped.
_STRUCTURAL = frozenset("<>[]{}|`#")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BASIC_PLANE = 0xFFFF

Data = str | int | bool | None | Sequence["Data"] | Mapping[str, "Data"]


def block(name: str, value: Data) -> str:
    """Return a value as a block of JSON between marks.

    Inside, text holds none of the characters that marks are made of, no line break and nothing
    invisible, only their JSON escapes: it can neither close its block nor look like another.

    Args:
        name: Letters and underscores, from the prompt's author.
        value: Text, numbers, lists and objects with text keys.
    """
    return f"<data {name}>\n{_literal(value)}\n</data {name}>"


def _literal(value: Data) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value)


def _text(value: str) -> str:
    return "".join(map(_safe, json.dumps(value, ensure_ascii=False)))


def _safe(character: str) -> str:
    if character not in _STRUCTURAL and unicodedata.category(character) not in _UNSEEN:
        return character
    point = ord(character)
    if point <= _BASIC_PLANE:
        return f"\\u{point:04x}"
    return json.dumps(character)[1:-1]
