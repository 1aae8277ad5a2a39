"""Messages taken in by one process are understood by another."""

import signal
import time
from datetime import UTC, datetime

import pytest

from cli_program import Program, message

pytestmark = pytest.mark.slow

LONGEST_WAIT_SECONDS = 60


def test_a_worker_understands_what_was_taken_in_and_stops_when_told(program: Program) -> None:
    # Workers live on the wall clock, where the words of old messages are purged.
    now = datetime.now(UTC).isoformat()
    rows = [message(1, "sarah", "Leo has the dentist tomorrow at 4pm", now), {"chat_id": 1}]
    taken = program.observe(rows, "--enqueue")
    assert taken.code == 2
    assert taken.lines[0]["tier1_decision"] == "QUEUE"
    assert taken.lines[0]["extraction"] is None
    assert taken.lines[1]["line"] == 2
    assert program.run("pending", "--json").value == []
    worker = program.start("worker")
    try:
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while not program.run("pending", "--json").value:
            assert time.monotonic() < deadline, "the worker understood nothing"
            assert worker.poll() is None, worker.communicate()[1]
    finally:
        worker.send_signal(signal.SIGTERM)
        out, err = worker.communicate(timeout=60)
    assert worker.returncode == 0, err
    assert out == b""
    assert b"Traceback" not in err
    assert "Saved for approval" in program.run("why", "m1").out


def test_a_second_worker_on_one_file_is_refused(program: Program) -> None:
    assert program.observe([]).code == 0
    with program.start("worker") as first:
        try:
            assert first.stderr is not None
            assert b"running jobs" in first.stderr.readline()
            second = program.run("worker")
        finally:
            first.send_signal(signal.SIGTERM)
    assert second.code == 1
    assert "process" in second.err
