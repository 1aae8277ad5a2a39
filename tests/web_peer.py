"""The outside, on loopback: one HTTP server that is several hosts at once, a search engine among them, and notes what it is asked.

Hosts are told apart by the Host header; `resolve` leads all of their names to this machine.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

HERE = "127.0.0.1"


@dataclass(slots=True, kw_only=True)
class Reply:
    """What a page answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    write: Callable[[Any], None] | None = None


def page(*lines: str, title: str = "A page", **headers: str) -> Reply:
    """Return a page of HTML with these paragraphs; those that begin with # are headings."""
    body = "".join(
        f"<h2>{each[1:]}</h2>" if each[:1] == "#" else f"<p>{each}</p>" for each in lines
    )
    html = (
        f"<html><head><title>{title}</title><style>p {{}}</style></head><body>{body}</body></html>"
    )
    told = {"Content-Type": "text/html; charset=utf-8", **headers}
    return Reply(body=html.encode(), headers=told)


@dataclass(slots=True, kw_only=True)
class WebPeer:
    """Hosts and what they answer.

    Attributes:
        pages: By host and path: "museum.example/hours".
        hits: What the search engine answers.
        asked: Host and path with query of every request, in order.
    """

    port: int = 0
    pages: dict[str, Reply] = field(default_factory=dict)
    hits: list[dict[str, str]] = field(default_factory=list)
    search_body: bytes | None = None
    asked: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)

    @property
    def engine(self) -> str:
        """The address of the search engine."""
        return f"http://{HERE}:{self.port}/searx"

    @property
    def queries(self) -> list[str]:
        """What was searched for."""
        asked = (parse_qs(urlsplit(each).query) for each in self.asked if "/searx/search?" in each)
        return [each["q"][0] for each in asked]

    @property
    def visits(self) -> list[str]:
        """The pages that were asked for."""
        return [each for each in self.asked if "/searx/" not in each]

    def at(self, place: str) -> str:
        """Return the address of a place."""
        host, _, path = place.partition("/")
        return f"http://{host}:{self.port}/{path}"

    async def resolve(self, host: str, _port: int) -> Sequence[str]:
        """Lead every name to this machine."""
        self.looked_up.append(host)
        return [HERE]

    def reply(self, host: str, path: str) -> Reply:
        """Return what is answered, and note that it was asked."""
        self.asked.append(f"{host}{path}")
        if path.startswith("/searx/search?"):
            body = self.search_body or json.dumps({"results": self.hits}).encode()
            return Reply(body=body, headers={"Content-Type": "application/json"})
        return self.pages.get(f"{host}{path}", Reply(status=404))


@contextmanager
def web_peer() -> Iterator[WebPeer]:
    """Serve until the block ends."""
    peer = WebPeer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers["Host"].rpartition(":")[0] or self.headers["Host"]
            peer.sent.append(f"{self.path}\n{self.headers}")
            reply = peer.reply(host, self.path)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.write is None:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            try:
                if reply.write is not None:
                    reply.write(self.wfile)
                else:
                    self.wfile.write(reply.body)
            except OSError:
                pass  # Whoever asked had enough.

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer((HERE, 0), Handler)
    server.daemon_threads = True
    peer.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
