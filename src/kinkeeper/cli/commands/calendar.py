"""`kinkeeper calendar`: the calendar server that the household's calendar is kept in step with."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import JsonOption
from kinkeeper.cli.located import Where, located

app = typer.Typer(
    name="calendar",
    no_args_is_help=True,
    help="The calendar server: keep in step, and how it stands.",
)


@app.command()
@located
def sync(
    where: Where,
    again: Annotated[
        bool,
        typer.Option("--ask-again", help="Ask once more about what nobody decided on in time."),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Go through both sides now: what is ours is written there, what is new there is asked about."""
    from kinkeeper.cli.calendar_server import sync_now

    sync_now(where, asks_again=again, as_json=json_)


@app.command()
@located
def status(where: Where, json_: JsonOption = False) -> None:
    """Tell how the calendar server stands: what waits, what differs, what it does not take."""
    from kinkeeper.cli.calendar_server import show_status

    show_status(where, as_json=json_)
