"""`kinkeeper demo`: three days of a sample family through the real pipeline."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from datetime import date
from importlib.resources import as_file
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.bootstrap import System, open_system
from kinkeeper.cli.chat_files import SAMPLE, Shown, read_any_chat, replayed, start_of
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import log_to_stderr
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.messages import MessageKind
from kinkeeper.observer.accounts.metrics import Metrics, load_metrics
from kinkeeper.observer.accounts.traces import person_name
from kinkeeper.settings.model import Settings

_STYLES = {"SPEAK": "bold magenta", "SILENT": "green", "DROP": "dim"}
_MEANINGS = {
    "DROP": "not about plans; ignored",
    "SILENT": "a plan; saved for approval, nothing said",
    "SPEAK": "said in the group, because plans clash or nobody has taken the job",
}
_BUTTON = "bold cyan"

app = typer.Typer()


@app.command()
@located
def demo(
    where: Where,
    json_: Annotated[
        bool, typer.Option("--json", help="Print JSON lines, like `observe`.")
    ] = False,
) -> None:
    """Replay three days of a sample family. Uses a temporary database."""
    demonstrate(where, as_json=json_)


def demonstrate(where: Where, *, as_json: bool, screen: Console | None = None) -> None:
    """Run the sample family's days and show them.

    Args:
        where: Another household file may be given; its chat is the sample's all the same.
        screen: Where a table is drawn; stdout where None.
    """
    log_to_stderr()
    with (
        tempfile.TemporaryDirectory(prefix="kinkeeper-demo-") as folder,
        as_file(SAMPLE) as sample,
        (sample / "chat.jsonl").open("rb") as chat,
    ):
        inputs = list(read_any_chat(chat))
        with open_system(
            Settings(),
            household_file=where.household or sample / "household.toml",
            database=str(Path(folder) / "demo.sqlite"),
            now=start_of(inputs),
        ) as system:
            rows = asyncio.run(_collected(replayed(system, inputs)))
            metrics = system.store.read_now(lambda conn: _metrics(conn, system, rows))
            if as_json:
                for row in rows:
                    answer_json(_record(row))
            else:
                _show(screen or console(), system, rows, metrics)


def _show(screen: Console, system: System, rows: Sequence[Shown], metrics: Metrics) -> None:
    """Draw the days as a table, the silence ledger, and what to do next.

    Args:
        rows: In order of time.
        metrics: Of the same days.
    """
    screen.print()
    screen.print(Text("Three days in the Millers' group chat, and what Kinkeeper did", "bold"))
    screen.print(_table(system, rows))
    for word, meaning in _MEANINGS.items():
        screen.print(Text.assemble((f"  {word:<7}", _STYLES[word]), meaning))
    screen.print(Text("\nEach day in brief", "bold"))
    for day in metrics.days:
        screen.print(f"  {day.day:%A}: {day.sentence}")
    waiting = metrics.actions.get(ActionStatus.PENDING, 0)
    screen.print(
        f"\n{waiting} plans are waiting for approval. Nothing reaches the calendar "
        "until someone approves it."
    )
    screen.print("Set it up for your family: kinkeeper init ~/family")


def _table(system: System, rows: Sequence[Shown]) -> Table:
    table = Table(box=box.HORIZONTALS, expand=True, border_style="dim", header_style="bold")
    table.add_column("time", no_wrap=True)
    table.add_column("who", no_wrap=True)
    table.add_column("heard", ratio=4)
    table.add_column("decision", no_wrap=True)
    table.add_column("said and saved", ratio=5)
    today: date | None = None
    for row in rows:
        if row.at.date() != today:
            if today is not None:
                table.add_section()
            today = row.at.date()
            table.add_row("", "", Text(f"{today:%A %-d %B}", "bold"), "", "")
        table.add_row(
            f"{row.at:%H:%M}",
            "" if row.is_deferred else person_name(row.message.sender, system.household),
            _heard(row),
            Text(row.decision, _STYLES[row.decision]),
            _outcome(row),
        )
    return table


def _heard(row: Shown) -> Text:
    if row.is_deferred:
        return Text("(nobody answered)", "dim italic")
    prefix = {MessageKind.EDIT: "edited: ", MessageKind.REACTION: "reacts: "}
    quiet = "dim" if row.decision == "DROP" else ""
    return Text(prefix.get(row.message.kind, "") + row.message.text, quiet)


def _outcome(row: Shown) -> Text:
    parts: list[Text] = []
    if row.line.get("reply"):
        parts.append(Text(row.line["reply"], "bold"))
        if row.line["buttons"]:
            buttons = Text(" ").join(Text(f"[{label}]", _BUTTON) for label in row.line["buttons"])
            parts.append(buttons)
    action = row.line.get("action")
    if action and not row.is_deferred:
        parts.append(Text(f"saved: {action['summary']}"))
    if row.line.get("withdrawn_action"):
        parts.append(Text("withdrew an earlier card", "italic"))
    if row.line.get("reason") == "grace":
        parts.append(Text("waits 15 minutes for the family to answer", "dim italic"))
    return Text("\n").join(parts)


async def _collected(rows: AsyncIterator[Shown]) -> list[Shown]:
    return [row async for row in rows]


def _metrics(conn: Connection, system: System, rows: Sequence[Shown]) -> Metrics:
    return load_metrics(
        conn,
        system.household.id,
        system.household.zone,
        first=rows[0].at.date(),
        last=rows[-1].at.date(),
        now=rows[-1].at,
    )


def _record(row: Shown) -> dict[str, Any]:
    message = row.message
    heard = {"sender": message.sender, "text": message.text, "sent_at": message.sent_at.isoformat()}
    return {"at": row.at.isoformat(), **row.line, **({} if row.is_deferred else heard)}
