"""Two installations: one asks the other's calendar, over HTTP, with a token that the other made."""

from pathlib import Path

import pytest

from cli_program import Program
from running_server import Running, decided, prepared, running, token, where

pytestmark = pytest.mark.slow

TEXT = "Leo has soccer on Thursday at 5pm"


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
    own = token(asking, "sarah", "--role", "adult")
    with running(knowing) as brain:
        _set(asking, brain, "invented")
        found = _doctor(asking)
        assert found["health"] == "warning"
        assert "BRAIN_TOKEN" in found["found"]
        assert "invented" not in str(found)
        _set(asking, brain, reader)
        assert _doctor(asking)["health"] == "ok"
        with running(asking) as server:
            heard = decided(server, own, 1, TEXT)
        assert heard["brain_relevance"] == 0.9
        assert brain.end() == 0
    with running(asking) as server:
        heard = decided(server, own, 2, TEXT)
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
