"""Turns of a conversation as a page takes them: over HTTP, to the end of the streamed answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter

from bench.serving.load import post
from bench.serving.processes import ServerProcess
from kinkeeper.core.errors import InvariantError

_END = b"\r\n0\r\n\r\n"  # of an answer in chunks


def said(text: str, token: str) -> bytes:
    """Return what somebody says to the assistant as a request.

    Args:
        text: The words.
        token: Of who may speak.
    """
    body = json.dumps({"text": text}).encode()
    return post("/chat", body, Authorization=f"Bearer {token}")


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection to a server that answers in streams.

    Attributes:
        reader: What comes.
        writer: What goes.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answered(self, request: bytes) -> float:
        """Return how long an answer took to its end, microseconds.

        Args:
            request: As it goes over the wire.

        Raises:
            InvariantError: It was none.
        """
        begun = perf_counter()
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head[:16]:
            raise InvariantError(f"the server did not answer: {head[:80]!r}")
        told = await self.reader.readuntil(_END)
        took = 1e6 * (perf_counter() - begun)
        if b"event: done" not in told:
            raise InvariantError(f"a turn broke: {told[:200]!r}")
        return took


@asynccontextmanager
async def connected(server: ServerProcess, address: str) -> AsyncIterator[Connection]:
    """Yield a connection until the end of the block.

    Args:
        server: To which.
        address: From which of the loopback's; a server bounds what one client may write.
    """
    reader, writer = await asyncio.open_connection(
        server.host, server.port, local_addr=(address, 0)
    )
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()
