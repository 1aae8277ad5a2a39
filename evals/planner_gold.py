"""Labelled requests, and whether a plan is what was asked for."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.conversation.model import (
    Branch,
    Exchange,
    Mode,
    Plan,
    PlannedAction,
    PlanningContext,
    Triage,
    TurnType,
)
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household

_TIMES = frozenset({"start_time", "end_time", "deadline", "on"})
_LISTS = frozenset({"who", "lines"})
_ARTICLES = re.compile(r"^(?:the|a|an|my|our|his|her)\s+", re.IGNORECASE)
_TRIAGE = Triage(type=TurnType.ACTION, branch=Branch.ACT, mode=Mode.ACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One labelled message.

    Attributes:
        id: Of the row.
        slice: The kind of request.
        context: What a planner is given.
        expected: Each {"do": "domain.action|domain.action", parameter: value|other value, ...}; what is not
            named is not judged.
        missing: Field that has to be asked for, if any.
    """

    id: str
    slice: str
    context: PlanningContext
    expected: Sequence[Mapping[str, Any]]
    missing: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a plan compares with what was asked for.

    Attributes:
        is_set_right: Whether exactly the right requests were planned, and asked back only where needed.
        params_right: Parameters that are as labelled.
        params: Parameters that are labelled, of requests that were planned.
        is_needless: Whether something was planned where nothing was asked for.
        asks_needlessly: Whether it asked back where all was said.
    """

    is_set_right: bool
    params_right: int
    params: int
    is_needless: bool
    asks_needlessly: bool

    @property
    def is_right(self) -> bool:
        """Whether all of it is as labelled."""
        return self.is_set_right and self.params_right == self.params


def labelled_requests(path: Path, root: Path) -> Iterator[Labelled]:
    """Yield the rows of a file.

    Args:
        path: JSON lines.
        root: Folder that household files are named from.
    """
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Labelled(
            id=row["id"],
            slice=row["slice"],
            context=context_of(row, _household(root / row["household"])),
            expected=row["expect"],
            missing=row.get("ask"),
        )


@cache
def _household(path: Path) -> Household:
    return load_household(path)


def context_of(row: Mapping[str, Any], household: Household) -> PlanningContext:
    """Return what a planner is given for a row."""
    member = household.member(row.get("by") or "") or household.adults[0]
    now = datetime.fromisoformat(row["now"]).replace(tzinfo=household.zone)
    return PlanningContext(
        asked=Asked(
            household=household,
            member=member,
            now=now,
            channel="web",
            thread_id="thread",
            turn_id="turn",
        ),
        text=row["text"],
        triage=_TRIAGE,
        history=[
            Exchange(
                text=each["text"],
                answer=each.get("answer", ""),
                at=now,
                mode=Mode.ACT,
                results=tuple(map(_result, each["results"])),
                partial=each.get("partial"),
            )
            for each in row.get("history", ())
        ],
        open_edit=[_result(each) for each in row.get("open_edit", ())],
        fetched=row.get("fetched", {}),
    )


def _result(row: Mapping[str, Any]) -> ActionResult:
    return ActionResult(
        domain=row["domain"],
        action=row["action"],
        status=ResultStatus(row["status"]),
        params=row["params"],
        result=row["result"],
    )


def judge(row: Labelled, plan: Plan) -> Verdict:
    """Compare a plan with its label."""
    left = list(plan.actions)
    right = total = 0
    has_all = True
    for wanted in row.expected:
        planned = next((each for each in left if _is_kind(each, wanted)), None)
        if planned is None:
            has_all = False
            continue
        left.remove(planned)
        named = _judged(planned, wanted)
        total += len(named)
        right += sum(_equal(name, value, _given(planned, name)) for name, value in named.items())
    asked = plan.partial["missing"] if plan.partial is not None else None
    asks_right = (asked is None) == (row.missing is None) and (asked == row.missing)
    return Verdict(
        is_set_right=has_all and not left and asks_right,
        params_right=right,
        params=total,
        is_needless=(
            not row.expected and row.missing is None and not all(each.is_offer for each in left)
        ),
        asks_needlessly=row.missing is None
        and (
            plan.clarification is not None
            or (bool(row.expected) and any(each.is_offer for each in plan.actions))
        ),
    )


def _is_kind(planned: PlannedAction, wanted: Mapping[str, Any]) -> bool:
    return f"{planned.domain}.{planned.action}" in wanted["do"].split("|")


def _judged(planned: PlannedAction, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labelled parameters that a request of this kind has; of alternatives only some have all."""
    named = {name: value for name, value in wanted.items() if name != "do"}
    if "|" not in wanted["do"]:
        return named
    return {name: value for name, value in named.items() if _given(planned, name) is not None}


def _given(planned: PlannedAction, name: str) -> Any:
    params = {**planned.params, **planned.params.get("changes", {})}
    if name == "lines":
        body = params.get("body", "")
        return body.splitlines() if isinstance(body, str) else body
    return params.get(name)


def _equal(name: str, wanted: Any, given: Any) -> bool:
    if wanted is None or given is None:
        return wanted is given
    if name in _LISTS:
        given = [given] if isinstance(given, str) else given
        wanted = [wanted] if isinstance(wanted, str) else wanted
        return sorted(map(_plain, wanted)) == sorted(map(_plain, given))
    if name in _TIMES:
        return _same_time(str(wanted), str(given), is_day_enough=name == "on")
    if isinstance(given, list):
        given = ", ".join(map(str, given))
    return _plain(given) in {_plain(each) for each in str(wanted).split("|")}


def _plain(value: object) -> str:
    words = re.sub(r"[^\w\s'-]", " ", str(value).lower())
    return _ARTICLES.sub("", " ".join(words.split()))


def _same_time(wanted: str, given: str, *, is_day_enough: bool) -> bool:
    """Whether a time is as labelled; a day without a time of day is a whole day, unless only the day counts."""
    return given.startswith(wanted) and (is_day_enough or ("T" in wanted) == ("T" in given))
