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
        bool, typer.Option("--private", help="Only for whoever says it; else for the household.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Remember what somebody says."""
    from kinkeeper.cli.remembering import remember_text

    if not remember_text(where, " ".join(text), named=as_, is_private=private, as_json=json_):
        raise typer.Exit(1)


@located
def forget(
    where: Where,
    id_: Annotated[str, typer.Argument(metavar="ID", help="Id of the fact, or its beginning.")],
    as_: AsOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_: JsonOption = False,
) -> None:
    """Erase something that is remembered, for good."""
    from kinkeeper.cli.remembering import forget_fact

    if not forget_fact(where, id_, named=as_, is_sure=yes, as_json=json_):
        raise typer.Exit(1)
