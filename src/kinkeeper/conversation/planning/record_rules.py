"""Reads questions about what was done, and what awaits a yes. Pure."""

from collections.abc import Sequence

from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.windows import window_of


def waiting(_groups: Groups, _case: Case) -> Sequence[Step]:
    """Read "what needs my yes?"."""
    return [action("memory", "list_waiting", {})]


def done(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "what changed since yesterday?", "did you send any mail today?"."""
    window = window_of(groups["when"], case, is_past=True)
    kind = {"kind": "email"} if groups.get("kind") else {}
    if window is None:
        return [action("memory", "list_done", kind)]
    if window.begin > case.now:
        return None
    until = window.until.isoformat() if window.until < case.now else None
    return [
        action("memory", "list_done", {"since": window.begin.isoformat(), "until": until, **kind})
    ]
