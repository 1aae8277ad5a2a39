"""A message that kills whatever process reads it: tried twice, then dropped and told; all else goes on."""

import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from cli_program import Program
from dying_server import DEADLY
from running_server import Running, prepared, running, token

pytestmark = [pytest.mark.slow, pytest.mark.crash]

DYING = Path(__file__).parents[1] / "dying_server.py"
LONGEST_SECONDS = 60


def ended(server: Running) -> int:
    """Wait until the server has died; returns how."""
    return server.process.wait(timeout=LONGEST_SECONDS)


def heard(server: Running, secret: str, thread: str) -> str:
    """Return what a client hears that comes back to a thread, up to its end."""
    told = ""
    with (
        server.client(secret) as client,
        client.stream("GET", f"/chat/{thread}/events?after=0") as answer,
    ):
        for line in answer.iter_lines():
            told += f"{line}\n"
            if not line and "event: error" in told:
                break
    return told


def test_a_message_that_kills_two_servers_is_dropped_by_the_third(tmp_path: Path) -> None:
    program = prepared(Program(tmp_path))
    secret = token(program, "john", "--role", "owner")
    said = {"text": f"add {DEADLY} to my to-do list", "thread": "deadly", "message_id": "m1"}
    with running(program, executable=DYING) as server, server.client(secret) as client:
        assert "event: done" in client.post("/chat", json={"text": "add milk to my list"}).text
        with suppress(httpx.HTTPError):
            client.post("/chat", json=said)
        assert ended(server) == -9
    with running(program, executable=DYING) as server:
        assert ended(server) == -9, "nobody took up what was left behind"
    with running(program, executable=DYING) as server, server.client(secret) as client:
        deadline, turn = time.monotonic() + LONGEST_SECONDS, {}
        while time.monotonic() < deadline and not turn.get("outcome"):
            history = client.get("/api/threads/deadly").json()
            turn = history["turns"][-1] if history["turns"] else {}
            time.sleep(0.2)
        assert turn.get("outcome") == "failed", turn
        assert "couldn't read that message" in heard(server, secret, "deadly")
        assert "event: done" in client.post("/chat", json={"text": "add bread to my list"}).text
        titles = [each["title"] for each in client.get("/api/tasks").json()["tasks"]]
    assert not any(DEADLY in title for title in titles)
