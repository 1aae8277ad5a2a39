"""One request that came, and the means to answer it well or badly."""

import asyncio
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from modelserver.protocols import Protocol, protocol_of


@dataclass(slots=True)
class Received:
    """What was sent, byte for byte.

    Attributes:
        method: Of HTTP.
        path: With its query.
        headers: By lower-case name.
        raw: The body.
        is_cut: Set once the client closed the connection before the answer was whole.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    is_cut: threading.Event = field(default_factory=threading.Event)

    @property
    def body(self) -> dict[str, Any]:
        """The JSON that was posted."""
        found: dict[str, Any] = json.loads(self.raw)
        return found

    @property
    def texts(self) -> list[str]:
        """The texts of the call, in order."""
        return [message["content"] for message in self.body["messages"]]

    @property
    def is_streamed(self) -> bool:
        """Whether the answer is wanted in pieces."""
        return bool(self.body.get("stream"))


@dataclass(slots=True)
class Exchange:
    """A request and the connection it came on."""

    received: Received
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def protocol(self) -> Protocol:
        """Which protocol the client speaks."""
        return protocol_of(self.received.path)

    async def head(
        self, status: int = 200, *, kind: str = "application/json", **headers: str
    ) -> None:
        """Begin an answer of unknown length; the connection's end is its end."""
        named = {"Content-Type": kind, "Connection": "close"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {status} Told", *(f"{name}: {value}" for name, value in named.items())]
        await self.write("\r\n".join([*lines, "", ""]).encode())

    async def whole(self, body: bytes, status: int = 200, **headers: str) -> None:
        """Answer properly, and keep the connection."""
        named = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {status} Told", *(f"{name}: {value}" for name, value in named.items())]
        await self.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def until_cut(self) -> None:
        """Wait until the client goes away."""
        with suppress(ConnectionError):
            while await self.reader.read(1024):
                pass
        self.received.is_cut.set()

    def drop(self) -> None:
        """End the connection hard, as a machine that loses power would."""
        self.writer.transport.abort()
