"""Shows the ladder of one message."""

from rich.text import Text

from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.observer.accounts.trace import Mark, load_trace
from kinkeeper.observer.accounts.trace_json import trace_record

_SIGNS = {Mark.PASSED: ("✓", "green"), Mark.STOPPED: ("✗", "yellow"), Mark.NOTED: ("·", "dim")}


def explain(where: Where, message_id: str, *, chat_id: str | None, as_json: bool) -> None:
    """Show how a message was decided.

    Args:
        where: Household and database.
        message_id: Its id, or a beginning of it.
        chat_id: Its chat, where several have that id.
        as_json: Answer with one JSON object.

    Raises:
        NotFoundError: There is no such message.
        InputError: Several messages fit.
    """
    with opened(where) as system:
        trace = system.store.read_now(
            lambda conn: load_trace(conn, system.household, message_id, chat_id=chat_id)
        )
    if as_json:
        answer_json(trace_record(trace))
        return
    screen = console()
    screen.print(f"Message {trace.message_id} of chat {trace.chat_id}")
    for step in trace.steps:
        sign, style = _SIGNS[step.mark]
        screen.print(Text.assemble((f"  {sign} ", style), step.text), soft_wrap=True)
