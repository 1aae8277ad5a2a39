"""What a foreign server says, made harmless to show and of bearable length. Pure.

Characters that are not seen can carry instructions to a model or disguise a text to people; a schema can
ask a checker for more work than there is. Both are reduced to what is needed.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from kinkeeper.actions.requests.tools import ForeignTool
from kinkeeper.core.ids import payload_hash

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}")
_LONGEST_DESCRIPTION = 300
_LONGEST_WORD = 120
_LONGEST_ANSWER = 8000
_MOST_ITEMS = 200
_DEEPEST = 8
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_PLAIN = frozenset(
    {
        "type", "const", "enum", "required", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "format",
    }
)  # fmt: skip
_WORDS = frozenset({"title", "description"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf"})
_LOCAL = ("#/$defs/", "#/definitions/")


def clean_text(text: str, *, longest: int = _LONGEST_ANSWER, lines: bool = True) -> str:
    """Return a text without characters that are not seen.

    Args:
        text: As it came.
        longest: Most characters of it.
        lines: Whether line breaks stay.
    """
    kept = "".join(
        each
        if (lines and each == "\n") or unicodedata.category(each) not in _UNSEEN
        else (" " if each.isspace() else "")
        for each in text[: 4 * longest]
    )
    kept = kept.strip() if lines else " ".join(kept.split())
    return kept if len(kept) <= longest else f"{kept[: longest - 1]}…"


def clean_data(value: Any, *, depth: int = 0) -> Any:
    """Return JSON of bearable size, its texts cleaned; what lies too deep is left out."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth >= _DEEPEST:
        return None
    if isinstance(value, Mapping):
        some = list(value.items())[:_MOST_ITEMS]
        return {_word(str(key)): clean_data(item, depth=depth + 1) for key, item in some}
    if isinstance(value, list | tuple):
        return [clean_data(item, depth=depth + 1) for item in value[:_MOST_ITEMS]]
    return None


def described(
    server: str, name: str, description: str, schema: Mapping[str, Any], *, is_safe: bool
) -> ForeignTool:
    """Return a tool as it may be shown.

    Args:
        server: As the settings name it.
        name: There, exactly as it is called by.
        description: In its own words.
        schema: Of its arguments, as it gives it.
        is_safe: Whether it may be called unasked.
    """
    definition = payload_hash({"name": name, "description": description, "schema": dict(schema)})
    kept = _schema(schema, schema.get("$defs") or schema.get("definitions"), 0)
    return ForeignTool(
        server=server, name=name,
        description=clean_text(description, longest=_LONGEST_DESCRIPTION, lines=False),
        schema=kept | {"type": "object"}, definition=definition, is_safe=is_safe,
    )  # fmt: skip


def _schema(schema: Any, definitions: Any, depth: int) -> dict[str, Any]:
    """Return the part of a schema that can be checked at bounded cost, references resolved."""
    if not isinstance(schema, Mapping) or depth >= _DEEPEST:
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        known = definitions if isinstance(definitions, Mapping) else {}
        name = reference.removeprefix(_LOCAL[0]).removeprefix(_LOCAL[1])
        return _schema(known.get(name), definitions, depth + 1)
    kept: dict[str, Any] = {}
    for key, value in list(schema.items())[:_MOST_ITEMS]:
        if key in _PLAIN:
            kept[key] = _scalars(value)
        elif key in _WORDS and isinstance(value, str):
            kept[key] = _word(value)
        elif key == "properties" and isinstance(value, Mapping):
            some = list(value.items())[:_MOST_ITEMS]
            kept[key] = {
                name: _schema(each, definitions, depth + 1)
                for name, each in some
                if _word(name) == name and not name.startswith("$")
            }
        elif key == "items" or (key == "additionalProperties" and isinstance(value, Mapping)):
            kept[key] = _schema(value, definitions, depth + 1)
        elif key == "additionalProperties" and isinstance(value, bool):
            kept[key] = value
        elif key in _LISTS and isinstance(value, list):
            kept[key] = [_schema(each, definitions, depth + 1) for each in value[:_MOST_ITEMS]]
    return kept


def _scalars(value: Any) -> Any:
    """Return a value, or those of a list, that are no structures of their own."""
    if isinstance(value, list):
        return [_scalars(each) for each in value[:_MOST_ITEMS] if not isinstance(each, list | dict)]
    return None if isinstance(value, dict) else clean_data(value)


def _word(text: str) -> str:
    return clean_text(text, longest=_LONGEST_WORD, lines=False)


def is_tool_name(name: str) -> bool:
    """Whether a tool's name can be shown and asked for: short, letters, digits and few signs."""
    return _NAME.fullmatch(name) is not None
