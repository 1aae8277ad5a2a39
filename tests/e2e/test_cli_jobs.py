"""What the workers have to do and did, on the terminal."""

from datetime import UTC, datetime

import pytest

from cli_program import Program, message

pytestmark = pytest.mark.slow


def test_what_waits_is_counted_by_kind(program: Program) -> None:
    now = datetime.now(UTC).isoformat()
    program.observe([message(1, "sarah", "who can get Leo from soccer today?", now)], "--enqueue")
    told = program.run("jobs", "--json").value
    assert told["reading"] == {"queued": 1}
    assert told["manual_review"] == []
    assert "1 queued" in program.run("jobs").out
    program.bare("chat", "hello", "--as", "sarah", *program.where())
    assert program.run("jobs", "--json").value["answering"] == {"answered": 1}
