"""Two installations: one asks the other's calendar, over HTTP, with a token that the other made."""

import time
from pathlib import Path
from typing import Any

import pytest

from cli_program import Program
from running_server import Running, prepared, running, token, where

pytestmark = pytest.mark.slow

TEXT = "Leo has soccer on Thursday at 5pm"
_LONGEST_WAIT_SECONDS = 60


@pytest.fixture
def knowing(tmp_path: Path) -> Program:
    return _program(tmp_path / "knowing")


@pytest.fixture
def asking(tmp_path: Path) -> Program:
    """The same people and words, and an empty calendar: what is known can only come from the other one."""
    program = _program(tmp_path / "asking")
    file = program.home / "household.toml"
    text = file.read_text("utf-8")
    file.write_text(text[: text.index("[[events]]")], "utf-8")
    return program


def _program(home: Path) -> Program:
    home.mkdir()
    return prepared(Program(home))


def test_what_the_other_s_calendar_knows_is_weighed_here(knowing: Program, asking: Program) -> None:
    reader = token(knowing, "sarah", "--role", "guest", "--label", "brain")
    with running(knowing) as brain:
        _set(asking, brain, "invented")
        found = _doctor(asking)
        assert found["health"] == "warning"
        assert "BRAIN_TOKEN" in found["found"]
        assert "invented" not in str(found)
        _set(asking, brain, reader)
        assert _doctor(asking)["health"] == "ok"
        with running(asking) as server:
            heard = _heard(server, asking, number=1)
        assert heard["brain_relevance"] == 0.9
        assert brain.end() == 0
    with running(asking) as server:
        heard = _heard(server, asking, number=2)
    assert heard["brain_relevance"] is None
    assert heard["reason"] == "brain_timeout_degraded"
    assert "cannot be reached" in str(heard["steps"])
    assert _doctor(asking)["health"] == "warning"


def _set(program: Program, brain: Running, secret: str) -> None:
    (program.home / "brain_token").write_text(f"{secret}\n", "utf-8")
    settings = f"BRAIN_BASE_URL={brain.address}\nBRAIN_TOKEN_FILE=brain_token\n"
    (program.home / ".env").write_text(settings, "utf-8")


def _doctor(program: Program) -> dict[str, str]:
    [told] = program.bare("doctor", "--json", *where(program)).lines
    [found] = [check for check in told["checks"] if check["check"] == "brain"]
    return dict(found)


def _heard(server: Running, program: Program, *, number: int) -> dict[str, Any]:
    """Send the message and return what was decided about it."""
    writer = token(program, "sarah", "--role", "adult")
    message = {
        "chat_id": "family", "message_id": f"m{number}", "sender": "sarah", "text": TEXT,
        "sent_at": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
    }  # fmt: skip
    with server.client(writer) as client:
        assert client.post("/observe", json=message).status_code == 202
        deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
        while time.monotonic() < deadline:
            trace: dict[str, Any] = client.get(f"/api/messages/m{number}/trace").json()
            if trace["extraction"] is not None:
                return trace
            time.sleep(0.2)
    raise AssertionError(trace)
