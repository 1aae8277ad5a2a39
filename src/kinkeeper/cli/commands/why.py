"""`kinkeeper why`: the trace of one decision."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def why(
    where: Where,
    message_id: Annotated[
        str, typer.Argument(metavar="MESSAGE_ID", help="Id of a message, or its beginning.")
    ],
    chat: Annotated[
        str | None, typer.Option(metavar="ID", help="Its chat, where several have that id.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Tell in plain words why a message was answered, kept or ignored."""
    from kinkeeper.cli.explaining import explain

    explain(where, message_id, chat_id=chat, as_json=json_)
