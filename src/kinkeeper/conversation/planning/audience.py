"""For whom something is to be remembered or noted, where that is said with it: "just for me". Pure."""

import re

from kinkeeper.conversation.planning.case import Case

_POLITE = re.compile(r"[\s,.!]*(?:please|pls|thanks|thank you|ok|okay)?[\s,.!]*$", re.IGNORECASE)
_LEFT_OVER = re.compile(r"[\s,;:-]+(?:(?:but|and|so)\s+)?(?:just|only)$", re.IGNORECASE)


def audience_of(text: str, case: Case) -> tuple[str, bool | None]:
    """Return what is to be kept without words on who may see it, and whether that is its person alone.

    Those words may have been taken for politeness before ("..., for me"), so the whole message is looked at, too.

    Args:
        text: Of one request, with marks.
        case: The message.

    Returns:
        The rest of the text, and True, False, or None where nothing is said about it.
    """
    for name, is_private in (("said_private", True), ("said_shared", False)):
        pattern = case.grammar.pointing[name]
        found = _at_an_edge(pattern, text)
        if found is not None:
            return (text[: found.start()] + text[found.end() :]).strip(), is_private
        if _at_an_edge(pattern, _POLITE.sub("", case.message.text)) is not None:
            return _LEFT_OVER.sub("", text).strip(), is_private
    return text, None


def _at_an_edge(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = [
        each for each in pattern.finditer(text) if each.start() == 0 or each.end() == len(text)
    ]
    return found[-1] if found else None
