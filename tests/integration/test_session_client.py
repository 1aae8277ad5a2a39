"""The library that posts sessions: it never waits for the server, and loses nothing."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from kinkeeper.client import REFUSED, ROUTE, Sessions
from kinkeeper.core.errors import InputError

SOON = timedelta(seconds=10)
SAID = datetime(2026, 3, 2, 8, tzinfo=UTC)


@dataclass(slots=True)
class Listening:
    """A server that remembers what was posted, and answers as it is told."""

    status: int = 202
    hold: threading.Event = field(default_factory=threading.Event)
    posted: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    url: str = ""

    def ids(self) -> list[str]:
        return [body["messageId"] for _, _, body in self.posted]


@contextmanager
def listening(port: int = 0) -> Iterator[Listening]:
    heard = Listening()
    heard.hold.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.posted.append((self.path, self.headers["Authorization"], body))
            heard.hold.wait(10)
            status = heard.status
            if body["contentSessionId"] == "poison":
                status = 500
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        heard.url = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        try:
            yield heard
        finally:
            heard.hold.set()
            server.shutdown()
            serving.join()


def test_a_pair_arrives_with_all_that_was_said_about_it(tmp_path: Path) -> None:
    with (
        listening() as heard,
        Sessions(heard.url, "key", folder=tmp_path, source="notes", channel="cli") as sessions,
    ):
        number = sessions.post("s1", "hi", "hello", said_at=SAID, metadata={"a": 1})
        assert sessions.flush(SOON)
    [(path, login, body)] = heard.posted
    assert (path, login) == (ROUTE, "Bearer key")
    assert body == {
        "contentSessionId": "s1",
        "userMessage": "hi",
        "assistantResponse": "hello",
        "messageId": number,
        "timestamp": "2026-03-02T08:00:00+00:00",
        "metadata": {"a": 1},
        "source": "notes",
        "channel": "cli",
    }


def test_posting_does_not_wait_for_a_slow_server(tmp_path: Path) -> None:
    with listening() as heard, Sessions(heard.url, "key", folder=tmp_path) as sessions:
        heard.hold.clear()
        begun = perf_counter()
        for number in range(20):
            sessions.post("s1", f"message {number}")
        assert perf_counter() - begun < 10, "as long as it waits for one answer"
        assert sessions.waiting() == 20
        heard.hold.set()
        assert sessions.flush(SOON)
    assert [body["userMessage"] for _, _, body in heard.posted] == [
        f"message {n}" for n in range(20)
    ]


def test_what_a_server_that_is_away_could_not_get_it_gets_later(tmp_path: Path) -> None:
    with listening() as gone:
        url, port = gone.url, int(gone.url.rsplit(":", 1)[1])
    with Sessions(url, "key", folder=tmp_path) as sessions:
        sent = [sessions.post("s1", "one"), sessions.post("s1", "two")]
        assert not sessions.flush(timedelta(seconds=0.2))
    assert len(list(tmp_path.glob("*.json"))) == 2
    with listening(port) as heard, Sessions(url, "key", folder=tmp_path) as again:
        assert again.flush(SOON)
    assert heard.ids() == sent


def test_one_pair_that_the_server_fails_at_holds_up_no_other(tmp_path: Path) -> None:
    with listening() as heard, Sessions(heard.url, "key", folder=tmp_path) as sessions:
        sessions.post("poison", "one")
        sessions.post("s1", "two")
        while "s1" not in {body["contentSessionId"] for _, _, body in heard.posted}:
            assert not sessions.flush(timedelta(seconds=0.05))
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_what_the_server_will_never_take_is_put_aside_with_its_answer(tmp_path: Path) -> None:
    with listening() as heard, Sessions(heard.url, "key", folder=tmp_path) as sessions:
        heard.status = 400
        sessions.post("s1", "one")
        assert sessions.flush(SOON)
    kept = {path.suffix for path in (tmp_path / REFUSED).iterdir()}
    assert kept == {".json", ".answer"}


def test_a_pair_without_words_is_refused_at_once(tmp_path: Path) -> None:
    with Sessions("http://127.0.0.1:9", "key", folder=tmp_path) as sessions:
        with pytest.raises(InputError):
            sessions.post("s1", "")
        with pytest.raises(InputError):
            sessions.post("", "hi")


KILLED = """
import sys
from pathlib import Path
from kinkeeper.client import Sessions
sessions = Sessions(sys.argv[1], "key", folder=Path(sys.argv[2]))
for number in range(1000):
    print(sessions.post("s1", f"message {number}"), flush=True)
"""


@pytest.mark.slow
@pytest.mark.crash
def test_a_killed_program_loses_no_pair_that_it_posted(tmp_path: Path) -> None:
    with listening() as heard:
        program = subprocess.Popen(
            [sys.executable, "-c", KILLED, heard.url, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None
        posted = [program.stdout.readline().strip() for _ in range(60)]
        program.send_signal(signal.SIGKILL)
        posted += program.stdout.read().split()
        program.wait()
        program.stdout.close()
        with Sessions(heard.url, "key", folder=tmp_path) as sessions:
            assert sessions.flush(SOON)
    assert set(posted) <= set(heard.ids())
