"""`kinkeeper why`: the trace of one decision."""

from typing import Annotated

import typer
from rich.text import Text

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.options import JsonOption
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.observer.accounts.trace import Mark, load_trace
from kinkeeper.observer.accounts.trace_json import trace_record

_SIGNS = {Mark.PASSED: ("✓", "green"), Mark.STOPPED: ("✗", "yellow"), Mark.NOTED: ("·", "dim")}

app = typer.Typer()


@app.command()
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
    json_: JsonOption = False,
) -> None:
    """Explain why a message was answered, saved or ignored."""
    with opened(where) as system:
        trace = system.store.read_now(
            lambda conn: load_trace(conn, system.household, message_id, chat_id=chat)
        )
    if json_:
        answer_json(trace_record(trace))
        return
    screen = console()
    screen.print(f"Message {trace.message_id} of chat {trace.chat_id}")
    for step in trace.steps:
        sign, style = _SIGNS[step.mark]
        screen.print(Text.assemble((f"  {sign} ", style), step.text), soft_wrap=True)
