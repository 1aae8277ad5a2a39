"""Tool servers that lie: each look and each call ends in time, in words of ours, and holds up nothing else."""

import asyncio
import json
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from time import monotonic, thread_time
from typing import Any
from urllib.parse import quote

import pytest

from kinkeeper.actions.requests.tools import ForeignArguments
from kinkeeper.connectors.tools.connection import described
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.connectors.tools.servers import ToolServers
from kinkeeper.core.errors import KinkeeperError, UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.store.store import Store
from lying_tools import MOVED, RAW, RESULTS
from pending_samples import FAMILY, NOW

pytestmark = pytest.mark.slow

LIAR = Path(__file__).parents[1] / "lying_tools.py"
LIES = (*RESULTS, *RAW, *MOVED, "silent", "endless pages")
OVER_PIPES = ("endless line", "endless notices", "honest")
PATIENCE = timedelta(seconds=1)
LONGEST_HOLD = 1.0  # of processor time of the event loop's thread in one go
MOST_KILOBYTES = 150_000


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, str(LIAR)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("home") / "home.db")) as opened:
        yield opened


async def holds() -> float:
    """Return the longest time for which nothing else had its turn, until cancelled."""
    longest, before = 0.0, thread_time()
    with suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(0.002)
            longest = max(longest, thread_time() - before)
            before = thread_time()
    return longest


async def believed(store: Store, server: ToolServer) -> tuple[str, float]:
    """Look at a server and call its tools; returns what was told, and the longest hold."""
    servers, told = ToolServers(store, FAMILY.id, (server,), VirtualClock(NOW)), ""
    async with servers.running():
        watching = asyncio.create_task(holds())
        await servers.look()
        for row in servers.requests()[:3]:
            assert isinstance(row.parameters.model_json_schema(), dict)
        for tool in ("lookup", "t1"):
            with suppress(KinkeeperError):
                told += str(await servers.call(server.name, tool, {"a": "b"}))
        watching.cancel()
        return told, await watching


def judged(store: Store, server: ToolServer) -> str:
    """Have a lie told and see that it does no harm; returns what was told."""
    began, before = monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told, hold = asyncio.run(believed(store, server))
    assert hold < LONGEST_HOLD
    assert monotonic() - began < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_KILOBYTES
    assert "root:" not in told
    assert "\u202e" not in told
    return told


def test_what_is_loaded_once_is_loaded(store: Store, address: str) -> None:
    asyncio.run(believed(store, ToolServer(name="first", url=f"{address}/honest")))


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_holds_nothing_up(store: Store, address: str, lie: str) -> None:
    name = f"at_{LIES.index(lie)}"
    server = ToolServer(name=name, url=f"{address}/{quote(lie)}", timeout=PATIENCE)
    told = judged(store, server)
    assert ("sunny" in told) is (lie in {"honest", "endless pages"})


@pytest.mark.parametrize("lie", OVER_PIPES)
def test_a_lie_over_pipes_holds_nothing_up(store: Store, lie: str) -> None:
    server = ToolServer(
        name=f"by_{OVER_PIPES.index(lie)}",
        command=sys.executable,
        args=(str(LIAR), "pipes", lie),
        timeout=PATIENCE,
    )
    assert ("sunny" in judged(store, server)) is (lie == "honest")


def test_a_program_that_is_being_ended_is_ended_although_ours_ends_too(store: Store) -> None:
    server = ToolServer(
        name="ends",
        command=sys.executable,
        args=(str(LIAR), "pipes", "endless notices"),
        timeout=PATIENCE,
    )

    async def story() -> None:
        servers = ToolServers(store, FAMILY.id, (server,), VirtualClock(NOW))
        async with servers.running():
            with suppress(KinkeeperError):
                await servers.call("ends", "lookup", {})
            await asyncio.sleep(0.05)  # it is being closed now

    began = monotonic()
    asyncio.run(asyncio.wait_for(story(), 45))
    assert monotonic() - began < 45


def test_a_schema_is_kept_whole_or_not_at_all() -> None:
    """What its references make of a schema stays small, whatever they are."""
    for width in (1, 3, 10, 200):
        for key in ("anyOf", "allOf", "oneOf"):
            again = [{"$ref": "#/$defs/a"}] * width
            schema = {
                "type": "object",
                "required": ["p"],
                "properties": {"p": {"$ref": "#/$defs/a"}},
                "$defs": {
                    "a": {key: again, "items": {key: again}, "properties": {"q": {key: again}}}
                },
            }
            began = thread_time()
            tool = described("s", "t", "", schema, is_safe=False)
            assert thread_time() - began < LONGEST_HOLD
            assert len(json.dumps(tool.schema)) < 40_000
            assert width < 10 or tool.schema == {"type": "object"}
            assert ForeignArguments.of(tool).model_json_schema() == tool.schema


def test_a_name_that_changes_its_answer_leads_to_nobody_here(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's own look-up answers otherwise at every second asking."""
    look_up, answers = socket.getaddrinfo, cycle(["8.8.8.8", "127.0.0.1"])
    asked: list[str] = []

    def changing(host: Any, *args: Any, **fields: Any) -> Any:
        if host != "tools.example.com":
            return look_up(host, *args, **fields)
        asked.append(next(answers))
        return look_up(asked[-1], *args, **fields)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    port = address.rpartition(":")[2]
    server = ToolServer(
        name="rebound", url=f"http://tools.example.com:{port}/honest", timeout=PATIENCE
    )

    async def story() -> None:
        servers = ToolServers(store, FAMILY.id, (server,), VirtualClock(NOW))
        async with servers.running():
            for _ in range(6):
                with pytest.raises(UnavailableError):
                    await servers.call("rebound", "lookup", {})

    asyncio.run(story())
    assert {"8.8.8.8", "127.0.0.1"} == set(asked)
