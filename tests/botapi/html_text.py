"""Text marked up as Telegram's kind of HTML."""

import html
import re
from dataclasses import dataclass, field
from typing import Any

from botapi.entities import Entity, utf16_length
from botapi.refusals import Refusal, bad_request

_KINDS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "a": "text_link",
    "tg-emoji": "custom_emoji",
    "tg-time": "date_time",
}
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"([\w-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_REFERENCE = re.compile(r"&(?:lt|gt|amp|quot|#\d+|#x[0-9A-Fa-f]+);")


@dataclass(slots=True)
class _Reading:
    raw: str
    text: list[str] = field(default_factory=list)
    length: int = 0
    open: list[tuple[str, int, int, dict[str, str]]] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)

    def add(self, piece: str) -> None:
        plain = _REFERENCE.sub(lambda match: html.unescape(match.group()), piece)
        self.text.append(plain)
        self.length += utf16_length(plain)

    def bytes_before(self, at: int) -> int:
        return len(self.raw[:at].encode())


def read_html(raw: str) -> tuple[str, list[Entity]]:
    """Return the text without its tags, and what the tags meant.

    Raises:
        Refusal: A tag is unknown, unclosed or crosses another.
    """
    reading = _Reading(raw)
    at = 0
    while (start := raw.find("<", at)) >= 0:
        reading.add(raw[at:start])
        tag = _TAG.match(raw, start)
        if tag is None:
            raise _broken(f"Unclosed start tag at byte offset {reading.bytes_before(start)}")
        (_close if tag.group(1) else _open)(reading, tag)
        at = tag.end()
    reading.add(raw[at:])
    if reading.open:
        name, byte, _, _ = reading.open[-1]
        raise _broken(
            f'Can\'t find end tag corresponding to start tag "{name}" at byte offset {byte}'
        )
    return "".join(reading.text), _joined(reading.entities)


def _broken(reason: str) -> Refusal:
    return bad_request(f"can't parse entities: {reason}")


def _open(reading: _Reading, tag: re.Match[str]) -> None:
    name, byte = tag.group(2).lower(), reading.bytes_before(tag.start())
    if name not in _KINDS:
        raise _broken(f'Unsupported start tag "{name}" at byte offset {byte}')
    attributes = {
        match.group(1).lower(): html.unescape(
            match.group(2) or match.group(3) or match.group(4) or ""
        )
        for match in _ATTRIBUTE.finditer(tag.group(3))
    }
    if name == "span" and attributes.get("class") != "tg-spoiler":
        raise _broken(f'Tag "span" must have class "tg-spoiler" at byte offset {byte}')
    reading.open.append((name, byte, reading.length, attributes))


def _close(reading: _Reading, tag: re.Match[str]) -> None:
    name, byte = tag.group(2).lower(), reading.bytes_before(tag.start())
    if not reading.open:
        raise _broken(f"Unexpected end tag at byte offset {byte}")
    opened, _, start, attributes = reading.open.pop()
    if opened != name:
        raise _broken(
            f'Unmatched end tag at byte offset {byte}, expected "</{opened}>", found "</{name}>"'
        )
    if reading.length > start:
        entity: dict[str, Any] = {
            "type": _KINDS[name],
            "offset": start,
            "length": reading.length - start,
        }
        shown = "".join(reading.text).encode("utf-16-le")[start * 2 :].decode("utf-16-le")
        if _complete(entity, attributes, shown):
            reading.entities.append(entity)


def _complete(entity: Entity, attributes: dict[str, str], shown: str) -> bool:
    """Add what the tag's attributes say; tell whether anything is left to mark."""
    kind = entity["type"]
    if kind == "text_link":
        entity["url"] = attributes.get("href") or shown
        return "." in entity["url"] or "://" in entity["url"]
    if kind == "blockquote" and "expandable" in attributes:
        entity["type"] = "expandable_blockquote"
    if kind == "code" and attributes.get("class", "").startswith("language-"):
        entity["language"] = attributes["class"].removeprefix("language-")
    if kind == "custom_emoji":
        entity["custom_emoji_id"] = attributes.get("emoji-id", "")
    if kind == "date_time":
        entity["unix_time"] = int(attributes.get("unix", "0"))
        entity["date_time_format"] = attributes.get("format", "")
    return True


def _joined(entities: list[Entity]) -> list[Entity]:
    """A block of code in a named language is written as two tags, but is one entity."""
    spans = {
        (entity["offset"], entity["length"]): entity
        for entity in entities
        if entity["type"] == "pre"
    }
    kept = []
    for entity in entities:
        around = spans.get((entity["offset"], entity["length"]))
        if entity["type"] == "code" and around is not None:
            if "language" in entity:
                around["language"] = entity["language"]
            continue
        entity.pop("language", None) if entity["type"] == "code" else None
        kept.append(entity)
    return kept
