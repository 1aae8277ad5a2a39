"""Who may see what is kept: "share it", "just for me" said afterwards; what must not stand where all look. Pure."""

from collections.abc import Sequence

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.model import Plan
from kinkeeper.conversation.planning.case import Case, Groups, Missing, Step, action
from kinkeeper.conversation.planning.grammar import load_grammar
from kinkeeper.conversation.planning.referents import latest
from kinkeeper.language.folding import fold

SEEN_BY_ALL = (
    "The calendar, tasks, notes and lists can be seen by the whole family. Say “remember just for me” and what it is, "
    "and I keep that for you alone."
)
NOT_WRITTEN = (
    f"I have written nothing down. {SEEN_BY_ALL} Or say it again in words that all may read."
)

_OPEN_TO_ALL = frozenset({"calendar", "task", "notes"})
_WRITING = frozenset({"create_event", "update_event", "create", "append", "update"})
_KEPT = frozenset({"store", "set_audience", "update"})


def unless_secret(plan: Plan, text: str) -> Plan:
    """Return a plan that writes nothing where the whole family looks if the message says that it is not for all.

    Args:
        plan: Of the message.
        text: The message, verbatim.
    """
    writes = any(each.domain in _OPEN_TO_ALL and each.action in _WRITING for each in plan.actions)
    if not writes or load_grammar().pointing["secret"].search(fold(text).text) is None:
        return plan
    return Plan(clarification=NOT_WRITTEN, source=plan.source)


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
