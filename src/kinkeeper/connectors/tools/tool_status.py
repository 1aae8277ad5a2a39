"""How the tool servers of a household stand: for checks, and for people who ask."""

from collections.abc import Sequence

from sqlalchemy import Connection

from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.connectors.tools.tool_records import list_servers, list_tools
from kinkeeper.observability.findings import Finding, ok, warning

CHECK = "tool servers"


def findings(conn: Connection, household: str, servers: Sequence[ToolServer]) -> list[Finding]:
    """Return what a check of the tool servers finds, as they answered last.

    Args:
        conn: Open connection.
        household: Tenant key.
        servers: As the settings name them.
    """
    rows = {row.server: row for row in list_servers(conn, household)}
    tools = list_tools(conn, household, servers)
    found = []
    for server in servers:
        row = rows.get(server.name)
        mine = [each for each in tools if each.tool.server == server.name]
        changed = [each.tool.name for each in mine if each.changed_at is not None]
        missing = sorted(server.safe - {each.tool.name for each in mine})
        if row is None:
            found.append(ok(CHECK, f"{server.name} has not been checked yet"))
            continue
        if row.failure is not None:
            since = f" since {row.failing_since:%Y-%m-%d %H:%M} UTC" if row.failing_since else ""
            remedy = f"start it, or correct {server.name} in MCP_SERVERS; it will be retried"
            found.append(warning(CHECK, f"{row.failure}{since}", remedy))
        if changed:
            told = f"{server.name}: {', '.join(changed)} changed since you accepted it, so each call needs approval"
            remedy = f"check with `kinkeeper tools list`, then run `kinkeeper tools accept {server.name}`"
            found.append(warning(CHECK, told, remedy))
        if missing and row.failure is None:
            told = f"{server.name} has no {', '.join(missing)}, which MCP_SERVERS calls safe"
            found.append(warning(CHECK, told, "correct `safe` for that server"))
        if row.failure is None and not changed:
            unasked = sum(each.tool.is_safe for each in mine)
            found.append(
                ok(
                    CHECK,
                    f"{server.name}: {len(mine)} tools, {unasked} may be called without asking",
                )
            )
    return found
