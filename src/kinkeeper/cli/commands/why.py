"""`kinkeeper why`: the trace of one decision."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def why(
    where: Where,
    message_id: Annotated[
        str, typer.Argument(metavar="MESSAGE_ID", help="Message id, or its first characters.")
    ],
    chat: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Chat id, if several chats have that message id."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain why a message was answered, saved or ignored."""
    from kinkeeper.cli.why_report import explain

    explain(where, message_id, chat_id=chat, as_json=json_)
