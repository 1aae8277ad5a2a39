"""Tools of others over the real protocol: called unasked only where allowed, else once after a yes, and never believed."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from foreign_tools import ANSWER, HOSTILE
from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.outside.worker import OutsideWorker
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import (
    ActionResult,
    Asked,
    Catalogue,
    RequestKind,
    ResultStatus,
)
from kinkeeper.actions.requests.request_runner import perform
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.connectors.tools.servers import ToolAdapter, ToolServers
from kinkeeper.connectors.tools.tool_records import accept, findings
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import VirtualClock
from kinkeeper.observability.findings import Health
from kinkeeper.store.store import Store
from pending_samples import FAMILY, NOW, PARENT
from tool_servers import over_http

SERVER = Path(__file__).parents[1] / "foreign_tools.py"
pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "home.db")) as opened:
        yield opened


def over_pipes(folder: Path, **fields: Any) -> ToolServer:
    return ToolServer(
        name="weather",
        command=sys.executable,
        args=(str(SERVER), str(folder)),
        safe=frozenset({"lookup", "slow", "quit_now"}),
        **fields,
    )


@asynccontextmanager
async def offered(store: Store, server: ToolServer) -> AsyncIterator[ToolServers]:
    servers = ToolServers(store, FAMILY.id, (server,), VirtualClock(NOW))
    async with servers.running():
        await servers.look()
        yield servers


def asked(number: int = 0) -> Asked:
    return Asked(
        household=FAMILY,
        member=PARENT,
        now=NOW,
        channel="web",
        thread_id="t",
        turn_id="turn",
        number=number,
    )


async def performed(
    store: Store, servers: ToolServers, tool: str, number: int = 0, **params: Any
) -> ActionResult:
    catalogue = Catalogue(()).extended(servers.requests())
    return await perform(
        catalogue, store, asked(number), domain="weather", action=tool, params=params
    )


def row(servers: ToolServers, name: str) -> RequestKind:
    return next(each for each in servers.requests() if each.name == name)


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


async def carried_out(store: Store, servers: ToolServers, action_id: str) -> PendingAction:
    """Say yes, and let the worker do it."""

    def yes(conn: Connection) -> None:
        approvals.confirm(conn, action_id, member=PARENT, household=FAMILY, now=NOW)

    await store.write(yes)
    worker = OutsideWorker(
        store, FAMILY.id, {"tools.call": ToolAdapter(servers)}, clock=VirtualClock(NOW)
    )
    async with asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        async with asyncio.timeout(60):
            while True:
                action = await store.read(lambda conn: load_action(conn, FAMILY.id, action_id))
                if action.status is not ActionStatus.EXECUTING:
                    break
                await asyncio.sleep(0.05)
        running.cancel()
    return action


async def test_a_safe_tool_is_called_unasked_over_pipes(store: Store, tmp_path: Path):
    async with offered(store, over_pipes(tmp_path)) as servers:
        result = await performed(store, servers, "lookup", place="Ulm", days=2)
    assert result.status is ResultStatus.DONE
    assert calls(tmp_path) == ["lookup Ulm 2"]


async def test_a_safe_tool_is_called_unasked_over_http(store: Store, tmp_path: Path):
    async with over_http(tmp_path) as server, offered(store, server) as servers:
        result = await performed(store, servers, "lookup", place="Ulm")
    assert result.status is ResultStatus.DONE, result
    assert calls(tmp_path) == ["lookup Ulm 1"]


async def test_any_other_tool_waits_for_a_yes_and_is_called_once_as_shown(
    store: Store, tmp_path: Path
):
    async with over_http(tmp_path) as server, offered(store, server) as servers:
        assert row(servers, "book").stakes is Stakes.HIGH
        result = await performed(store, servers, "book", table="window", people=4)
        assert result.status is ResultStatus.AWAITING
        assert calls(tmp_path) == []
        assert result.action_id is not None
        action = await carried_out(store, servers, result.action_id)
    assert action.status is ActionStatus.DONE, action.receipt
    shown = action.proposal.request["shown"]
    assert (shown["“table”"], shown["“people”"]) == ("window", "4")
    assert action.receipt is not None
    assert action.receipt["written"][0]["result"]["text"] == "booked window for 4"
    assert calls(tmp_path) == ["book window 4"]


async def test_a_failure_of_a_tool_is_told(store: Store, tmp_path: Path):
    async with offered(store, over_pipes(tmp_path)) as servers:
        result = await performed(store, servers, "broken", table="window")
        assert result.action_id is not None
        action = await carried_out(store, servers, result.action_id)
    assert action.status is ActionStatus.FAILED
    assert "reported an error" in (action.receipt or {})["reason"]
    assert calls(tmp_path) == ["broken window"]


async def test_a_server_that_dies_during_a_call_is_not_called_twice(store: Store, tmp_path: Path):
    server = ToolServer(name="weather", command=sys.executable, args=(str(SERVER), str(tmp_path)))
    async with offered(store, server) as servers:
        result = await performed(store, servers, "quit_now")
        assert result.action_id is not None
        action = await carried_out(store, servers, result.action_id)
        assert action.status is ActionStatus.FAILED
        assert (action.receipt or {})["outcome"] == "unknown"
        assert calls(tmp_path) == ["quit"]
        # And the next one finds the server started again.
        again = await performed(store, servers, "book", 1, table="door", people=2)
        assert again.action_id is not None
        done = await carried_out(store, servers, again.action_id)
    assert done.status is ActionStatus.DONE, done.receipt


async def test_what_a_server_says_is_cleaned_and_short(store: Store, tmp_path: Path):
    async with offered(store, over_pipes(tmp_path)) as servers:
        kind = row(servers, "lookup")
        result = await performed(store, servers, "lookup", place="Ulm")
    said = kind.description + str(result.result) + str(result.card)
    assert len(kind.description) < 400
    assert not {"\u202e", "\u200b", "\x07", "\u2066", "\x1b"} & set(said)
    assert {"\u202e", "\u200b", "\x07"} <= set(HOSTILE)
    assert {"\u2066", "\x1b"} <= set(ANSWER)


async def test_a_tool_that_changes_its_words_asks_again_and_is_told(store: Store, tmp_path: Path):
    server = over_pipes(tmp_path)
    async with offered(store, server) as servers:
        old = row(servers, "lookup")
        assert old.read is not None
    (tmp_path / "description").write_text("Looks up, and deletes what it finds.")
    async with offered(store, server) as servers:
        assert row(servers, "lookup").stakes is Stakes.HIGH
        result = await performed(store, servers, "lookup", place="Ulm")
        assert result.status is ResultStatus.AWAITING
        assert calls(tmp_path) == []
        found = store.read_now(lambda conn: findings(conn, FAMILY.id, (server,)))
        assert [each.health for each in found] == [Health.WARNING]
        assert "lookup changed" in found[0].found
        assert store.write_now(lambda conn: accept(conn, FAMILY.id, "weather", "lookup")) == 1
        await servers.look()
        assert row(servers, "lookup").stakes is Stakes.LOW


async def test_a_yes_is_for_the_tool_as_it_was_shown(store: Store, tmp_path: Path):
    server = ToolServer(name="weather", command=sys.executable, args=(str(SERVER), str(tmp_path)))
    async with offered(store, server) as servers:
        result = await performed(store, servers, "lookup", place="Ulm")
    (tmp_path / "description").write_text("Something else now.")
    async with offered(store, server) as servers:
        assert result.action_id is not None
        action = await carried_out(store, servers, result.action_id)
    assert action.status is ActionStatus.FAILED
    assert calls(tmp_path) == []


async def test_arguments_that_do_not_fit_are_refused_before_anything_is_called(
    store: Store, tmp_path: Path
):
    async with offered(store, over_pipes(tmp_path)) as servers:
        result = await performed(store, servers, "lookup", days="many")
        assert result.status in {ResultStatus.FAILED, ResultStatus.UNCLEAR}
        schema: Mapping[str, Any] = row(servers, "lookup").parameters.model_json_schema()
    assert schema["required"] == ["place"]
    assert calls(tmp_path) == []


async def test_a_slow_tool_ends_in_time(store: Store, tmp_path: Path):
    server = over_pipes(tmp_path, timeout=timedelta(seconds=3))
    async with offered(store, server) as servers:
        result = await performed(store, servers, "slow")
    assert result.status is ResultStatus.FAILED
    assert result.may_retry
    assert "in time" in (result.error or "")


async def test_a_server_that_cannot_be_started_is_told(store: Store):
    server = ToolServer(name="weather", command="/nowhere/at-all")
    async with offered(store, server) as servers:
        assert servers.requests() == ()
    (found,) = store.read_now(lambda conn: findings(conn, FAMILY.id, (server,)))
    assert found.health is Health.WARNING
    assert "its program does not exist" in found.found


async def test_a_name_that_leads_home_is_refused_unless_meant(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def leads_home(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr("kinkeeper.connectors.tools.connection.find_addresses", leads_home)
    async with over_http(tmp_path) as local:
        port = (local.url or "").split(":")[2]
        assert "allow_private" in await told_of(store, port, allows_private=False)
        assert "allow_private" not in await told_of(store, port, allows_private=True)


async def told_of(store: Store, port: str, *, allows_private: bool) -> str:
    url = f"http://tools.example.com:{port}"
    server = ToolServer(name="weather", url=url, allows_private=allows_private)
    async with offered(store, server):
        pass
    return store.read_now(lambda conn: findings(conn, FAMILY.id, (server,)))[0].found


def test_a_server_cannot_take_the_place_of_a_part_of_the_program(store: Store):
    with pytest.raises(InputError):
        Catalogue((_row("task"),)).extended((_row("task"),))


def _row(domain: str) -> RequestKind:
    from kinkeeper.actions.requests.model import Parameters  # noqa: PLC0415

    return RequestKind(
        domain=domain,
        name="create",
        description="x",
        parameters=Parameters,
        stakes=Stakes.LOW,
        progress="x",
    )
