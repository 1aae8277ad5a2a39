"""A client that loads a server over connections that stay open, and notes when each answer came."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kinkeeper.core.errors import UnavailableError

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length:"
_STATUS = slice(9, 12)


@dataclass(slots=True)
class Answers:
    """What came back.

    Attributes:
        seconds: From when a request was due until its answer was there.
        statuses: Of HTTP.
        elapsed: From the first request to the last answer, seconds.
    """

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    elapsed: float = 0.0

    def add(self, other: "Answers") -> None:
        """Add those of another stretch of load."""
        self.seconds += other.seconds
        self.statuses += other.statuses
        self.elapsed += other.elapsed


def post(path: str, body: bytes, **headers: str) -> bytes:
    """Return a POST of JSON as it goes over the wire.

    Args:
        path: Of the route.
        body: JSON.
        headers: Beside the usual ones; an underscore stands for a hyphen.
    """
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{_lines(headers)}\r\n"
    )
    return head.encode() + body


def get(path: str, **headers: str) -> bytes:
    """Return a GET as it goes over the wire.

    Args:
        path: Of the route.
        headers: Beside the usual ones; an underscore stands for a hyphen.
    """
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{_lines(headers)}\r\n".encode()


def _lines(headers: Mapping[str, str]) -> str:
    return "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())


class _Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._came = b""
        self._answer: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # of a stream, by construction

    def data_received(self, data: bytes) -> None:
        self._came += data
        end = self._came.find(_END_OF_HEAD)
        if end < 0 or len(self._came) < end + len(_END_OF_HEAD) + _length(self._came[:end]):
            return
        status, self._came = int(self._came[_STATUS]), b""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(status)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(UnavailableError("the server hung up"))

    async def send(self, request: bytes) -> int:
        """Send a request and return the status of its answer.

        Raises:
            UnavailableError: The server hung up.
        """
        if self._transport is None or self._transport.is_closing():
            raise UnavailableError("the server hung up")
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(_LENGTH):
            return int(line[len(_LENGTH) :])
    return 0


class Client:
    """Some connections to one server. Make it with `connected`."""

    def __init__(self, connections: list[_Connection]) -> None:
        self._connections = connections

    async def flood(self, requests: Iterable[bytes]) -> Answers:
        """Send the next request on each connection as soon as it has its answer."""
        return await self._drive((None, request) for request in requests)

    async def pace(self, requests: Iterable[bytes], *, per_second: float) -> Answers:
        """Send requests at a steady rate; an answer's time counts from when its request was due."""
        begin = time.perf_counter()
        return await self._drive(
            (begin + number / per_second, request) for number, request in enumerate(requests)
        )

    async def _drive(self, due: Iterator[tuple[float | None, bytes]]) -> Answers:
        answers, begin = Answers(), time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for connection in self._connections:
                group.create_task(_keep_busy(connection, due, answers))
        answers.elapsed = time.perf_counter() - begin
        return answers


async def _keep_busy(
    connection: _Connection, due: Iterator[tuple[float | None, bytes]], answers: Answers
) -> None:
    for at, request in due:
        begin = at or time.perf_counter()
        if at is not None and (wait := at - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        status = await connection.send(request)
        answers.seconds.append(time.perf_counter() - begin)
        answers.statuses[status] += 1


@asynccontextmanager
async def connected(host: str, port: int, *, connections: int) -> AsyncIterator[Client]:
    """Yield a client of a server.

    Args:
        host: Loopback address.
        port: Where it listens.
        connections: How many to hold, > 0.
    """
    loop = asyncio.get_running_loop()
    made = [(await loop.create_connection(_Connection, host, port))[1] for _ in range(connections)]
    try:
        yield Client(made)
    finally:
        for connection in made:
            connection.close()
