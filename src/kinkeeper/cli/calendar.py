"""`kinkeeper calendar`: the calendar server that the household's calendar is kept in step with."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.calendar_sync import calendar_sync
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.connectors.caldav.sync_records import ObjectState, Standing, ask_again, load_standing
from kinkeeper.core.time import SystemClock

_TOLD = (ObjectState.ASKED, ObjectState.UNDECIDED, ObjectState.REFUSED, ObjectState.APART)
_WORDS = {
    ObjectState.ASKED: "waiting for approval",
    ObjectState.UNDECIDED: "nobody decided",
    ObjectState.REFUSED: "refused by the server",
    ObjectState.APART: "left out",
}

app = typer.Typer(
    name="calendar",
    no_args_is_help=True,
    help="Sync with a calendar server (CalDAV) and show its status.",
)


@app.command()
@located
def sync(
    where: Where,
    again: Annotated[
        bool,
        typer.Option("--ask-again", help="Ask again about changes that expired undecided."),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Sync now: upload our changes, and ask before taking over new ones."""
    with opened(where) as system:
        syncing = calendar_sync(system.settings, system.household, system.store, SystemClock())
        if again:
            household = system.household.id
            system.store.write_now(lambda conn: ask_again(conn, household))
        tally = asyncio.run(syncing.run_once())
    if json_:
        answer_json(asdict(tally))
        return
    notice(
        f"{tally.written} written to the server, {tally.asked} new questions (kinkeeper pending)"
    )
    if tally.waiting:
        notice(f"{tally.waiting} waiting: see `kinkeeper calendar status` for the reason")


@app.command()
@located
def status(where: Where, json_: JsonOption = False) -> None:
    """Show the sync status: pending, conflicting and rejected events."""
    with opened(where) as system:
        record = _record(system)
    if json_:
        answer_json(record)
        return
    for name in ("name", "url", "synced_at", "failing_since", "failure", "waiting", "in_step"):
        console().print(f"{name.replace('_', ' ')}: {record[name]}")
    table = Table("object", "state", "why", title="Not in sync", title_justify="left")
    for each in record["objects"]:
        table.add_row(each["path"], _WORDS[each["state"]], each["note"] or "")
    if record["objects"]:
        console().print(table)


def _record(system: System) -> dict[str, Any]:
    household = system.household.id
    standing: Standing = system.store.read_now(lambda conn: load_standing(conn, household))
    row = standing.calendar
    return {
        "url": row.url if row else None,
        "name": row.name if row else None,
        "synced_at": row.synced_at.isoformat() if row and row.synced_at else None,
        "failing_since": row.failing_since.isoformat() if row and row.failing_since else None,
        "failure": row.failure if row else None,
        "waiting": row.waiting if row else 0,
        "in_step": standing.count(ObjectState.SYNCED),
        "objects": [
            {
                "path": each.path, "state": each.state, "note": each.note,
                "local_id": each.local_id, "action_id": each.action_id,
            }
            for each in standing.noted(*_TOLD)
        ],
    }  # fmt: skip
