"""Calendar servers that lie: every answer ends in time and in words of ours, and nobody else waits for it."""

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from kinkeeper.connectors.caldav.address import Address
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.wire import Mark, read_answers
from kinkeeper.core.errors import InputError, KinkeeperError, UnavailableError

USER = "ana"
PATIENCE = timedelta(seconds=0.5)
_ROOT = '<multistatus xmlns="DAV:">{}</multistatus>'
_ENTITIES = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
_HEAD = b"HTTP/1.1 207 Multi-Status\r\n"


def answer(body: str | bytes, *headers: str, length: int | None = None) -> bytes:
    """Return what a server sends that answers so."""
    data = body.encode() if isinstance(body, str) else body
    lines = [*headers, f"Content-Length: {len(data) if length is None else length}"]
    return _HEAD + "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def moved(where: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nContent-Length: 0\r\n\r\n".encode()


def response(content: str) -> str:
    return _ROOT.format(f"<response>{content}</response>")


LIES = {
    "entities": answer(f'<!DOCTYPE a [<!ENTITY e0 "ha">{_ENTITIES}]><a>&e12;</a>'),
    "file": answer('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'),
    "doctype elsewhere": answer('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>'),
    "no such encoding": answer('<?xml version="1.0" encoding="rot13"?><a/>'),
    "superscript status": answer(response("<href>/a</href><status>HTTP/1.1 ²² x</status>")),
    "long status": answer(response(f"<status>HTTP/1.1 {'9' * 5000} x</status>")),
    "no answer": answer(_ROOT.format("")),
    "too long": answer(b" " * 17_000_000),
    "compressed": answer(gzip.compress(b" " * 200_000_000), "Content-Encoding: gzip"),
    "shorter than told": answer("<a/>", length=5000),
    "longer than told": answer(_ROOT.format(""), length=3),
    "negative length": answer("<a/>", length=-5),
    "endless headers": _HEAD + b"X: y\r\n" * 100_000,
    "no http": b"220 mail.example ESMTP\r\n",
    "another host": moved("http://evil.example/"),
    "another port": moved("http://127.0.0.1:9/"),
    "user in address": moved("http://127.0.0.1@evil.example/"),
    "no address": moved("http://["),
    "no port": moved("http://127.0.0.1:99999/"),
    "file address": moved("file:///etc/passwd"),
    "circle": moved("/again"),
    "home without address": answer(
        response(
            '<propstat><prop><C:calendar-home-set xmlns:C="urn:ietf:params:xml:ns:caldav"><href>http://[</href>'
            "</C:calendar-home-set></prop><status>HTTP/1.1 200 OK</status></propstat>"
        )
    ),
}


@contextmanager
def lying(data: bytes, *, drips: bool = False) -> Iterator[str]:
    """Run a server that answers everything with this; or with a byte of it now and then."""
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                while connection.recv(65_536):
                    for piece in (
                        [data] if not drips else [data[n : n + 1] for n in range(len(data))]
                    ):
                        connection.sendall(piece)
                        if drips and ended.wait(0.1):
                            return
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        ended.set()


async def looked(url: str) -> None:
    async with CalDavClient(
        Address(url=url, user=USER, password=USER), patience=PATIENCE
    ) as client:
        await client.find_calendar()


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_told_and_nothing_else_breaks(lie: str) -> None:
    with lying(LIES[lie]) as url:
        begun = time.monotonic()
        with pytest.raises(KinkeeperError) as caught:
            asyncio.run(looked(url))
        assert time.monotonic() - begun < 20
    assert "root:" not in str(caught.value)


def test_an_answer_that_trickles_in_is_given_up() -> None:
    with lying(answer(" " * 5000), drips=True) as url, pytest.raises(UnavailableError):
        asyncio.run(looked(url))


def test_a_name_that_is_no_address_does_not_stop_the_reading_of_changes() -> None:
    body = response("<href>http://[</href><propstat><prop><getetag>1</getetag></prop></propstat>")

    async def changes(url: str) -> None:
        async with CalDavClient(Address(url=url), patience=PATIENCE) as client:
            await client.changes(url, Mark(token=None, ctag=None))

    with lying(answer(body)) as url, pytest.raises(InputError, match="address"):
        asyncio.run(changes(url))


def test_others_get_their_turns_while_a_long_answer_is_read() -> None:
    async def turns() -> int:
        body, taken = _ROOT.format("<a/>" * 500_000).encode(), 0
        reading = asyncio.create_task(asyncio.to_thread(read_answers, body))
        while not reading.done():
            await asyncio.sleep(0.001)
            taken += 1
        await reading
        return taken

    assert asyncio.run(turns()) >= 10  # read in one piece it would be two or three
