"""Accuracy of planning by rules alone: on our own labelled requests, and on public ones nobody here wrote."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from evals.dialogue_gold import READS
from evals.planner_gold import Labelled, Verdict, judge, labelled_requests
from evals.report import Floor, Report, Table, share
from kinkeeper.conversation.model import Plan, PlanningContext
from kinkeeper.conversation.planning.rule_planner import plan_of

DEV, HELD_OUT = "requests_dev.jsonl", "requests_heldout.jsonl"

FLOORS: Final = {
    "held out: exactly the right requests": 0.95,
    "held out: parameters right": 0.94,
    "held out: references right": 0.9,
    "held out: asks only where it must": 0.97,
    "held out: nothing done where nothing is asked": 0.95,
    "public, unseen: right request": 0.6,
    "public, unseen: nothing written for other talk": 0.975,
}
_share = partial(share, of_none=1.0)
_CALENDAR, _TASK, _NOTES, _MAIL = (
    "calendar.create_event",
    "task.create",
    "notes.append notes.create",
    "email.send_email email.create_draft",
)
_PUBLIC: Final[Mapping[str, str]] = {
    "calendar_set": f"{_CALENDAR} {_TASK}",
    "calendar_query": "calendar.list_events calendar.find_free task.list",
    "calendar_remove": "calendar.delete_event task.delete",
    "lists_createoradd": f"{_NOTES} {_TASK}",
    "lists_remove": "notes.remove_line task.delete task.complete",
    "lists_query": "notes.list notes.search task.list",
    "email_query": "email.search",
    "email_sendemail": f"{_MAIL} email.reply_to_email",
    "alarm_set": _TASK,
    "alarm_query": "task.list",
    "alarm_remove": "task.delete",
    "todo_list": "task.list",
    "todo_list_update": f"{_TASK} task.delete task.complete",
    "reminder": "task.list",
    "reminder_update": _TASK,
    "shopping_list": "notes.list",
    "shopping_list_update": f"{_NOTES} notes.remove_line",
    "calendar": "calendar.list_events calendar.find_free",
    "calendar_update": f"{_CALENDAR} calendar.delete_event calendar.update_event",
    "schedule_meeting": f"{_CALENDAR} calendar.list_events calendar.find_free",
    "meeting_schedule": "calendar.list_events calendar.find_free",
    "alarm": _TASK,
    "timer": _TASK,
    "change_user_name": "memory.store",
    "user_name": "memory.search",
}
"""What each intent of the public sets may come to."""

_PUBLIC_SETS = ("clinc_router", "hwu_router", "slurp_router")
_SAMPLE = 250


def measure(data: Path | None, *, root: Path, is_full: bool) -> Report:
    """Measure the rules.

    Args:
        data: Folder with the public sets; without it our own requests alone are measured.
        root: The repository.
        is_full: All public requests, instead of a fixed sample.
    """
    judged = {
        name: [(row, judge(row, plan_of(row.context))) for row in _rows(root, file)]
        for name, file in (("developed with", DEV), ("held out", HELD_OUT))
    }
    own = Table(
        title="Own requests, by rules alone",
        columns=("requests", "number", "right requests", "parameters", "all right"),
        rows=tuple(
            (f"{name}: {slice_}", *_figures(verdicts))
            for name, pairs in judged.items()
            for slice_, verdicts in _by_slice(pairs).items()
        ),
    )
    values = _values(judged["held out"])
    tables = [own]
    if data is not None:
        context = judged["held out"][0][0].context
        table, more = _public(data, context, is_full=is_full)
        tables.append(table)
        values |= more
    return Report(
        suite="planner",
        tables=tuple(tables),
        worst=tuple(
            f"{row.slice}: {row.context.text[:90]!r}"
            for row, verdict in judged["developed with"]
            if not verdict.is_right
        ),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=minimum)
            for name, minimum in FLOORS.items()
            if name in values
        ),
    )


def _rows(root: Path, file: str) -> Iterable[Labelled]:
    return labelled_requests(root / "evals" / "data" / file, root)


def _by_slice(pairs: Sequence[tuple[Labelled, Verdict]]) -> Mapping[str, list[Verdict]]:
    slices: dict[str, list[Verdict]] = defaultdict(list)
    for row, verdict in pairs:
        slices[row.slice].append(verdict)
    return {**slices, "all": [verdict for _, verdict in pairs]}


def _figures(verdicts: Sequence[Verdict]) -> tuple[int, float, float, float]:
    return (
        len(verdicts),
        _share(each.is_set_right for each in verdicts),
        _share_of_params(verdicts),
        _share(each.is_right for each in verdicts),
    )


def _share_of_params(verdicts: Sequence[Verdict]) -> float:
    params = sum(each.params for each in verdicts)
    return sum(each.params_right for each in verdicts) / params if params else 1.0


def _values(pairs: Sequence[tuple[Labelled, Verdict]]) -> dict[str, float]:
    verdicts = [verdict for _, verdict in pairs]
    asked = [each for row, each in pairs if row.missing is None]
    talk = [each for row, each in pairs if not row.expected and row.missing is None]
    pointing = [each for row, each in pairs if row.slice in {"refer", "edit", "answer"}]
    return {
        "held out: exactly the right requests": _share(each.is_set_right for each in verdicts),
        "held out: parameters right": _share_of_params(verdicts),
        "held out: references right": _share(each.is_right for each in pointing),
        "held out: asks only where it must": _share(not each.asks_needlessly for each in asked),
        "held out: nothing done where nothing is asked": _share(
            not each.is_needless for each in talk
        ),
    }


def _public(
    data: Path, context: PlanningContext, *, is_full: bool
) -> tuple[Table, dict[str, float]]:
    """Measure on the half of the public requests that no rule was written after."""
    rows, right, quiet = [], [], []
    for name in _PUBLIC_SETS:
        requests, others = _halves(data, name)
        if not is_full:
            requests, others = _sample(requests), _sample(others)
        chosen = [_is_right(row, _plan(row, context)) for row in requests]
        plans = [_plan(row, context) for row in others]
        written = [not _writes(plan) for plan in plans]
        offered = _share(map(_offers, plans))
        rows.append((name, len(chosen), _share(chosen), len(written), 1 - _share(written), offered))
        right += chosen
        quiet += written
    table = Table(
        title="Public requests, the unseen half, by rules alone",
        columns=("set", "requests", "right request", "other talk", "written needlessly", "offered"),
        rows=tuple(rows),
    )
    return table, {
        "public, unseen: right request": _share(right),
        "public, unseen: nothing written for other talk": _share(quiet),
    }


def _halves(data: Path, name: str) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    lines = (data / f"{name}_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if _is_unseen(row["text"])]
    return (
        [row for row in rows if row["intent"] in _PUBLIC],
        [row for row in rows if not (row["domains"] or row["accept"] or row["doubt"])],
    )


def _is_unseen(text: str) -> bool:
    return int(hashlib.sha1(text.encode()).hexdigest()[:6], 16) % 2 == 1  # noqa: S324 - a split, no secret


def _sample(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return rows[:: len(rows) // _SAMPLE + 1]


def _plan(row: Mapping[str, Any], context: PlanningContext) -> Plan:
    now = datetime(2026, 3, 11, 9, 5, tzinfo=context.asked.household.zone)
    asked = replace(context.asked, now=now)
    return plan_of(replace(context, asked=asked, text=row["text"], history=(), open_edit=()))


def _kinds(plan: Plan) -> set[str]:
    kinds = {f"{each.domain}.{each.action}" for each in plan.actions}
    return kinds | (
        {f"{plan.partial['domain']}.{plan.partial['action']}"}
        if plan.partial is not None
        else set()
    )


def _is_right(row: Mapping[str, Any], plan: Plan) -> bool:
    kinds = _kinds(plan)
    return bool(kinds) and kinds <= set(_PUBLIC[row["intent"]].split())


def _writes(plan: Plan) -> bool:
    """Whether a plan would change something; what is only offered waits for a yes."""
    asked_for = replace(plan, actions=tuple(each for each in plan.actions if not each.is_offer))
    return not _kinds(asked_for) <= READS


def _offers(plan: Plan) -> bool:
    return any(each.is_offer for each in plan.actions)
