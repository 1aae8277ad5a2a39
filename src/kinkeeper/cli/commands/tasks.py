"""`kinkeeper tasks`: what is to be done, by whom and when."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption, JsonOption, LookOption
from kinkeeper.cli.located import Where, located

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
    list[str] | None,
    typer.Option("--for", metavar="MEMBER", help="Assignee; repeatable."),
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
    from kinkeeper.cli.task_commands import Times, change_task

    wanted = {"title": title, "rrule": repeat, "who": for_}
    times = Times(by=by, remind=remind)
    change_task(where, "create", wanted, times, named=as_, as_json=json_)


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
    from kinkeeper.cli.task_commands import Times, change_task

    wanted = {"find_by": task, "changes": {"title": title, "rrule": repeat, "who": for_}}
    times = Times(by=by, remind=remind)
    change_task(where, "update", wanted, times, named=as_, as_json=json_)


@app.command()
@located
def done(where: Where, task: TaskArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Complete a task; a recurring one moves to its next date."""
    from kinkeeper.cli.task_commands import Times, change_task

    change_task(where, "complete", {"find_by": task}, Times(), named=as_, as_json=json_)


@app.command()
@located
def delete(
    where: Where, task: TaskArgument, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """Delete a task."""
    from kinkeeper.cli.task_commands import Times, change_task

    change_task(where, "delete", {"find_by": task}, Times(), named=as_, as_json=json_)


def _list(
    where: Where, *, done: bool, who: list[str] | None, named: str | None, json_: bool
) -> None:
    from kinkeeper.cli.task_commands import show_tasks

    show_tasks(where, is_done=done, who=who, named=named, as_json=json_)
