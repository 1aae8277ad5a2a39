"""Who may see what was remembered last, said afterwards: "share it", "just for me". Pure."""

from collections.abc import Sequence

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.case import Case, Groups, Missing, Step, action
from kinkeeper.conversation.planning.referents import latest

SEEN_BY_ALL = (
    "Tasks, notes and lists can be seen by the whole family. Say “remember just for me” and what it is, "
    "and I keep that for you alone."
)

_OPEN_TO_ALL = frozenset({"task", "notes"})
_KEPT = frozenset({"store", "set_audience", "update"})


def share(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "share it", said of what was remembered last."""
    return _changed(case, is_private=False)


def keep(_groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "just for me", said of what was remembered last; of what the family sees anyway it says so."""
    last = _last(case)
    if last is not None and last.domain in _OPEN_TO_ALL and last.action_id is not None:
        return [Missing(action(last.domain, last.action, {}), "private", SEEN_BY_ALL)]
    return _changed(case, is_private=True)


def _changed(case: Case, *, is_private: bool) -> Sequence[Step] | None:
    last = _last(case)
    if last is None or last.domain != "memory" or last.action not in _KEPT:
        return None
    lines = last.result.get("memories") or [last.result.get("title") or ""]
    return [
        action("memory", "set_audience", {"find_by": line, "private": is_private}) for line in lines if line
    ]  # fmt: skip


def _last(case: Case) -> ActionResult | None:
    """Return what was done last before this message: what it does itself says for whom it is."""
    return None if case.context.results else next(latest(case), None)
