"""`kinkeeper tasks`: what is to be done, by whom and when."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption, JsonOption, LookOption
from kinkeeper.cli.located import Where, located

app = typer.Typer(name="tasks", help="What is to be done: list it, add, change, tick off, delete.")

TaskArgument = Annotated[
    str, typer.Argument(metavar="TASK", help="Id of the task, its title, or words of it.")
]
ByOption = Annotated[
    str | None,
    typer.Option("--by", metavar="WHEN", help='When it is due: "friday", "tomorrow 5pm", ISO.'),
]
RemindOption = Annotated[
    str | None,
    typer.Option(
        "--remind", metavar="WHEN", help="When to be reminded; when it is due if not given."
    ),
]
RepeatOption = Annotated[
    str | None,
    typer.Option("--repeat", metavar="RULE", help="RFC 5545 rule: FREQ=WEEKLY;BYDAY=SU."),
]
ForOption = Annotated[
    list[str] | None,
    typer.Option("--for", metavar="MEMBER", help="Whose it is; may be given several times."),
]
DoneOption = Annotated[bool, typer.Option("--done", help="Those that are done.")]


@app.callback(invoke_without_command=True)
@located
def tasks(
    where: Where, done: DoneOption = False, as_: LookOption = None, json_: JsonOption = False
) -> None:
    """What is to be done: list it, add, change, tick off, delete."""
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
    """List tasks, those with a time first."""
    _list(where, done=done, who=for_, named=as_, json_=json_)


@app.command()
@located
def add(
    where: Where,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What is to be done.")],
    by: ByOption = None,
    remind: RemindOption = None,
    repeat: RepeatOption = None,
    for_: ForOption = None,
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Add a task; it is reminded of while `kinkeeper serve` or `worker` runs."""
    from kinkeeper.cli.tasking import Times, change_task

    wanted = {"title": title, "rrule": repeat, "who": for_}
    times = Times(by=by, remind=remind)
    change_task(where, "create", wanted, times, named=as_, as_json=json_)


@app.command()
@located
def change(
    where: Where,
    task: TaskArgument,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Another title.")] = None,
    by: ByOption = None,
    remind: RemindOption = None,
    repeat: RepeatOption = None,
    for_: ForOption = None,
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Change a task."""
    from kinkeeper.cli.tasking import Times, change_task

    wanted = {"find_by": task, "changes": {"title": title, "rrule": repeat, "who": for_}}
    times = Times(by=by, remind=remind)
    change_task(where, "update", wanted, times, named=as_, as_json=json_)


@app.command()
@located
def done(where: Where, task: TaskArgument, as_: AsOption = None, json_: JsonOption = False) -> None:
    """Tick a task off; one that repeats goes on to its next turn."""
    from kinkeeper.cli.tasking import Times, change_task

    change_task(where, "complete", {"find_by": task}, Times(), named=as_, as_json=json_)


@app.command()
@located
def delete(
    where: Where, task: TaskArgument, as_: AsOption = None, json_: JsonOption = False
) -> None:
    """Remove a task without doing it."""
    from kinkeeper.cli.tasking import Times, change_task

    change_task(where, "delete", {"find_by": task}, Times(), named=as_, as_json=json_)


def _list(
    where: Where, *, done: bool, who: list[str] | None, named: str | None, json_: bool
) -> None:
    from kinkeeper.cli.tasking import show_tasks

    show_tasks(where, is_done=done, who=who, named=named, as_json=json_)
