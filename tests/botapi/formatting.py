"""Marked-up text: which mode it is in, and what is left when the marks are read."""

from typing import Any

from botapi.entities import Entity, find, is_blank, trimmed, utf16_length
from botapi.html_text import read_html
from botapi.markdown_text import read_markdown
from botapi.parameters import Arguments
from botapi.refusals import bad_request

MOST_TEXT = 4096
MOST_CAPTION = 1024
MOST_RAW_BYTES = 1 << 15
_FOUND_BY_ITSELF = {
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
    "bank_card_number",
}
_MARKED = {
    "bold",
    "italic",
    "underline",
    "strikethrough",
    "spoiler",
    "blockquote",
    "expandable_blockquote",
    "code",
    "pre",
    "text_link",
    "text_mention",
    "custom_emoji",
    "date_time",
}


def read_text(
    arguments: Arguments, name: str = "text", *, prefix: str = ""
) -> tuple[str, list[Entity]]:
    """Return the text of a call and its entities, not yet measured.

    Args:
        arguments: Of the call.
        name: Which of them is the text.
        prefix: What stands before `parse_mode` or `entities` in their names.

    Raises:
        Refusal: The markup is broken.
    """
    raw = arguments.text(name)
    if len(raw.encode(errors="replace")) > MOST_RAW_BYTES:
        raise bad_request("text is too long")
    mode = arguments.text(f"{prefix}parse_mode").lower()
    if mode == "html":
        text, marked = read_html(raw)
    elif mode == "markdownv2":
        text, marked = read_markdown(raw)
    elif mode in {"", "none"}:
        field = "caption_entities" if name == "caption" else f"{prefix}entities"
        text, marked = raw, [] if mode else _explicit(arguments.parsed(field, "entities"), raw)
    else:
        raise bad_request("unsupported parse_mode")
    text, marked = trimmed(text, marked)
    return text, find(text, marked)


def check_text(text: str) -> None:
    """Refuse a text that shows nothing, or too much; it counts characters after the markup is read.

    Raises:
        Refusal: It is so.
    """
    if is_blank(text):
        raise bad_request("text must be non-empty")
    if len(text) > MOST_TEXT:
        raise bad_request("message is too long")


def _explicit(given: Any, text: str) -> list[Entity]:
    if not given:
        return []
    if not isinstance(given, list):
        raise bad_request("can't parse entities: expected an Array")
    length = utf16_length(text)
    entities = []
    for entity in given:
        if not isinstance(entity, dict) or not isinstance(entity.get("type"), str):
            raise bad_request("can't parse MessageEntity: must be an Object with a type")
        kind = entity["type"]
        if kind in _FOUND_BY_ITSELF:
            continue
        if kind not in _MARKED:
            raise bad_request("can't parse MessageEntity: Unsupported type specified")
        start, size = entity.get("offset"), entity.get("length")
        if not isinstance(start, int) or not isinstance(size, int) or start < 0 or size <= 0:
            raise bad_request("can't parse entities: an entity has a wrong offset or length")
        if start + size > length:
            raise bad_request(
                f"entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {start + size}"
            )
        entities.append(entity)
    return entities
