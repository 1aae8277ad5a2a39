"""`kinkeeper calendar`, `mail` and `tools`: the servers that a household is connected with."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction
from kinkeeper.actions.receipts import failure
from kinkeeper.actions.repository import actions_of_type
from kinkeeper.actions.requests.model import ActionResult, Asked, Catalogue, ResultStatus
from kinkeeper.actions.requests.request_runner import perform
from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.calendar_sync import calendar_sync
from kinkeeper.bootstrap.outside import tools_opened
from kinkeeper.cli.card_decision import AGAIN, decide
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.connectors.caldav.sync_records import ObjectState, Standing, ask_again, load_standing
from kinkeeper.connectors.tools import tool_records
from kinkeeper.connectors.tools.tool_records import KnownTool, list_servers, list_tools
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import SystemClock
from kinkeeper.mail.model import Draft, Mail, list_drafts
from kinkeeper.messaging.message_json import parse_record

_TOLD = (ObjectState.ASKED, ObjectState.UNDECIDED, ObjectState.REFUSED, ObjectState.APART)
_WORDS = {
    ObjectState.ASKED: "waiting for approval",
    ObjectState.UNDECIDED: "nobody decided",
    ObjectState.REFUSED: "refused by the server",
    ObjectState.APART: "left out",
}

app = typer.Typer()
calendars = typer.Typer(
    name="calendar",
    no_args_is_help=True,
    help="Sync with a calendar server (CalDAV) and show its status.",
)
app.add_typer(calendars)


@calendars.command()
@located
def sync(
    where: Where,
    again: Annotated[
        bool, typer.Option("--ask-again", help="Ask again about changes that expired undecided.")
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


@calendars.command()
@located
def status(where: Where, json_: JsonOption = False) -> None:
    """Show the sync status: pending, conflicting and rejected events."""
    with opened(where) as system:
        record = _calendar_record(system)
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


def _calendar_record(system: System) -> dict[str, Any]:
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
                "path": each.path,
                "state": each.state,
                "note": each.note,
                "local_id": each.local_id,
                "action_id": each.action_id,
            }
            for each in standing.noted(*_TOLD)
        ],
    }


_OPEN = frozenset({ActionStatus.EXECUTING, ActionStatus.FAILED})
_ID_LETTERS = 8

mails = typer.Typer(name="mail", help="List drafts and unsent mail.")
app.add_typer(mails)


@mails.callback(invoke_without_command=True)
@located
def mail(where: Where, json_: JsonOption = False) -> None:
    """List drafts and unsent mail."""
    with opened(where) as system:
        household, zone = system.household.id, system.household.zone

        def load(conn: Connection) -> tuple[Sequence[Draft], Sequence[PendingAction]]:
            return list_drafts(conn, household), actions_of_type(conn, household, ActionType.EMAIL)

        drafts, actions = system.store.read_now(load)
    records = [*map(_draft_record, drafts), *_unsent_records(actions)]
    records.sort(key=lambda record: record["at"])
    if json_:
        answer_json(
            [record | {"at": record["at"].astimezone(zone).isoformat()} for record in records]
        )
    elif records:
        console().print(_mail_table(records))
    else:
        notice("There are no drafts here, and no emails are being sent or have failed.")


@mails.command()
@located
def again(
    where: Where,
    id_: Annotated[str, typer.Argument(metavar="ID", help="Mail id, or its first characters.")],
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Retry an unsent mail; it needs a new confirmation."""
    decide(where, id_, AGAIN, named=as_, json_=json_)


def _draft_record(draft: Draft) -> dict[str, Any]:
    return {
        "id": draft.id,
        "state": "draft",
        "at": draft.written_at,
        "by": draft.written_by,
        **draft.mail.shown,
        "reason": None,
    }


def _unsent_records(actions: Sequence[PendingAction]) -> Iterator[dict[str, Any]]:
    for action in actions:
        if action.status not in _OPEN or not action.proposal.effects:
            continue
        is_failed = action.status is ActionStatus.FAILED
        yield {
            "id": action.id,
            "state": "not sent" if is_failed else "under way",
            "at": action.decided_at or action.created_at,
            "by": action.decided_by,
            **Mail.model_validate(action.proposal.effects[0]["mail"]).shown,
            "reason": failure(action) if is_failed else None,
        }


def _mail_table(records: Sequence[dict[str, Any]]) -> Table:
    table = Table()
    for heading in ("id", "state", "to", "subject", "why"):
        table.add_column(heading, overflow="fold")
    for record in records:
        table.add_row(
            record["id"][:_ID_LETTERS],
            record["state"],
            ", ".join(record["to"]),
            record["subject"],
            record["reason"] or "",
        )
    return table


tool_servers = typer.Typer(
    name="tools", no_args_is_help=True, help="External tools (MCP): list, call, and accept changes."
)
app.add_typer(tool_servers)


@tool_servers.command("list")
@located
def list_(where: Where, json_: JsonOption = False) -> None:
    """List the tools that the configured servers offer."""
    with opened(where) as system:
        if not system.settings.tool_servers:
            raise InputError("no tool servers are set up; set MCP_SERVERS to use some")
        asyncio.run(_look(system))
        record = _tools_record(system)
    if json_:
        answer_json(record)
        return
    table = Table("server", "tool", "called", "its own description", title_justify="left")
    for each in record["tools"]:
        called = "unasked" if each["is_safe"] else "after a yes"
        changed = " (changed)" if each["changed_at"] else ""
        table.add_row(each["server"], each["name"], called + changed, Text(each["description"]))
    console().print(table)
    for row in record["servers"]:
        if row["failure"]:
            notice(row["failure"])


@tool_servers.command()
@located
def call(
    where: Where,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="Server name in MCP_SERVERS.")],
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Tool name.")],
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="Arguments as a JSON object.")
    ] = "{}",
    as_: AsOption = None,
    json_: JsonOption = False,
) -> None:
    """Call a tool; unless listed as safe, it waits for confirmation."""
    params = parse_record(arguments.encode())
    with opened(where) as system:
        member, now = acting(system.household, as_), SystemClock().now()
        deed = stable_id("cli", server, tool, arguments, now.isoformat())
        asked = Asked(
            household=system.household,
            member=member,
            now=now.astimezone(system.household.zone),
            channel="cli",
            thread_id="cli",
            turn_id=deed,
        )
        planned = {"domain": server, "action": tool, "params": params}
        result = asyncio.run(_called(system, asked, planned))
    if json_:
        answer_json(
            {
                "status": result.status,
                "result": dict(result.result),
                "error": result.error,
                "action_id": result.action_id,
            }
        )
    elif result.status is ResultStatus.DONE:
        console().print(Text(str(result.result.get("text", ""))))
    elif result.action_id is not None:
        notice(f"{result.summary} needs approval: kinkeeper pending confirm {result.action_id[:8]}")
    else:
        raise ConflictError(result.error or "it could not be done")


@tool_servers.command()
@located
def accept(
    where: Where,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="Server name in MCP_SERVERS.")],
    tool: Annotated[
        str | None, typer.Argument(metavar="[TOOL]", help="Tool name; all tools if omitted.")
    ] = None,
) -> None:
    """Accept the current tool descriptions after reviewing them."""
    with opened(where) as system:
        household = system.household.id
        changed = system.store.write_now(
            lambda conn: tool_records.accept(conn, household, server, tool)
        )
    notice(f"accepted; {changed} had changed")


async def _called(system: System, asked: Asked, planned: Mapping[str, Any]) -> ActionResult:
    houses, store, clock = [system.household], system.store, SystemClock()
    async with tools_opened(system.settings, houses, store, clock, looks=False) as tools:
        mine = tools.get(system.household.id)
        catalogue = Catalogue(() if mine is None else mine.requests())
        return await perform(catalogue, store, asked, **planned)


async def _look(system: System) -> None:
    # Of the extra `mcp`.
    from kinkeeper.connectors.tools.servers import ToolServers  # noqa: PLC0415

    servers = ToolServers(
        system.store, system.household.id, system.settings.tool_servers, SystemClock()
    )
    async with servers.running():
        await servers.look()


def _tools_record(system: System) -> dict[str, Any]:
    household, servers = system.household.id, system.settings.tool_servers
    tools = system.store.read_now(lambda conn: list_tools(conn, household, servers))
    rows = system.store.read_now(lambda conn: list_servers(conn, household))
    names = {server.name for server in servers}
    return {
        "servers": [
            {
                "name": row.server,
                "looked_at": row.looked_at.isoformat(),
                "failure": row.failure,
                "failing_since": row.failing_since.isoformat() if row.failing_since else None,
            }
            for row in rows
            if row.server in names
        ],
        "tools": [_tool_record(each) for each in tools],
    }


def _tool_record(known: KnownTool) -> dict[str, Any]:
    tool = known.tool
    return {
        "server": tool.server,
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
        "is_safe": tool.is_safe,
        "changed_at": known.changed_at.isoformat() if known.changed_at else None,
    }
