"""`kinkeeper mail`: drafts that are kept here, and mails that did not go out."""

from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import AsOption, JsonOption
from kinkeeper.cli.located import Where, located

app = typer.Typer(name="mail", help="List drafts and unsent mail.")


@app.callback(invoke_without_command=True)
@located
def mail(where: Where, json_: JsonOption = False) -> None:
    """List drafts and unsent mail."""
    from kinkeeper.cli.mail_list import show_mail

    show_mail(where, as_json=json_)


@app.command()
@located
def again(
    where: Where,
    id_: Annotated[str, typer.Argument(metavar="ID", help="Mail id, or its first characters.")],
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Retry an unsent mail; it needs a new confirmation."""
    from kinkeeper.cli.card_decision import Again, decide

    if not decide(where, id_, Again(), named=as_, json_=json_):
        raise typer.Exit(1)
