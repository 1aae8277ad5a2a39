"""Shows what the workers have to do and did."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.time import SystemClock
from kinkeeper.web.workload import workload_record

_KINDS = {
    "reading": "messages to read", "sending": "messages to send",
    "answering": "messages to the assistant", "outside": "emails and calls to external tools",
}  # fmt: skip


def show_jobs(where: Where, *, days: int, as_json: bool) -> None:
    """Show how much work stands where, by kind of work.

    Args:
        where: Household and database.
        days: How many, > 0.
        as_json: Answer with one JSON object, as the API does.

    Raises:
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        now = SystemClock().now()
        work = system.store.read_now(
            lambda conn: workload_record(conn, system.household, days, now=now)
        )
    if as_json:
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
