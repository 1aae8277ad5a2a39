"""kill -9 in the middle of a replay, again and again: the end is the same as without.

500 messages; REPLAY_CRASH_MESSAGES asks for more.
"""

import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from family_chat import FILES, everything
from family_phrases import chat_lines, write_chat
from kinkeeper.store.store import Store
from same_tables import assert_same_tables
from warm_start import PROGRAM, Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

MESSAGES = int(os.environ.get("REPLAY_CRASH_MESSAGES", "500"))
KILLS = 5
START = "2026-03-02T07:00:00-06:00"


def observing(chat: Path, database: Path) -> "subprocess.Popen[str]":
    return Started(
        [PROGRAM, "observe", str(chat), "--household", str(FILES["miller"]), "--db", str(database)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_to_the_end(chat: Path, database: Path) -> list[str]:
    with observing(chat, database) as process:
        out, err = process.communicate(timeout=900)
    assert process.returncode == 0, err
    return out.splitlines()


def state_of(database: Path) -> dict[str, list[Any]]:
    with Store.open(str(database)) as store:
        return store.read_now(everything)


def kill_after(process: "subprocess.Popen[str]", lines: int, seconds: float) -> str:
    """Kill -9 a moment after so many lines; return what it complained of."""
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        pass
    process.kill()
    return process.communicate()[1]


def moments(dice: random.Random) -> Iterator[tuple[int, float]]:
    """Yield after how many lines, and what part of a message later, to kill: near the start, too."""
    yield 0, 0.0
    yield 1, 0.0
    for step in range(1, KILLS - 1):
        yield dice.randint(1, MESSAGES * step // KILLS), dice.uniform(0, 0.02)


@pytest.mark.nightly
def test_a_replay_killed_over_and_over_ends_as_an_uninterrupted_one(tmp_path: Path) -> None:
    chat = write_chat(
        tmp_path / "chat.jsonl", chat_lines("miller", MESSAGES, seed=1, start=START, short=True)
    )
    wanted_lines = run_to_the_end(chat, tmp_path / "whole.sqlite")
    wanted = state_of(tmp_path / "whole.sqlite")
    assert len(wanted["messages"]) == len(wanted["observer_messages"]) == MESSAGES
    assert len(wanted["pending_actions"]) > MESSAGES // 20
    assert len(wanted["outbox"]) > MESSAGES // 500

    database = tmp_path / "killed.sqlite"
    for lines, seconds in moments(random.Random(2)):  # noqa: S311 - repeatable
        with observing(chat, database) as process:
            complaint = kill_after(process, lines, seconds)
        assert process.returncode == -9, f"it ended by itself, which shows nothing: {complaint}"
    lines_again = run_to_the_end(chat, database)

    found = state_of(database)
    assert set(found) == set(wanted)
    assert_same_tables(found, wanted)
    # A repeated line shows what became of its card meanwhile; each message has its line all the same.
    assert answered(lines_again) == answered(wanted_lines)


def answered(lines: list[str]) -> list[str]:
    """Return the ids of the messages that have a line of their own."""
    records = [json.loads(line) for line in lines]
    return [record["message_id"] for record in records if "event" not in record]
