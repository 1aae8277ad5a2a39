"""What is stored of tool servers: their tools, how they answered last, and how they stand for checks."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)

from kinkeeper.actions.requests.tools import ForeignTool
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.core.errors import NotFoundError
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.store.schema import Instant, metadata

# Table of the tools that servers of others offer: as first seen, as accepted, as they are now.

foreign_tools = Table(
    "foreign_tools",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("server", String(64), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("description", Text, nullable=False),
    Column("schema", JSON, nullable=False),
    Column("definition", String(64), nullable=False),
    Column("accepted", String(64), nullable=False),
    Column("first_seen_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("changed_at", Instant),
)

tool_servers = Table(
    "tool_servers",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("server", String(64), primary_key=True),
    Column("looked_at", Instant, nullable=False),
    Column("failing_since", Instant),
    Column("failure", Text),
)


_tools = foreign_tools.c


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTool:
    """A tool as it describes itself now.

    Attributes:
        tool: As it may be shown; safe only as long as it is what was accepted.
        changed_at: When it began to describe itself otherwise than accepted; None while it does not.
    """

    tool: ForeignTool
    changed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRow:
    """How a server answered last.

    Attributes:
        server: As the settings name it.
        failing_since: Since when it does not answer; None while it does.
        failure: Why, for people.
    """

    server: str
    looked_at: datetime
    failing_since: datetime | None
    failure: str | None


def note_tools(
    conn: Connection, household: str, server: str, tools: Sequence[ForeignTool], *, now: datetime
) -> None:
    """Note which tools a server offers now; the first description of each counts as accepted."""
    known = {
        row.name: row
        for row in conn.execute(
            select(foreign_tools).where(_tools.household == household, _tools.server == server)
        )
    }
    for tool in tools:
        row = known.get(tool.name)
        values = {
            "description": tool.description,
            "schema": dict(tool.schema),
            "definition": tool.definition,
            "seen_at": now,
        }
        if row is None:
            key = {"household": household, "server": server, "name": tool.name}
            first = {"accepted": tool.definition, "first_seen_at": now}
            conn.execute(insert(foreign_tools).values(**key, **values, **first))
            continue
        is_other = tool.definition != row.accepted
        values["changed_at"] = (row.changed_at or now) if is_other else None
        conn.execute(
            update(foreign_tools).where(*_one(household, server, tool.name)).values(**values)
        )


def note_server(
    conn: Connection, household: str, server: str, *, failure: str | None, now: datetime
) -> None:
    """Note how a server answered.

    Args:
        failure: Why it did not, for people; None where it did.
    """
    mine = (tool_servers.c.household == household, tool_servers.c.server == server)
    since = conn.execute(select(tool_servers.c.failing_since).where(*mine)).scalar()
    conn.execute(delete(tool_servers).where(*mine))
    conn.execute(
        insert(tool_servers).values(
            household=household,
            server=server,
            looked_at=now,
            failure=failure,
            failing_since=None if failure is None else since or now,
        )
    )


def list_tools(
    conn: Connection, household: str, servers: Collection[ToolServer]
) -> Sequence[KnownTool]:
    """Return the tools that these servers offered when they were last looked at."""
    by_name = {server.name: server for server in servers}
    query = select(foreign_tools).where(_tools.household == household, _tools.server.in_(by_name))
    latest = {row.server: row.looked_at for row in list_servers(conn, household) if not row.failure}
    found = []
    for row in conn.execute(query.order_by(_tools.server, _tools.name)).mappings():
        if row["seen_at"] < latest.get(row["server"], row["seen_at"]):
            continue  # not offered any more
        is_listed = row["name"] in by_name[row["server"]].safe
        tool = ForeignTool(
            server=row["server"],
            name=row["name"],
            description=row["description"],
            schema=row["schema"],
            definition=row["definition"],
            is_safe=is_listed and row["definition"] == row["accepted"],
        )
        found.append(KnownTool(tool=tool, changed_at=row["changed_at"]))
    return found


def list_servers(conn: Connection, household: str) -> Sequence[ServerRow]:
    """Return how all servers answered last, by name."""
    query = select(tool_servers).where(tool_servers.c.household == household)
    return [
        ServerRow(
            server=row.server,
            looked_at=row.looked_at,
            failing_since=row.failing_since,
            failure=row.failure,
        )
        for row in conn.execute(query.order_by(tool_servers.c.server))
    ]


def accept(conn: Connection, household: str, server: str, name: str | None) -> int:
    """Accept tools as they describe themselves now; returns how many had changed.

    Args:
        name: Of one tool; all of the server where None.
    """
    mine = [_tools.household == household, _tools.server == server]
    mine += [] if name is None else [_tools.name == name]
    rows = conn.execute(select(foreign_tools).where(*mine)).all()
    if not rows:
        what = f"tool {name!r} of {server!r}" if name else f"tool of {server!r}"
        raise NotFoundError(f"there is no {what}; `kinkeeper tools list` shows all tools")
    conn.execute(
        update(foreign_tools).where(*mine).values(accepted=_tools.definition, changed_at=None)
    )
    return sum(row.definition != row.accepted for row in rows)


def _one(household: str, server: str, name: str) -> tuple[ColumnElement[bool], ...]:
    return (_tools.household == household, _tools.server == server, _tools.name == name)


# How the tool servers of a household stand: for checks, and for people who ask.

CHECK = "tool servers"


def findings(conn: Connection, household: str, servers: Sequence[ToolServer]) -> list[Finding]:
    """Return what a check of the tool servers finds, as they answered last."""
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
