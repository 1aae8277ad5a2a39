"""What a foreign server says, made harmless to show and of bearable length. Pure.

Characters that are not seen can carry instructions to a model or disguise a text to people; a schema can
ask a checker for more work than there is. Both are reduced to what is needed.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinkeeper.actions.requests.tools import ForeignTool
from kinkeeper.core.ids import payload_hash

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}")
_LONGEST_DESCRIPTION = 300
_LONGEST_WORD = 120
_LONGEST_ANSWER = 8000
_MOST_ITEMS = 200
_DEEPEST = 8
_MOST_KEPT = 20_000  # characters, each part counted as _PART of them
_PART = 20
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
    reading = _Reading(schema.get("$defs") or schema.get("definitions"))
    kept = reading.part(schema)
    if reading.left < 0:  # a part of it could refuse what the whole would take
        kept = {}
    return ForeignTool(
        server=server, name=name,
        description=clean_text(description, longest=_LONGEST_DESCRIPTION, lines=False),
        schema=kept | {"type": "object"}, definition=definition, is_safe=is_safe,
    )  # fmt: skip


@dataclass(slots=True)
class _Reading:
    """Reads one tool's schema; references can make a short one endless, so what is kept of it is limited.

    Attributes:
        definitions: What its references lead to.
        left: What may still be kept; below zero it is more than can be checked at bounded cost.
    """

    definitions: Any
    left: int = _MOST_KEPT

    def part(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        """Return the part of a schema that can be checked at bounded cost, references resolved."""
        self.left -= _PART
        if not isinstance(schema, Mapping) or depth >= _DEEPEST or self.left < 0:
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            known = self.definitions if isinstance(self.definitions, Mapping) else {}
            name = reference.removeprefix(_LOCAL[0]).removeprefix(_LOCAL[1])
            return self.part(known.get(name), depth + 1)
        some = list(schema.items())[:_MOST_ITEMS]
        kept = ((key, self._value(key, value, depth + 1)) for key, value in some)
        return {key: value for key, value in kept if value is not None}

    def _value(self, key: str, value: Any, depth: int) -> Any:
        """Return what is kept under a key of a schema; None for nothing."""
        if key in _PLAIN:
            return self._scalars(value)
        if key in _WORDS and isinstance(value, str):
            return self._scalars(_word(value))
        if key == "properties" and isinstance(value, Mapping):
            some = list(value.items())[:_MOST_ITEMS]
            return {
                name: self.part(each, depth)
                for name, each in some
                if self._scalars(_word(name)) == name and not name.startswith("$")
            }
        if key == "items" or (key == "additionalProperties" and isinstance(value, Mapping)):
            return self.part(value, depth)
        if key == "additionalProperties" and isinstance(value, bool):
            return value
        if key in _LISTS and isinstance(value, list):
            return [self.part(each, depth) for each in value[:_MOST_ITEMS]]
        return None

    def _scalars(self, value: Any) -> Any:
        """Return a value, or those of a list, that are no structures of their own."""
        if isinstance(value, list):
            some = [each for each in value[:_MOST_ITEMS] if not isinstance(each, list | dict)]
            return [self._scalars(each) for each in some]
        if isinstance(value, dict) or self.left < 0:
            return None
        kept = clean_data(value)
        self.left -= len(kept) if isinstance(kept, str) else 1
        return kept


def _word(text: str) -> str:
    return clean_text(text, longest=_LONGEST_WORD, lines=False)


def is_tool_name(name: str) -> bool:
    """Whether a tool's name can be shown and asked for: short, letters, digits and few signs."""
    return _NAME.fullmatch(name) is not None
