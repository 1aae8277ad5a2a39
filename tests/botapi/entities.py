"""Where mentions, commands, links and tags stand in a text, as Telegram finds them by itself."""

import re
from typing import Any

Entity = dict[str, Any]

_FOUND = (
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z]\w{2,31})?(?![\w/])")),
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    (
        "url",
        re.compile(
            r"(?<![\w@.])(?:https?://[^\s<>]+[^\s<>.,;:!?)]|(?:[\w-]+\.)+(?:com|org|net|io|me|dev|info|shop|xyz)\b(?:/[^\s<>]*)?)"
        ),
    ),
    ("mention", re.compile(r"(?<![\w@./])@[A-Za-z]\w{2,31}\b")),
    ("hashtag", re.compile(r"(?<![\w#&])#\w*[^\W\d]\w*")),
    ("cashtag", re.compile(r"(?<![\w$])\$[A-Z]{1,8}\b")),
)
_OPAQUE = {"code", "pre", "text_link", "text_mention"}


def utf16_length(text: str) -> int:
    """Return how many UTF-16 units the text takes: the unit in which entities are placed."""
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def find(text: str, marked: list[Entity] | None = None) -> list[Entity]:
    """Return the entities of the text: those already marked and those found beside them."""
    taken = [
        (entity["offset"], entity["offset"] + entity["length"])
        for entity in marked or []
        if entity["type"] in _OPAQUE
    ]
    entities = list(marked or [])
    for kind, pattern in _FOUND:
        for match in pattern.finditer(text):
            start = utf16_length(text[: match.start()])
            end = start + utf16_length(match.group())
            if all(end <= begun or start >= ended for begun, ended in taken):
                taken.append((start, end))
                entities.append({"type": kind, "offset": start, "length": end - start})
    return sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


def trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Return the text as Telegram keeps it, with control characters and outer blanks gone."""
    kept = re.sub(r"[\x00-\x09\x0b-\x1f]", " ", text.replace("\r", ""))
    kept = re.sub("[\u2028-\u202e]", "", kept) if not entities else kept
    stripped = kept.strip(" \n")
    shift = utf16_length(kept[: len(kept) - len(kept.lstrip(" \n"))])
    end = utf16_length(stripped)
    moved = []
    for entity in entities:
        start = max(entity["offset"] - shift, 0)
        stop = min(entity["offset"] + entity["length"] - shift, end)
        if stop > start:
            moved.append(entity | {"offset": start, "length": stop - start})
    return stripped, moved


def is_blank(text: str) -> bool:
    """Tell whether nothing of the text would be seen."""
    return not re.sub("[\\s\u00ad\u180e\u200b-\u200f\u2060\u2800\u3000\ufeff]", "", text)
