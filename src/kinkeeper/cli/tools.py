"""`kinkeeper tools`: foreign tools, what they say of themselves, and which may be called unasked."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from kinkeeper.actions.requests.model import ActionResult, Asked, Catalogue, ResultStatus
from kinkeeper.actions.requests.request_runner import perform
from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.outside import tools_opened
from kinkeeper.cli.located import AsOption, JsonOption, Where, located
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.connectors.tools import tool_records
from kinkeeper.connectors.tools.servers import ToolServers
from kinkeeper.connectors.tools.tool_records import KnownTool, list_servers, list_tools
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import SystemClock
from kinkeeper.messaging.message_json import parse_record

app = typer.Typer(
    name="tools", no_args_is_help=True, help="External tools (MCP): list, call, and accept changes."
)


@app.command("list")
@located
def list_(where: Where, json_: JsonOption = False) -> None:
    """List the tools that the configured servers offer."""
    with opened(where) as system:
        if not system.settings.tool_servers:
            raise InputError("no tool servers are set up; set MCP_SERVERS to use some")
        asyncio.run(_look(system))
        record = _record(system)
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


@app.command()
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
            household=system.household, member=member, now=now.astimezone(system.household.zone),
            channel="cli", thread_id="cli", turn_id=deed,
        )  # fmt: skip
        planned = {"domain": server, "action": tool, "params": params}
        result = asyncio.run(_called(system, asked, planned))
    if json_:
        answer_json(
            {
                "status": result.status, "result": dict(result.result), "error": result.error,
                "action_id": result.action_id,
            }
        )  # fmt: skip
    elif result.status is ResultStatus.DONE:
        console().print(Text(str(result.result.get("text", ""))))
    elif result.action_id is not None:
        notice(f"{result.summary} needs approval: kinkeeper pending confirm {result.action_id[:8]}")
    else:
        raise ConflictError(result.error or "it could not be done")


@app.command()
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
    servers = ToolServers(
        system.store, system.household.id, system.settings.tool_servers, SystemClock()
    )
    async with servers.running():
        await servers.look()


def _record(system: System) -> dict[str, Any]:
    household, servers = system.household.id, system.settings.tool_servers
    tools = system.store.read_now(lambda conn: list_tools(conn, household, servers))
    rows = system.store.read_now(lambda conn: list_servers(conn, household))
    names = {server.name for server in servers}
    return {
        "servers": [
            {
                "name": row.server, "looked_at": row.looked_at.isoformat(), "failure": row.failure,
                "failing_since": row.failing_since.isoformat() if row.failing_since else None,
            }
            for row in rows
            if row.server in names
        ],
        "tools": [_tool_record(each) for each in tools],
    }  # fmt: skip


def _tool_record(known: KnownTool) -> dict[str, Any]:
    tool = known.tool
    return {
        "server": tool.server, "name": tool.name, "description": tool.description,
        "parameters": dict(tool.schema), "is_safe": tool.is_safe,
        "changed_at": known.changed_at.isoformat() if known.changed_at else None,
    }  # fmt: skip
