"""One message planned by the rules, as the tests of planning need it."""

from collections.abc import Mapping, Sequence
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
    PlanningContext,
    Triage,
    TurnType,
)
from kinkeeper.conversation.planning.rule_planner import plan_of
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household

ROOT = Path(__file__).parents[1]
WEDNESDAY = datetime.fromisoformat("2026-03-11T09:05")
"""When messages are written unless said otherwise, on the household's clock."""


@cache
def miller() -> Household:
    """Return the sample household."""
    return load_household(ROOT / "examples" / "miller" / "household.toml")


def context(
    text: str,
    *,
    history: Sequence[Exchange] = (),
    open_edit: Sequence[ActionResult] = (),
    results: Sequence[ActionResult] = (),
    fetched: Mapping[str, Any] | None = None,
    branch: Branch = Branch.ACT,
) -> PlanningContext:
    """Return what a planner is given when John writes."""
    household = miller()
    john = household.member("john")
    assert john is not None
    now = WEDNESDAY.replace(tzinfo=household.zone)
    return PlanningContext(
        asked=Asked(
            household=household, member=john, now=now, channel="web", thread_id="t", turn_id="u"
        ),
        text=text,
        triage=Triage(type=TurnType.ACTION, branch=branch, mode=Mode.ACT),
        history=history,
        open_edit=open_edit,
        results=results,
        fetched=fetched or {},
    )


def planned(text: str, **around: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the requests of a message as names with parameters."""
    plan = plan_of(context(text, **around))
    return [(f"{each.domain}.{each.action}", dict(each.params)) for each in plan.actions]


def plan(text: str, **around: Any) -> Plan:
    """Return the plan of a message."""
    return plan_of(context(text, **around))


def done(
    key: str,
    *,
    params: Mapping[str, Any] | None = None,
    status: ResultStatus = ResultStatus.DONE,
    **result: Any,
) -> ActionResult:
    """Return what became of a request."""
    domain, _, name = key.partition(".")
    return ActionResult(
        domain=domain, action=name, status=status, params=params or {}, result=result
    )


def exchange(
    text: str, *results: ActionResult, partial: Mapping[str, Any] | None = None
) -> Exchange:
    """Return an earlier turn."""
    now = WEDNESDAY.replace(tzinfo=miller().zone)
    return Exchange(text=text, answer="", at=now, mode=Mode.ACT, results=results, partial=partial)
