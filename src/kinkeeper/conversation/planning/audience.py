"""For whom something is remembered or noted: said with it ("just for me"), or afterwards ("share it"). Pure."""

from collections.abc import Sequence

from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.referents import latest

_KEPT = frozenset({"store", "set_audience", "update"})


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


def share(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "share it", said of what was remembered last."""
    return _changed(case, is_private=False)


def keep(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "just for me", said of what was remembered last."""
    return _changed(case, is_private=True)


def _changed(case: Case, *, is_private: bool) -> Sequence[Step] | None:
    last = next(latest(case), None)
    if last is None or last.domain != "memory" or last.action not in _KEPT:
        return None
    lines = last.result.get("memories") or [last.result.get("title") or ""]
    return [
        action("memory", "set_audience", {"find_by": line, "private": is_private}) for line in lines if line
    ]  # fmt: skip
