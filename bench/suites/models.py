"""What the gateway to language models adds to a call, beside a bare request of the same HTTP library.

All ask the same server, which answers at once. CPU time of this process, all its threads.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import httpx

from bench.cost import p99_of
from bench.report import Ratio
from bench.serving.one_call import HOUSEHOLD, call, role_on, server_of
from bench.serving.processes import bare_server
from kinkeeper.core.time import SystemClock
from kinkeeper.models.client import HttpChatModel, Manners, OpenAIWire
from kinkeeper.models.endpoints import DailyLimits, ModelConfig, RoleModel
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import ModelRole
from kinkeeper.store.store import Store

_CALLS = 300
_WARM_UP = 30
_COLD_STARTS = 5
_PEER = "a bare httpx request"
_LARGEST_RATIO = 3.0
_BARE_COLD = """
import asyncio, httpx, sys
async def main():
    async with httpx.AsyncClient() as client:
        (await client.post(sys.argv[1] + "/v1/chat/completions", json={})).json()
asyncio.run(main())
"""
_OURS_COLD = """
import asyncio, sys
from bench.serving.one_call import make_one_call
asyncio.run(make_one_call(sys.argv[1]))
"""


def measure(*, calls: int = _CALLS, cold_starts: int = _COLD_STARTS) -> tuple[Ratio, ...]:
    """Call the same server bare, through the client, and through all of the gateway, in turn.

    Args:
        calls: Each way, > 0.
        cold_starts: Processes that make a first call, > 0.
    """
    with TemporaryDirectory() as name, bare_server(Path(name)) as server:
        with Store.open(str(Path(name) / "bench.sqlite")) as store:
            warm = asyncio.run(_warm(server.address, store, calls))
        return (*warm, _cold(server.address, cold_starts))


async def _warm(url: str, store: Store, calls: int) -> tuple[Ratio, ...]:
    role, request = role_on(url), call()
    body = dict(OpenAIWire().body(request, role, Manners(), is_streamed=False))
    server = server_of(role)
    client = HttpChatModel(server, role)
    async with httpx.AsyncClient() as bare, _gateway(role, store) as gateway:

        async def ask_bare() -> None:
            (await bare.post(f"{url}/v1/chat/completions", json=body)).json()

        async def ask_client() -> None:
            await client.complete(request)

        async def ask_gateway() -> None:
            await gateway.complete(request)

        ways = (ask_bare, ask_client, ask_gateway)
        for way in ways:
            await _timed(way, _WARM_UP)
        taken: tuple[list[float], ...] = ([], [], [])
        for _ in range(calls):
            for way, times in zip(ways, taken, strict=True):
                times.extend(await _timed(way, 1))
        await server.connection.close()
    limit, alone, whole = taken
    return (
        _ratio("a call through the client alone, CPU", alone, limit, target=_LARGEST_RATIO),
        _ratio(
            "a call through the gateway: limits, budget, record, CPU", whole, limit, target=None
        ),
    )


async def _timed(way: Callable[[], Awaitable[None]], count: int) -> list[float]:
    times = []
    for _ in range(count):
        before = time.process_time()
        await way()
        times.append(1e6 * (time.process_time() - before))
    return times


def _ratio(name: str, times: list[float], peer: list[float], *, target: float | None) -> Ratio:
    return Ratio(
        name=name,
        microseconds=median(times),
        p99_microseconds=p99_of(times),
        peer=_PEER,
        peer_microseconds=median(peer),
        target=target,
    )


def _cold(url: str, starts: int) -> Ratio:
    """Time whole processes that make one call."""
    ours, bare = [], []
    for _ in range(starts):
        ours.append(_cpu_of(_OURS_COLD, url))
        bare.append(_cpu_of(_BARE_COLD, url))
    name = "a process that makes its first call, CPU"
    return Ratio(
        name=name,
        microseconds=min(ours),
        p99_microseconds=max(ours),
        peer="one that makes a bare httpx request",
        peer_microseconds=min(bare),
        target=None,
    )


def _cpu_of(code: str, url: str) -> float:
    before = os.times()
    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, url], check=True, env=environment)  # noqa: S603 - ours
    after = os.times()
    spent = after.children_user + after.children_system
    return 1e6 * (spent - before.children_user - before.children_system)


def _gateway(role: RoleModel, store: Store) -> Gateway:
    config = ModelConfig(
        roles=dict.fromkeys(ModelRole, role),
        concurrency=2,
        allows_public=False,
        keeps_text=False,
        limits=DailyLimits(calls=1_000_000),
    )
    zones = {HOUSEHOLD: ZoneInfo("UTC")}
    return Gateway(config, store=store, clock=SystemClock(), zones=zones)
