"""Mail servers that lie: every call ends in time, in words of ours, and leaves other work alone."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kinkeeper.connectors.mail.account import parse_account
from kinkeeper.connectors.mail.mailbox import Mailbox
from kinkeeper.core.errors import UnavailableError
from kinkeeper.mail.model import MailQuery

PATIENCE = 2.0
Answers = Callable[[bytes, bytes], bytes | None]
"""Given the tag and the command, returns what is sent back; None sends a byte now and then."""


@contextmanager
def lying(answers: Answers) -> Iterator[str]:
    """Run a server that lets everybody in and then answers as told; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ended = threading.Event()
        thread = threading.Thread(target=_serve, args=(listening, answers, ended), daemon=True)
        thread.start()
        yield f"imap://a:b@127.0.0.1:{listening.getsockname()[1]}"
        ended.set()


def _serve(listening: socket.socket, answers: Answers, ended: threading.Event) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_talk, args=(connection, answers, ended), daemon=True).start()


def _talk(connection: socket.socket, answers: Answers, ended: threading.Event) -> None:
    with connection, connection.makefile("rb") as commands:
        try:
            connection.sendall(b"* OK [CAPABILITY IMAP4rev1] ready\r\n")
            for line in commands:
                tag, _, command = line.strip().partition(b" ")
                told = answers(tag, command)
                while told is None and not ended.wait(0.05):
                    connection.sendall(b"*")
                connection.sendall(told or b"")
        except OSError:
            return


def usual(tag: bytes, command: bytes) -> bytes:
    """Answer as a mailbox with one mail does."""
    verb = command.split()[0].upper()
    more = {
        b"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n",
        b"UID": b"* SEARCH 1\r\n",
        b"EXAMINE": b"* 1 EXISTS\r\n",
    }
    return more.get(verb, b"") + tag + b" OK done\r\n"


def instead(verb: bytes, told: bytes | None) -> Answers:
    """Answer one command otherwise."""

    def answer(tag: bytes, command: bytes) -> bytes | None:
        if not command.upper().startswith(verb):
            return usual(tag, command)
        return None if told is None else told.replace(b"TAG", tag)

    return answer


LIES = {
    "no mail": instead(b"UID FETCH", b"TAG OK done\r\n"),
    "no date": instead(b"UID FETCH", b"* 1 FETCH (UID 1 BODY[] {2}\r\nhi)\r\nTAG OK done\r\n"),
    "bad date": instead(
        b"UID FETCH", b'* 1 FETCH (UID 1 INTERNALDATE "99-Foo-0000" BODY[] "x")\r\nTAG OK done\r\n'
    ),
    "no number": instead(b"UID SEARCH", b"* SEARCH x\r\nTAG OK done\r\n"),
    "open list": instead(b"UID FETCH", b"* 1 FETCH (UID 1 (((((\r\nTAG OK done\r\n"),
    "deep list": instead(b"UID FETCH", b"* 1 FETCH " + b"(" * 50_000 + b"\r\nTAG OK done\r\n"),
    "huge literal": instead(b"UID FETCH", b"* 1 FETCH (BODY[] {9999999999}\r\n" + b"x" * 100_000),
    "long line": instead(b"UID SEARCH", b"* SEARCH " + b"1 " * 600_000 + b"\r\nTAG OK done\r\n"),
    "endless lines": instead(b"UID SEARCH", b"* OK still here\r\n" * 4_000_000),
    "wrong tag": instead(b"UID SEARCH", b"ZZZZ1 OK done\r\n"),
    "nothing": instead(b"UID SEARCH", b""),
    "a byte now and then": instead(b"UID SEARCH", None),
    "not even let in": instead(b"LOGIN", None),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_call_to_a_lying_server_ends_in_time(lie: str) -> None:
    async def look(address: str) -> None:
        box = Mailbox(parse_account(address, protocol="imap"), patience_seconds=PATIENCE)
        begun = time.monotonic()
        with pytest.raises(UnavailableError, match="the mail server"):
            await box.search(MailQuery(words=("trip",)), limit=5)
        assert time.monotonic() - begun < PATIENCE + 8
        # Whatever still waits there, the threads that everybody shares are free.
        async with asyncio.timeout(10):
            await asyncio.gather(*(asyncio.to_thread(bytes) for _ in range(20)))

    with lying(LIES[lie]) as address:
        asyncio.run(look(address))


def test_several_calls_at_once_to_a_server_that_dawdles_all_end() -> None:
    async def look(address: str) -> list[object]:
        box = Mailbox(parse_account(address, protocol="imap"), patience_seconds=PATIENCE)
        return list(
            await asyncio.gather(
                *(box.search(MailQuery(), limit=5) for _ in range(8)), return_exceptions=True
            )
        )

    with lying(LIES["a byte now and then"]) as address:
        results = asyncio.run(look(address))
    assert all(isinstance(each, UnavailableError) for each in results)
