"""`kinkeeper goals` as people run it."""

import signal
import time

import pytest

from cli_program import Program

pytestmark = pytest.mark.slow

LONGEST_WAIT_SECONDS = 60


def test_a_goal_is_added_shown_paused_and_stopped(program: Program) -> None:
    made = program.run("goals", "add", "a swimming course for Leo", "--json").value
    assert (made["status"], made["goal"]["kind"]) == ("done", "find")
    program.run("goals", "add", "the museum's hours", "--watch")
    asked = program.run("goals", "add", "Do we book?", "--ask-at", "tomorrow 5pm", "--json").value
    assert "T17:00:00" in asked["goal"]["next_at"]
    listed = program.run("goals", "--json").value
    assert {(each["title"], each["kind"]) for each in listed} == {
        ("a swimming course for Leo", "find"),
        ("the museum's hours", "watch"),
        ("Do we book?", "ask"),
    }
    assert program.run("goals", "list", "--as", "leo", "--json").value == []
    shown = program.run("goals", "show", "swimming")
    assert (shown.code, "pending, 0% done" in shown.out) == (0, True)
    for verb, told in (("pause", "Pause"), ("resume", "Go on with"), ("cancel", "Stop")):
        done = program.run("goals", verb, made["goal"]["id"][:8])
        assert (done.code, done.out) == (0, f"{told}: a swimming course for Leo\n")
    assert len(program.run("goals", "--json").value) == 2
    assert len(program.run("goals", "list", "--all", "--json").value) == 3
    assert "work on goals" in program.run("jobs").out


def test_what_goes_wrong_is_told_in_a_line(program: Program) -> None:
    assert program.run("goals", "add", "x", "--ask-at", "blue").code == 2
    assert program.run("goals", "add", "x", "--watch", "--ask-at", "friday").code == 2
    none = program.run("goals", "cancel", "the roof")
    assert (none.code, "roof" in none.err) == (1, True)


def test_a_worker_works_on_goals(program: Program) -> None:
    (program.home / ".env").write_text("QUIET_HOURS=00:00-00:00\n")  # works by the wall clock
    program.run("goals", "add", "a swimming course for Leo")
    worker = program.start("worker")
    try:
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while (found := program.run("goals", "list", "--all", "--json").value)[0][
            "status"
        ] != "completed":
            assert time.monotonic() < deadline, found
            assert worker.poll() is None, worker.communicate()[1]
    finally:
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=60)
    assert worker.returncode == 0, err
    assert program.run("jobs", "--json").value["goals"] == {"cycles": 1, "steps": 1, "told": 1}
