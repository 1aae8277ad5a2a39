"""Many open streams of a server: what an event costs beside a raw send of the same bytes, and what holding them costs."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median

from sqlalchemy import Connection

from bench.report import Figure, Ratio
from bench.serving import talk
from bench.serving.load import get, post
from bench.serving.processes import ServerProcess, bare_server, our_server
from kinkeeper.conversation.threads import Thread, open_thread
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.time import SystemClock
from kinkeeper.store.store import Store

STREAMS = 200
_ROUNDS = 7
_TOLD = 2  # events of one message: its words, and its end
_LONGEST_WAIT_SECONDS = 120
_SETTLING_SECONDS = 5
_IDLE_SECONDS = 15
_TELL_EVERY_SECONDS = 5
_MOST_MB_A_MINUTE = 1.0
_EVENT = b"\nevent: "


class _Heard:
    """What all streams to one server have heard so far."""

    def __init__(self) -> None:
        self.heads = self.events = 0
        self.last: bytes = b""
        self._moved = asyncio.Event()

    def add(self, data: bytes, *, is_first: bool) -> None:
        """Count what came over one stream."""
        self.heads += is_first
        self.events += data.count(_EVENT)
        self.last = data
        self._moved.set()

    async def until(self, is_enough: Callable[[], bool]) -> None:
        """Wait until enough has been heard.

        Raises:
            TimeoutError: It was not, for two minutes.
        """
        async with asyncio.timeout(_LONGEST_WAIT_SECONDS):
            while not is_enough():
                self._moved.clear()
                await self._moved.wait()


class _Listener(asyncio.Protocol):
    """One stream."""

    def __init__(self, heard: _Heard, request: bytes) -> None:
        self._heard = heard
        self._request = request
        self._is_first = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self._request)  # type: ignore[attr-defined]  # of a stream, by construction

    def data_received(self, data: bytes) -> None:
        self._heard.add(data, is_first=self._is_first)
        self._is_first = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What holding streams open took.

    Attributes:
        before: Memory without them, MB.
        memory: Seconds and MB while they were open.
        idle: Share of a core while nobody said anything.
    """

    before: float
    memory: Sequence[tuple[float, float]]
    idle: float


def measure(folder: Path, *, seconds: int) -> tuple[Ratio | Figure, ...]:
    """Open 200 streams to a server and to one that only sends, tell the same over both, and hold ours for a while.

    Args:
        folder: For the database.
        seconds: How long they are held.
    """
    household, database, _ = talk.prepare(folder, "streams")
    token = talk.adult_token(household, database)
    with Store.open(str(database)) as store:
        store.write_now(_open_threads)
        with (
            our_server(
                folder, household=household, database=database, settings=talk.NO_MODEL
            ) as ours,
            bare_server(folder) as nothing,
        ):
            ours_us, bare_us, held = asyncio.run(
                _measured(ours, nothing, store, token=token, seconds=seconds)
            )
    return (
        Ratio(
            name=f"CPU of the server an event, {STREAMS} streams open",
            microseconds=median(ours_us),
            p99_microseconds=max(ours_us),
            peer="raw ASGI send of the same bytes",
            peer_microseconds=median(bare_us),
            target=None,
        ),
        *_told(held),
    )


async def _measured(
    ours: ServerProcess, nothing: ServerProcess, store: Store, *, token: str, seconds: int
) -> tuple[list[float], list[float], _Held]:
    before = ours.resident_mb()
    requests = [
        get(f"/chat/{_thread(number)}/events", Authorization=f"Bearer {token}")
        for number in range(STREAMS)
    ]
    ours_us, bare_us = [], []
    async with (
        _listening(ours, requests) as heard,
        _listening(nothing, [get("/stream/")] * STREAMS) as echoed,
    ):
        for number in range(_ROUNDS):
            ours_us.append(await _told_to_all(ours, heard, _by_row(store, number)))
            bare_us.append(await _told_to_all(nothing, echoed, _by_post(nothing, heard.last)))
        await asyncio.sleep(_SETTLING_SECONDS)
        held = await _hold(ours, store, heard, seconds, before=before)
    return ours_us, bare_us, held


async def _hold(
    server: ServerProcess, store: Store, heard: _Heard, seconds: int, *, before: float
) -> _Held:
    begin, cpu = time.monotonic(), server.cpu_seconds()
    await asyncio.sleep(_IDLE_SECONDS)
    idle = (server.cpu_seconds() - cpu) / (time.monotonic() - begin)
    memory: list[tuple[float, float]] = []
    begin = time.monotonic()
    for number in range(max(seconds // _TELL_EVERY_SECONDS, 2)):
        await _told_to_all(server, heard, _by_row(store, _ROUNDS + number))
        await asyncio.sleep(max(0.0, begin + (number + 1) * _TELL_EVERY_SECONDS - time.monotonic()))
        memory.append((time.monotonic() - begin, server.resident_mb()))
    return _Held(before=before, memory=memory, idle=idle)


def _told(held: _Held) -> tuple[Figure, ...]:
    later = held.memory[len(held.memory) // 4 :]
    (_, first), (seconds, last) = held.memory[0], held.memory[-1]
    slope = linear_regression([at for at, _ in later], [mb for _, mb in later]).slope
    return (
        Figure(
            name=f"{STREAMS} open streams, memory each",
            unit="KB",
            value=1024 * (first - held.before) / STREAMS,
        ),
        Figure(
            name=f"{STREAMS} open streams told something every {_TELL_EVERY_SECONDS} s for {seconds:.0f} s, "
            f"growth of memory, to {last:.0f} MB",
            value=60 * slope,
            unit="MB a minute",
            target=_MOST_MB_A_MINUTE,
        ),
        Figure(
            name=f"{STREAMS} open streams, nobody says anything: CPU",
            value=100 * held.idle,
            unit="% of a core",
        ),
    )


@asynccontextmanager
async def _listening(server: ServerProcess, requests: Sequence[bytes]) -> AsyncIterator[_Heard]:
    """Hold a stream for each request, all of them open."""
    loop, heard = asyncio.get_running_loop(), _Heard()
    made = []
    try:
        for request in requests:
            transport, _ = await loop.create_connection(
                lambda request=request: _Listener(heard, request),  # type: ignore[misc]  # run at once
                server.host,
                server.port,
            )
            made.append(transport)
        await heard.until(lambda: heard.heads == len(requests))
        yield heard
    finally:
        for transport in made:
            transport.close()


async def _told_to_all(
    server: ServerProcess, heard: _Heard, tell: Callable[[], "asyncio.Future[None]"]
) -> float:
    """Return the server's CPU time for each event that all streams hear, microseconds."""
    wanted = heard.events + _TOLD * STREAMS
    before = server.cpu_seconds()
    await tell()
    await heard.until(lambda: heard.events >= wanted)
    return 1e6 * (server.cpu_seconds() - before) / (_TOLD * STREAMS)


def _by_row(store: Store, number: int) -> Callable[[], "asyncio.Future[None]"]:
    """Return what says something in every thread, in one transaction of this process."""

    def write(conn: Connection) -> None:
        now = SystemClock().now()
        for each in range(STREAMS):
            post_to_thread(conn, "bench", _thread(each), "hello there", key=f"{number}", now=now)

    return lambda: asyncio.ensure_future(store.write(write))


def _by_post(server: ServerProcess, told: bytes) -> Callable[[], "asyncio.Future[None]"]:
    """Return what has the bare server send what ours sent last, as often."""

    async def tell() -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        for _ in range(_TOLD):
            writer.write(post("/tell", told[told.find(b"id: ") :].partition(b"\r\n")[0]))
            await reader.readuntil(b"\r\n\r\n")
        writer.close()

    return lambda: asyncio.ensure_future(tell())


def _open_threads(conn: Connection) -> None:
    now = SystemClock().now()
    for number in range(STREAMS):
        thread = Thread(
            household="bench",
            id=_thread(number),
            member="nadia",
            channel="web",
            chat_id=None,
            created_at=now,
            last_at=now,
        )
        open_thread(conn, thread)


def _thread(number: int) -> str:
    return f"stream-{number}"
