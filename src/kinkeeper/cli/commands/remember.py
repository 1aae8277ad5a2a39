"""`kinkeeper remember` and `kinkeeper forget`: memory by hand."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption, JsonOption
from kinkeeper.cli.located import Where, located


@located
def remember(
    where: Where,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What to remember.")],
    as_: AsOption = None,
    private: Annotated[
        bool, typer.Option("--private", help="Keep it private to the speaker.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Save something to memory."""
    from kinkeeper.cli.remember_forget import remember_text

    if not remember_text(where, " ".join(text), named=as_, is_private=private, as_json=json_):
        raise typer.Exit(1)


@located
def forget(
    where: Where,
    id_: Annotated[str, typer.Argument(metavar="ID", help="Fact id, or its first characters.")],
    as_: AsOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation prompt.")] = False,
    json_: JsonOption = False,
) -> None:
    """Permanently erase a memory."""
    from kinkeeper.cli.remember_forget import forget_fact

    if not forget_fact(where, id_, named=as_, is_sure=yes, as_json=json_):
        raise typer.Exit(1)
