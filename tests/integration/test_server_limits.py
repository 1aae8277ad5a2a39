"""What a server that runs does about clients that hold on to it."""

import asyncio
import json
import socket
import time
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli_program import Program
from kinkeeper.connectors.tools.connection import opened, reason_of
from kinkeeper.core.time import VirtualClock
from kinkeeper.store.store import Store
from kinkeeper.web import probes
from kinkeeper.web.guard import HEADER_SECONDS
from kinkeeper.web.probes import DatabaseCheck
from running_server import Running, prepared, running, token, where
from tool_servers import over_http

pytestmark = pytest.mark.slow

HALF_OPEN = 200
MOST_STREAMS = 20


def connected(server: Running, said: bytes) -> socket.socket:
    """Return a connection on which a part of a request was sent."""
    host, _, port = server.address.removeprefix("http://").partition(":")
    held = socket.create_connection((host, int(port)), timeout=HEADER_SECONDS + 30)
    held.sendall(said)
    return held


def test_connections_without_whole_headers_are_closed(tmp_path: Path) -> None:
    with running(prepared(Program(tmp_path))) as server, ExitStack() as stack:
        parts = (b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        began = time.monotonic()
        held = [
            stack.enter_context(closing(connected(server, parts[number % len(parts)])))
            for number in range(HALF_OPEN)
        ]
        again = stack.enter_context(
            closing(connected(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        )
        assert again.recv(100).startswith(b"HTTP/1.1 200")
        again.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        assert server.get("/readyz").status_code == 200
        for each in held:
            with suppress(ConnectionResetError):
                assert each.recv(1) == b""
        assert time.monotonic() - began >= HEADER_SECONDS - 1, "closed before its time"
        with suppress(ConnectionResetError):
            while again.recv(4096):
                pass
        assert server.get("/healthz").status_code == 200


def test_one_person_holds_a_limited_number_of_streams(tmp_path: Path) -> None:
    program = prepared(Program(tmp_path))
    john, sarah = token(program, "john"), token(program, "sarah")
    with running(program) as server, ExitStack() as stack:
        johns, sarahs = (stack.enter_context(server.client(each)) for each in (john, sarah))
        threads, pieces = {}, []
        for client in (johns, sarahs):
            answer = client.post("/chat", json={"text": "hello", "thread": f"t{id(client)}"})
            threads[client] = answer.headers["X-Thread"]
        path = f"/chat/{threads[johns]}/events"
        for number in range(MOST_STREAMS):
            where = path if number % 2 else "/live"
            held = stack.enter_context(johns.stream("GET", where))
            assert held.status_code == 200
            pieces.append(held.iter_bytes())  # one that is thrown away closes its stream
            next(pieces[-1])
        assert johns.get(path).status_code == 429
        assert johns.get("/live").status_code == 429
        with sarahs.stream("GET", f"/chat/{threads[sarahs]}/events") as other:
            assert other.status_code == 200


def test_tokens_expire_unless_asked_otherwise(tmp_path: Path) -> None:
    program = prepared(Program(tmp_path))
    for words, lasts in (((), True), (("--expires", "30"), True), (("--expires", "never"), False)):
        made = program.bare("token", "create", "john", "--json", *words, *where(program))
        assert (json.loads(made.out)["expires_at"] is not None) is lasts
    for wrong in ("0", "soon", "-5", "9999999"):
        assert program.bare("token", "create", "john", f"--expires={wrong}", *where(program)).code
    told = program.bare("doctor", *where(program)).out
    assert "1 of 3 API tokens never expire" in " ".join(told.split())


def test_a_full_disk_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(str(tmp_path / "family.db")) as store:
        clock = VirtualClock(datetime(2026, 3, 2, 15, tzinfo=UTC))
        ready = DatabaseCheck(store, clock)
        assert asyncio.run(ready()) is None
        monkeypatch.setattr(probes, "_LEAST_FREE", 1 << 62)  # more than any disk has
        clock.advance_to(clock.now() + timedelta(minutes=1))
        assert asyncio.run(ready()) == "the disk is full"


def test_an_endless_answer_of_a_tool_is_cut_off(tmp_path: Path) -> None:
    async def ask() -> None:
        async with over_http(tmp_path) as server, opened(server) as client:
            await client.call("endless", {})

    with pytest.raises(BaseExceptionGroup) as caught:
        asyncio.run(ask())
    assert "longer than" in reason_of(caught.value)
