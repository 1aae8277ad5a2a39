"""`kinkeeper goals`: what is looked for, watched or asked again later."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.tasks import carried_out, when_told
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock

_ID_LETTERS = 8

app = typer.Typer(name="goals", help="List, add, pause, resume or cancel goals it works on.")
GoalArgument = Annotated[
    str, typer.Argument(metavar="GOAL", help="Goal id, or words from the goal.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Include goals that are over.")]


@app.callback(invoke_without_command=True)
@located
def goals(
    where: Where, all_: AllOption = False, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """List, add, pause, resume or cancel goals it works on."""
    _list(where, is_over_too=all_, named=as_, json_=json_)


@app.command("list")
@located
def list_(
    where: Where, all_: AllOption = False, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """List your goals and how far each has come."""
    _list(where, is_over_too=all_, named=as_, json_=json_)


@app.command()
@located
def show(where: Where, goal: GoalArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Show the steps of a goal."""
    (found,) = _asked(where, "show", {"find_by": goal}, as_).result["goals"]
    if json_:
        answer_json(found)
        return
    answer(
        f"{found['title']}: {found['status']}, {found['coverage']}% done, {found['cycles']} rounds"
    )
    table = _table("step", "state", "sources")
    for step in found["steps"]:
        table.add_row(step["description"], step["state"], ", ".join(step["sources"]))
    console().print(table)


@app.command()
@located
def add(
    where: Where,
    text: Annotated[str, typer.Argument(metavar="GOAL", help="What you want, in one line.")],
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep looking and report changes.")
    ] = False,
    ask_at: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help='Ask you this then: "friday 5pm" or ISO 8601.'),
    ] = None,
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Add a goal; it is worked on while `serve` or `worker` runs."""
    if watch and ask_at is not None:
        raise InputError("use either --watch or --ask-at")
    kind = "watch" if watch else "find" if ask_at is None else "ask"
    _tell(_asked(where, "create", {"text": text, "kind": kind}, as_, at=ask_at), as_json=json_)


@app.command()
@located
def pause(
    where: Where, goal: GoalArgument, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """Pause a goal."""
    _tell(_asked(where, "pause", {"find_by": goal}, as_), as_json=json_)


@app.command()
@located
def resume(
    where: Where, goal: GoalArgument, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """Resume a paused goal."""
    _tell(_asked(where, "resume", {"find_by": goal}, as_), as_json=json_)


@app.command()
@located
def cancel(
    where: Where, goal: GoalArgument, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """Cancel a goal for good."""
    _tell(_asked(where, "cancel", {"find_by": goal}, as_), as_json=json_)


def _list(where: Where, *, is_over_too: bool, named: str | None, json_: bool) -> None:
    found = _asked(where, "list", {"is_over_too": is_over_too}, named).result["goals"]
    if json_:
        answer_json(found)
    elif found:
        console().print(_listed(found))
    else:
        notice("It isn't working on anything for you.")


def _asked(
    where: Where,
    action: str,
    params: Mapping[str, Any],
    named: str | None,
    *,
    at: str | None = None,
) -> ActionResult:
    """Carry out a request about goals.

    Args:
        action: Name of the request.
        named: Whose goals; the owner's where None.
        at: A time among the parameters, as it was given.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        times = {} if at is None else {"at": when_told(at, household, now)}
        member = acting(household, named)
        return carried_out(system, member, f"goal.{action}", {**params, **times})


def _tell(done: ActionResult, *, as_json: bool) -> None:
    if as_json:
        told = {"status": done.status.value, "summary": done.summary, "action_id": done.action_id}
        answer_json({**told, "goal": dict(done.result)})
    else:
        waits = done.status is ResultStatus.AWAITING
        answer(f"Waiting for an adult's approval: {done.summary}" if waits else done.summary)
    if done.status is not ResultStatus.DONE:
        raise typer.Exit(1)


def _listed(goals: Sequence[Mapping[str, Any]]) -> Table:
    table = _table("id", "goal", "kind", "status", "done", "next")
    for goal in goals:
        next_at = (goal["next_at"] or "")[:16].replace("T", " ")
        table.add_row(
            goal["id"][:_ID_LETTERS],
            goal["title"],
            goal["kind"],
            goal["status"],
            f"{goal['coverage']}%",
            next_at,
        )
    return table


def _table(*headings: str) -> Table:
    table = Table()
    for heading in headings:
        table.add_column(heading, no_wrap=heading == "id", overflow="fold")
    return table
