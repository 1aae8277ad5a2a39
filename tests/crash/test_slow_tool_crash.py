"""kill -9 of the server while a tool of others works for a turn: the next server goes on, calls nothing again that had answered, and is stopped."""

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cli_program import Program
from model_plans import plan_answer, wants
from modelserver import computes, model_server
from modelserver.exchange import Received
from running_server import Running, prepared, running, token

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SERVER = Path(__file__).parents[1] / "foreign_tools.py"
TEXT = "please do the slow something for us, then lookup things"
LONGEST_SECONDS, MOST_ATTEMPTS = 90, 5


def plans(received: Received) -> str:
    """Plan a call that answers and one that takes long, once; know nothing of anything else."""
    if TEXT not in received.texts[-1] or "read one message" not in received.texts[0]:
        return "{}"
    calls = [("lookup", {"place": "Ulm"}), ("slow", {})]
    asked = [wants(f"weather.{name}", TEXT, **params) for name, params in calls]
    return json.dumps(plan_answer(*asked))


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def until(met: Any, what: str) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while not met():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def outcome(server: Running, secret: str, thread: str) -> dict[str, Any]:
    with server.client(secret) as client:
        turn: dict[str, Any] = client.get(f"/api/threads/{thread}").json()["turns"][0]
    return turn


def test_a_server_goes_on_where_another_was_killed(tmp_path: Path) -> None:
    program = prepared(Program(tmp_path))
    secret = token(program, "john", "--role", "owner")
    weather = {
        "command": sys.executable,
        "args": [str(SERVER), str(tmp_path)],
        "safe": ["lookup", "slow"],
        "timeout_seconds": 60,
    }
    with model_server() as models:
        models.will(computes(plans))
        settings = {
            "MCP_SERVERS": json.dumps({"weather": weather}),
            "MODEL_URL": models.url,
            "MODEL_NAME": "test-model",
        }
        with running(program, **settings) as server:
            _warm(server, secret)
            thread = _asked(server, secret, tmp_path)
            server.process.kill()
            server.process.wait()
        with running(program, **settings) as server:
            until(lambda: calls(tmp_path).count("slow") == 2, "nobody went on")
            with server.client(secret) as client:
                assert client.post(f"/chat/{thread}/stop").json() == {"stopped": 1}
            until(lambda: outcome(server, secret, thread)["outcome"], "it was not stopped")
            turn = outcome(server, secret, thread)
    assert calls(tmp_path) == ["lookup Ulm 1", "slow", "slow"]
    assert turn["outcome"] == "cancelled"
    assert "You said stop" in turn["answer"]


def _asked(server: Running, secret: str, folder: Path) -> str:
    """Ask until the slow tool is called, for a busy machine may route in vain; returns the thread."""
    for attempt in range(MOST_ATTEMPTS):
        thread = f"camp-{attempt}"
        body = {"text": TEXT, "thread": thread}
        with server.client(secret) as client, client.stream("POST", "/chat", json=body):
            pass
        until(partial(_is_decided, server, secret, thread, folder), "neither called nor answered")
        if "slow" in calls(folder):
            return thread
    raise AssertionError("the tool was not called")


def _is_decided(server: Running, secret: str, thread: str, folder: Path) -> bool:
    return "slow" in calls(folder) or outcome(server, secret, thread)["outcome"] is not None


def _warm(server: Running, secret: str) -> None:
    """Wait until the server knows the tools, and has loaded what a turn needs."""

    def known() -> bool:
        with server.client(secret) as client:
            return "weather" in client.get("/health").text

    until(known, "the tools were not looked at")
    with server.client(secret) as client:
        for text in ("add milk to my to-do list", "is the moon bright?"):
            client.post("/chat", json={"text": text, "thread": "warm"})
