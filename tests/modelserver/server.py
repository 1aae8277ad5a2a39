"""The server itself: an event loop in a thread, HTTP read by hand so that it can be broken at any byte."""

import asyncio
import json
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from modelserver.behaviours import Behaviour, says
from modelserver.exchange import Exchange, Received

_CALLS = ("/chat/completions", "/api/chat", "/embeddings", "/api/embed")


@dataclass(slots=True)
class ModelServer:
    """What a test knows of it.

    Attributes:
        url: Without a path.
        is_ollama: Whether it says that it is Ollama when asked.
        models: What it says it has.
        received: All requests, in the order of their arrival.
        at_once: Most calls that were under way at a time.
    """

    url: str = ""
    is_ollama: bool = False
    models: Sequence[str] = ("test-model",)
    received: list[Received] = field(default_factory=list)
    at_once: int = 0
    _plan: list[Behaviour] = field(default_factory=lambda: [says("hello")])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _under_way: int = 0

    @property
    def calls(self) -> list[Received]:
        """The requests that ask a model something."""
        return [each for each in self.received if each.path.endswith(_CALLS)]

    def will(self, *behaviours: Behaviour) -> None:
        """Tell what to do with the next calls; the last one stays."""
        with self._lock:
            self._plan = list(behaviours)

    async def answer(self, exchange: Exchange) -> None:
        """Do what was told."""
        self.received.append(exchange.received)
        path = exchange.received.path
        if not path.endswith(_CALLS):
            await self._tell_about_itself(exchange, path)
            return
        with self._lock:
            behave = self._plan.pop(0) if len(self._plan) > 1 else self._plan[0]
            self._under_way += 1
            self.at_once = max(self.at_once, self._under_way)
        try:
            await behave(exchange)
        finally:
            with self._lock:
                self._under_way -= 1

    async def _tell_about_itself(self, exchange: Exchange, path: str) -> None:
        if path.endswith("/v1/models"):
            data = [{"id": name, "object": "model"} for name in self.models]
            await exchange.whole(json.dumps({"object": "list", "data": data}).encode())
        elif self.is_ollama and path.endswith("/api/version"):
            await exchange.whole(b'{"version": "0.9.0"}')
        elif self.is_ollama and path.endswith("/api/tags"):
            tags = [{"name": name, "model": name} for name in self.models]
            await exchange.whole(json.dumps({"models": tags}).encode())
        else:
            await exchange.whole(b'{"error": "not found"}', 404)


@contextmanager
def model_server(
    *, is_ollama: bool = False, tls: ssl.SSLContext | None = None
) -> Iterator[ModelServer]:
    """Run one on a free loopback port until the end of the block; with a certificate, over TLS."""
    server = ModelServer(is_ollama=is_ollama)
    ready, stop = threading.Event(), []

    async def serve() -> None:
        ended = asyncio.Event()
        stop.append((asyncio.get_running_loop(), ended))
        listening = await asyncio.start_server(
            lambda *ends: _talk(server, *ends), "127.0.0.1", 0, ssl=tls
        )
        server.url = (
            f"{'https' if tls else 'http'}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        )
        ready.set()
        await ended.wait()
        listening.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="model-server")
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop, ended = stop[0]
        loop.call_soon_threadsafe(ended.set)
        thread.join()


async def _talk(
    server: ModelServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    # The end of the server cancels what is still connected.
    with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while not writer.is_closing():
            received = await _read(reader)
            await server.answer(Exchange(received, reader, writer))
    writer.close()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = dict(line.split(": ", 1) for line in lines)
    named = {name.lower(): value for name, value in headers.items()}
    raw = await reader.readexactly(int(named.get("content-length", "0")))
    return Received(method, path, named, raw)
