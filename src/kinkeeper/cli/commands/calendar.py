"""`kinkeeper calendar`: the calendar server that the household's calendar is kept in step with."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import JsonOption
from kinkeeper.cli.located import Where, located

app = typer.Typer(
    name="calendar",
    no_args_is_help=True,
    help="Sync with a calendar server (CalDAV) and show its status.",
)


@app.command()
@located
def sync(
    where: Where,
    again: Annotated[
        bool,
        typer.Option("--ask-again", help="Ask again about changes that expired undecided."),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Sync now: upload our changes, and ask before taking over new ones."""
    from kinkeeper.cli.calendar_server import sync_now

    sync_now(where, asks_again=again, as_json=json_)


@app.command()
@located
def status(where: Where, json_: JsonOption = False) -> None:
    """Show the sync status: pending, conflicting and rejected events."""
    from kinkeeper.cli.calendar_server import show_status

    show_status(where, as_json=json_)
