"""`kinkeeper jobs`: how much work waits, is under way, is done or has failed."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.options import JsonOption
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.time import SystemClock
from kinkeeper.web.workload import workload_record

_KINDS = {
    "reading": "messages to read", "sending": "messages to send",
    "answering": "messages to the assistant", "outside": "emails and calls to external tools",
}  # fmt: skip

app = typer.Typer()


@app.command()
@located
def jobs(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days to include.")] = 7,
    json_: JsonOption = False,
) -> None:
    """Show queued, running, finished and failed background work."""
    with opened(where) as system:
        now = SystemClock().now()
        work = system.store.read_now(
            lambda conn: workload_record(conn, system.household, days, now=now)
        )
    if json_:
        span = {name: work[name].isoformat() for name in ("first", "last")}
        answer_json(work | span)
    else:
        _show(console(), work)


def _show(screen: Console, work: Mapping[str, Any]) -> None:
    screen.print(f"Work from {work['first']} to {work['last']}")
    table = Table("kind", "status")
    for name, kind in _KINDS.items():
        table.add_row(kind, _counted(work[name]))
    table.add_row("failed answer stages", _counted(work["stage_failures"]))
    table.add_row("incoming updates that could not be processed", str(work["failed_updates"]))
    screen.print(table)
    for each in work["manual_review"]:
        screen.print(f"needs attention: message {each['message_id']}: {each['error']}")


def _counted(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in sorted(numbers.items())) or "nothing"
