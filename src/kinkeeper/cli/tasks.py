"""`kinkeeper tasks`: what is to be done, by whom and when."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.table import Table

from kinkeeper.actions.requests.goals import goal_requests
from kinkeeper.actions.requests.model import ActionResult, Asked, Catalogue, ResultStatus
from kinkeeper.actions.requests.request_runner import perform_by_hand
from kinkeeper.actions.requests.tasks import task_requests
from kinkeeper.bootstrap import System
from kinkeeper.cli.located import AsOption, JsonOption, LookOption, Where, located
from kinkeeper.cli.opener import acting, member_named, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household, Member
from kinkeeper.reading.times import read

_CHANNEL = "cli"
_ID_LETTERS = 8

app = typer.Typer(name="tasks", help="List, add, change, complete or delete tasks.")
TaskArgument = Annotated[
    str, typer.Argument(metavar="TASK", help="Task id, title, or words from the title.")
]
ByOption = Annotated[
    str | None,
    typer.Option("--by", metavar="WHEN", help='Due date: "friday", "tomorrow 5pm" or ISO 8601.'),
]
RemindOption = Annotated[
    str | None,
    typer.Option("--remind", metavar="WHEN", help="Reminder time; default is the due time."),
]
RepeatOption = Annotated[
    str | None,
    typer.Option(
        "--repeat", metavar="RULE", help="Recurrence rule (RFC 5545), e.g. FREQ=WEEKLY;BYDAY=SU."
    ),
]
ForOption = Annotated[
    list[str] | None, typer.Option("--for", metavar="MEMBER", help="Assignee; repeatable.")
]
DoneOption = Annotated[bool, typer.Option("--done", help="Show completed tasks.")]


@app.callback(invoke_without_command=True)
@located
def tasks(
    where: Where, done: DoneOption = False, as_: LookOption = None, json_: JsonOption = False
) -> None:
    """List, add, change, complete or delete tasks."""
    _list(where, done=done, who=None, named=as_, json_=json_)


@app.command("list")
@located
def list_(
    where: Where,
    done: DoneOption = False,
    for_: ForOption = None,
    as_: LookOption = None,
    json_: JsonOption = False,
) -> None:
    """List tasks, those with a due date first."""
    _list(where, done=done, who=for_, named=as_, json_=json_)


@app.command()
@located
def add(
    where: Where,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Title of the task.")],
    by: ByOption = None,
    remind: RemindOption = None,
    repeat: RepeatOption = None,
    for_: ForOption = None,
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Add a task; reminders are sent while `serve` or `worker` runs."""
    wanted = {"title": title, "rrule": repeat, "who": for_}
    times = Times(by=by, remind=remind)
    _change_task(where, "create", wanted, times, named=as_, as_json=json_)


@app.command()
@located
def change(
    where: Where,
    task: TaskArgument,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="New title.")] = None,
    by: ByOption = None,
    remind: RemindOption = None,
    repeat: RepeatOption = None,
    for_: ForOption = None,
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Change a task."""
    wanted = {"find_by": task, "changes": {"title": title, "rrule": repeat, "who": for_}}
    times = Times(by=by, remind=remind)
    _change_task(where, "update", wanted, times, named=as_, as_json=json_)


@app.command()
@located
def done(where: Where, task: TaskArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Complete a task; a recurring one moves to its next date."""
    _change_task(where, "complete", {"find_by": task}, Times(), named=as_, as_json=json_)


@app.command()
@located
def delete(
    where: Where, task: TaskArgument, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """Delete a task."""
    _change_task(where, "delete", {"find_by": task}, Times(), named=as_, as_json=json_)


def _list(
    where: Where, *, done: bool, who: list[str] | None, named: str | None, json_: bool
) -> None:

    with opened(where) as system:
        wanted = {"status": "done" if done else "open", "who": list(who or ())}
        household = system.household
        member = household.members[0] if named is None else member_named(household, named)
        found = carried_out(system, member, "task.list", wanted, is_shared=named is None)
        names = system.household.names
    if json_:
        answer_json(found.result["tasks"])
    elif found.result["tasks"]:
        whens = [item["when"] for item in (found.card.items if found.card else ())]
        console().print(_table(found.result["tasks"], whens, names))
    else:
        notice("Nothing has been done yet." if done else "There is nothing to do.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Times as they were given; None where they were not.

    Attributes:
        by: When it is due.
    """

    by: str | None = None
    remind: str | None = None

    def read(self, household: Household, now: datetime) -> dict[str, str]:
        """Return the times for a request."""
        given = {"deadline": self.by, "remind_at": self.remind}
        return {
            name: when_told(text, household, now)
            for name, text in given.items()
            if text is not None
        }


def _change_task(
    where: Where,
    action: str,
    params: Mapping[str, Any],
    times: Times,
    *,
    named: str | None,
    as_json: bool,
) -> None:
    """Carry out a request about a task, and tell what became of it.

    Args:
        action: Name of the request.
        params: What it takes; what is None was not given.
        named: Who does it; the owner where None.
    """
    with opened(where) as system:
        household = system.household
        member, now = acting(household, named), SystemClock().now()
        wanted, read_times = _given(params), times.read(household, now)
        if "changes" in wanted:
            wanted["changes"] = {**_given(wanted["changes"]), **read_times}
        else:
            wanted |= read_times
        done = carried_out(system, member, f"task.{action}", wanted)
    if as_json:
        told = {"status": done.status.value, "summary": done.summary, "action_id": done.action_id}
        answer_json({**told, "task": dict(done.result)})
    else:
        waits = done.status is ResultStatus.AWAITING
        answer(f"Waiting for an adult's approval: {done.summary}" if waits else done.summary)
    if done.status is not ResultStatus.DONE:
        raise typer.Exit(1)


def carried_out(
    system: System, member: Member, key: str, params: Mapping[str, Any], *, is_shared: bool = False
) -> ActionResult:
    """Carry out a request by hand.

    Args:
        key: Domain and name of it: "task.create".
        is_shared: Whether nothing is told that only the member may know.
    """
    now, (domain, _, action) = SystemClock().now(), key.partition(".")
    deed = stable_id(system.household.id, member.id, key, sorted(params.items()), now)
    asked = Asked(
        household=system.household,
        member=member,
        now=now.astimezone(system.household.zone),
        channel=_CHANNEL,
        thread_id="",
        turn_id=f"{_CHANNEL}:{deed}",
        is_shared=is_shared,
    )
    work = perform_by_hand(
        Catalogue((*task_requests(system.store), *goal_requests(system.store))),
        system.store,
        asked,
        domain=domain,
        action=action,
        params=params,
    )
    return asyncio.run(work)


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def when_told(text: str, household: Household, now: datetime) -> str:
    """Return the time that words mean, in ISO 8601: a day where they name no time of day."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        spans = read(text, now.astimezone(household.zone), locale=household.locale)
        if not spans:
            raise InputError(f"I couldn't read {text!r} as a time; try 'tomorrow 5pm'") from None
        begin = spans[0].begin
        return begin.isoformat() if spans[0].has_time else begin.date().isoformat()
    return text


def _table(
    tasks: Sequence[Mapping[str, Any]], whens: Sequence[str], names: Mapping[str, str]
) -> Table:
    table = Table()
    for heading in ("id", "task", "when", "who"):
        table.add_column(heading, no_wrap=heading == "id", overflow="fold")
    for task, when in zip(tasks, whens, strict=True):
        who = ", ".join(names.get(each, each) for each in task["who"])
        repeats = " ↻" if task["rrule"] else ""
        table.add_row(task["id"][:_ID_LETTERS], task["title"], f"{when}{repeats}", who)
    return table
