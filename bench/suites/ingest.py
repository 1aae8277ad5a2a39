"""Speed of the server on messages: beside a server that does nothing, and for a while with all its work running."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.cost import p99_of
from bench.report import Figure, Ratio
from bench.serving import bare, soak, talk
from bench.serving.load import Answers, Client, connected
from bench.serving.processes import ServerProcess, bare_server, our_server
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import SystemClock

CONNECTIONS = 32
_REQUESTS = 480
_BARE_REQUESTS = 2_400
_WARM_UP = 96
_LARGEST_RATIO = 2.0
_MOST_TRIES = 300
_TRY_AGAIN_SECONDS = 0.2
_PAST = timedelta(hours=60)
_STORED = frozenset({200, 202})


@dataclass(slots=True)
class _Path:
    """One way into a server, and what it took in each round.

    Attributes:
        server: Which.
        requests: To send; never ends.
        count: How many a round.
        answers: All that came back.
        cpu: Of the server a request, in each round, microseconds.
        loop_cpu: Of its event loop's thread alone.
    """

    server: ServerProcess
    requests: Iterator[bytes]
    count: int
    answers: Answers = field(default_factory=Answers)
    cpu: list[float] = field(default_factory=list)
    loop_cpu: list[float] = field(default_factory=list)

    async def round(self, client: Client) -> None:
        """Send the requests of one round."""
        before = self.server.cpu_seconds(), self.server.loop_cpu_seconds()
        answers = await client.flood(islice(self.requests, self.count))
        after = self.server.cpu_seconds(), self.server.loop_cpu_seconds()
        if not answers.statuses.keys() <= _STORED:
            raise InvariantError(f"the server did not take all: {dict(answers.statuses)}")
        self.answers.add(answers)
        self.cpu.append(1e6 * (after[0] - before[0]) / self.count)
        self.loop_cpu.append(1e6 * (after[1] - before[1]) / self.count)


def measure(seconds: int = 180, *, rounds: int = 5) -> tuple[Ratio | Figure, ...]:
    """Take in the same talk through /observe and as a chat service posts it, in turn with a bare server.

    Args:
        seconds: How long the soak lasts.
        rounds: How often each way in takes its turn, > 0.

    Returns:
        CPU of the server and time until the answer as ratios to a bare Starlette route; then what
        some minutes of many messages with tier 2 running left.
    """
    with TemporaryDirectory() as name, ExitStack() as held:
        folder = Path(name)
        nothing = held.enter_context(bare_server(folder))
        ratios = _beside(folder, nothing, rounds)
        return (*ratios, *soak.measure(folder, seconds=seconds))


def _beside(folder: Path, nothing: ServerProcess, rounds: int) -> list[Ratio | Figure]:
    household, database, token = talk.prepare(folder, "beside")
    settings = {
        "TELEGRAM_BOT_TOKEN": bare.TOKEN,
        "TELEGRAM_API_URL": nothing.address,
        "TELEGRAM_WEBHOOK_URL": "https://bench.invalid/telegram/webhook",
        "TELEGRAM_WEBHOOK_SECRET": talk.WEBHOOK_SECRET,
    }
    since = SystemClock().now() - _PAST
    with our_server(folder, household=household, database=database, settings=settings) as ours:
        limit = _Path(nothing, talk.chatter(token, since=since), _BARE_REQUESTS)
        paths = {
            "POST /observe": _Path(ours, talk.chatter(token, since=since), _REQUESTS),
            "the Telegram webhook": _Path(ours, talk.updates(since=since), _REQUESTS),
        }
        asyncio.run(_in_turn(nothing, ours, [limit, *paths.values()], rounds))
    found: list[Ratio | Figure] = []
    for name, path in paths.items():
        found += _compared(name, path, limit)
    found.append(_load_of_machine())
    return found


async def _in_turn(
    nothing: ServerProcess, ours: ServerProcess, paths: list[_Path], rounds: int
) -> None:
    async with (
        connected(nothing.host, nothing.port, connections=CONNECTIONS) as limit,
        connected(ours.host, ours.port, connections=CONNECTIONS) as client,
    ):
        await _until_taken(client, paths[-1])
        for path in paths:
            await (limit if path.server is nothing else client).flood(
                islice(path.requests, _WARM_UP)
            )
        for _ in range(rounds):
            for path in paths:
                await path.round(limit if path.server is nothing else client)


async def _until_taken(client: Client, webhook: _Path) -> None:
    """Wait until the server has asked who its bot is; it takes no updates before."""
    for _ in range(_MOST_TRIES):
        if (await client.flood(islice(webhook.requests, 1))).statuses.keys() <= _STORED:
            return
        await asyncio.sleep(_TRY_AGAIN_SECONDS)
    raise InvariantError("the server of the benchmark takes no updates")


def _compared(name: str, path: _Path, limit: _Path) -> tuple[Ratio, ...]:
    what, peer = f"{name}: CPU of the server a message", "a bare Starlette route"

    def cpu(of: Callable[[_Path], list[float]], part: str, target: float | None) -> Ratio:
        return Ratio(
            name=f"{what}{part}",
            microseconds=median(of(path)),
            p99_microseconds=max(of(path)),
            peer=peer,
            peer_microseconds=median(of(limit)),
            target=target,
        )

    rate, most = (len(each.answers.seconds) / each.answers.elapsed for each in (path, limit))
    return (
        cpu(lambda each: each.cpu, "", _LARGEST_RATIO),
        cpu(lambda each: each.loop_cpu, ", without the database's thread", None),
        Ratio(
            name=f"{name}: until the answer, {CONNECTIONS} at once, {rate:,.0f} a second",
            microseconds=1e6 * median(path.answers.seconds),
            p99_microseconds=1e6 * p99_of(path.answers.seconds),
            peer=f"{peer}, {most:,.0f} a second",
            peer_microseconds=1e6 * median(limit.answers.seconds),
            target=None,
        ),
    )


def _load_of_machine() -> Figure:
    """Say how busy the machine was, which waits depend on."""
    return Figure(
        name=f"load of this machine's {os.cpu_count()} processors meanwhile",
        value=os.getloadavg()[0],
        unit="waiting",
    )
