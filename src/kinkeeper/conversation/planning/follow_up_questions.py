"""Questions that go on with the last one, of which they say one part anew: "and on Friday?", "what about Ben?". Pure."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Step, action
from kinkeeper.conversation.planning.day_query import subject_of
from kinkeeper.conversation.planning.message import MARK
from kinkeeper.conversation.planning.people import who_of, without_people
from kinkeeper.conversation.planning.windows import Window, window_of, window_with

_LEAD = re.compile(
    r"^(?:(?:and|ok(?:ay)?|so|but|also|then|oh)[\s,]+)*(?:(?:what|how) about|what of|same for|and)\b[\s,]*",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:who|whose|what|which|when|where|how|why|is|are|am|do|does|did|can|could|will|has|have|should|would)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\bthe (?:(?P<unit>day|week|weekend|month) after|(?:next|following) (?P<other>day|week|weekend|month))\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:(?:and|ok(?:ay)?|so|but|also|then|oh)[\s,]+)*(?:what|how) about\b", re.IGNORECASE
)
_JOINING: Final = frozenset(
    {"on", "at", "in", "for", "with", "and", "the", "after", "before", "next"}
)
_PREPOSITION = re.compile(r"^(?:on|at|in|for|with|by|to)\s+", re.IGNORECASE)
_MOST_WORDS: Final = 6
_SPANS: Final = frozenset({"from", "days_ahead", "since", "until"})
_READS: Final = frozenset({"calendar.list_events", "calendar.find_free", "task.list"})
_AWAY: Final[Mapping[str, int]] = {"day": 1, "weekend": 7, "week": 7, "month": 31}


def continued(clause: str, case: Case) -> list[Step] | None:
    """Return what was looked up last, for another day, person or thing; None where a clause does not go on so.

    Args:
        clause: With marks, without politeness.
        case: The message.
    """
    lead = goes_on(case)
    rest = _PREPOSITION.sub("", _LEAD.sub("", clause).strip(" ?"))
    is_short = 0 < len(rest.split()) <= _MOST_WORDS and _ASKS.match(rest) is None
    if not is_short or case.grammar.starts.match(rest) or not _is_asked(rest, case):
        return None
    last = _last_read(case)
    if last is not None:
        return _again(last, rest, case)
    window = window_of(rest, case)
    if not lead or window is None or subject_of(rest, case):
        return None
    return [action("calendar", "list_events", window.parameters)]


def goes_on(case: Case) -> bool:
    """Whether the message begins as what goes on with a question does: "and ...", "what about ..."."""
    return _LEAD.match(case.context.text.strip()) is not None


def _is_asked(rest: str, case: Case) -> bool:
    """Whether a part is asked about: by its mark, by "what about", or for it says nothing but when and whom."""
    text = case.context.text.strip()
    if text.endswith("?") or _ABOUT.match(text):
        return True
    said = set(without_people(MARK.sub(" ", rest), case).lower().split())
    return goes_on(case) and said <= _JOINING


def _last_read(case: Case) -> ActionResult | None:
    """Return the look-up that the last turn came to, if it was one alone."""
    if not case.context.history:
        return None
    results = case.context.history[-1].results
    if len(results) != 1 or results[0].status is not ResultStatus.DONE:
        return None
    return results[0] if f"{results[0].domain}.{results[0].action}" in _READS else None


def _again(last: ActionResult, rest: str, case: Case) -> list[Step] | None:
    window = _next_to(last, rest, case) or window_of(rest, case)
    who = who_of(rest, case)
    subject = subject_of(rest, case)
    if subject is not None and (window is not None or who or last.action != "list_events"):
        return None  # more is said anew than one part: it is a question of its own
    planned = PlannedAction(domain=last.domain, action=last.action, params=dict(last.params))
    match last.action:
        case "find_free":
            changed = _free(planned, window, who)
        case "list":
            changed = _tasks(window, who)
        case _:
            changed = _events(planned, window, who, subject)
    return None if changed == planned.params else [replace(planned, params=changed)]


def _events(
    planned: PlannedAction, window: Window | None, who: list[str], subject: str | None
) -> dict[str, Any]:
    params = dict(planned.params)
    if window is not None:
        params = {name: value for name, value in params.items() if name not in _SPANS}
        params |= window.parameters
    if who:
        params["who"] = who
    if subject is not None:
        params["query"] = subject
    return params


def _free(planned: PlannedAction, window: Window | None, who: list[str]) -> dict[str, Any]:
    params = dict(planned.params)
    if window is not None:
        params = {name: value for name, value in params.items() if name != "around"}
        params["between"] = {"from": window.begin.isoformat(), "to": window.until.isoformat()}
    return params | ({"who": who} if who else {})


def _tasks(window: Window | None, who: list[str]) -> dict[str, Any]:
    due = {} if window is None else {"due_before": window.until.date().isoformat()}
    return due | ({"who": who} if who else {})


def _next_to(last: ActionResult, rest: str, case: Case) -> Window | None:
    """Return "the weekend after" by the days that were looked at."""
    said, looked_at = _NEXT.search(case.message.words(rest)), last.params.get("from")
    if said is None or not isinstance(looked_at, str):
        return None
    unit = (said["unit"] or said["other"]).lower()
    day = date.fromisoformat(looked_at[:10]) + timedelta(days=_AWAY[unit])
    return window_with(day, unit, case)
