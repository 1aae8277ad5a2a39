"""For whom something is to be remembered or noted, where that is said with it: "just for me". Pure."""

from kinkeeper.conversation.planning.case import Case


def audience_of(text: str, case: Case) -> tuple[str, bool | None]:
    """Return what is to be kept without words on who may see it, and whether that is its person alone.

    Args:
        text: With marks.
        case: The message.

    Returns:
        The rest of the text, and True, False, or None where nothing is said about it.
    """
    for name, is_private in (("said_private", True), ("said_shared", False)):
        found = case.grammar.pointing[name].search(text)
        if found is not None and (found.start() == 0 or found.end() == len(text)):
            return (text[: found.start()] + text[found.end() :]).strip(), is_private
    return text, None
