"""`kinkeeper chat`: a conversation with the assistant in the terminal."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption, JsonOption
from kinkeeper.cli.located import Where, located


@located
def chat(
    where: Where,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]", help="A single message; starts a conversation if omitted."
        ),
    ] = None,
    as_: AsOption = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="Continue this conversation.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Start a new conversation.")] = False,
    json_: JsonOption = False,
) -> None:
    """Talk to the assistant. Ctrl-C stops an answer, Ctrl-D quits."""
    from kinkeeper.cli.terminal_chat import hold_conversation

    is_well = hold_conversation(
        where, " ".join(text or ()), named=as_, thread=thread, is_new=new, as_json=json_
    )
    if not is_well:
        raise typer.Exit(1)
