"""Looks at the tool servers by hand, and accepts what changed."""

import asyncio
from typing import Any

from rich.table import Table
from rich.text import Text

from kinkeeper.bootstrap import System
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.connectors.tools.records import KnownTool, accept, list_servers, list_tools
from kinkeeper.connectors.tools.servers import ToolServers
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock


def show_tools(where: Where, *, as_json: bool) -> None:
    """Ask all servers what they offer, and show it with how they answered.

    Args:
        where: Household and database.
        as_json: Answer with one JSON object.

    Raises:
        InputError: No tool servers are set up.
    """
    with opened(where) as system:
        if not system.settings.tool_servers:
            raise InputError("no tool servers are set up; MCP_SERVERS names some")
        asyncio.run(_look(system))
        record = _record(system)
    if as_json:
        answer_json(record)
        return
    table = Table("server", "tool", "called", "says of itself", title_justify="left")
    for each in record["tools"]:
        called = "unasked" if each["is_safe"] else "after a yes"
        changed = " (changed)" if each["changed_at"] else ""
        table.add_row(each["server"], each["name"], called + changed, Text(each["description"]))
    console().print(table)
    for row in record["servers"]:
        if row["failure"]:
            notice(row["failure"])


def accept_tools(where: Where, server: str, tool: str | None) -> None:
    """Accept tools as they describe themselves now.

    Args:
        where: Household and database.
        server: As the settings name it.
        tool: One of its tools; all where None.

    Raises:
        NotFoundError: No such tool is known.
    """
    with opened(where) as system:
        household = system.household.id
        changed = system.store.write_now(lambda conn: accept(conn, household, server, tool))
    notice(f"accepted; {changed} had changed")


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
