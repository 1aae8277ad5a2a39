"""A brain on a loopback port that keeps every byte it was sent and answers as it is told. Not a test itself."""

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

Script = Callable[[socket.socket], None]

_LONGEST_HEAD = 1 << 20


def answering(body: bytes, *, status: str = "200 OK", head: str = "") -> Script:
    """Answer with this body."""

    def script(connection: socket.socket) -> None:
        size = f"Content-Length: {len(body)}\r\n"
        connection.sendall(f"HTTP/1.1 {status}\r\n{size}{head}\r\n".encode() + body)

    return script


def saying(**answer: Any) -> Script:
    """Answer with this JSON object."""
    return answering(json.dumps(answer).encode(), head="Content-Type: application/json\r\n")


KNOWS_NOTHING = saying(relevance=0.0, summary="nothing is known", items=[])


@dataclass(slots=True)
class BrainStub:
    """A running one."""

    url: str
    script: Script = KNOWS_NOTHING
    received: list[bytes] = field(default_factory=list)
    until_end: threading.Event = field(default_factory=threading.Event)

    @property
    def questions(self) -> list[dict[str, str]]:
        """The parameters of each request, in order."""
        targets = [request.split(b" ", 2)[1].decode() for request in self.received]
        return [
            {name: one for name, [one] in parse_qs(urlsplit(target).query).items()}
            for target in targets
        ]


def silent(stub: BrainStub) -> Script:
    """Never answer, as long as the stub runs."""
    return lambda _: (stub.until_end.wait(), None)[1]


def dripping(stub: BrainStub) -> Script:
    """Answer a byte at a time, for ever."""

    def script(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
        with suppress(OSError):
            while not stub.until_end.wait(0.05):
                connection.sendall(b" ")

    return script


@contextmanager
def brain_stub() -> Iterator[BrainStub]:
    """Run one for the length of the block."""
    stub = BrainStub(url="")

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            request = b""
            while b"\r\n\r\n" not in request and len(request) < _LONGEST_HEAD:
                piece = self.request.recv(65536)
                if not piece:
                    return
                request += piece
            stub.received.append(request)
            with suppress(OSError):
                stub.script(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        stub.url = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        try:
            yield stub
        finally:
            stub.until_end.set()
            server.shutdown()
            serving.join()
