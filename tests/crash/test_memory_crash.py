"""kill -9 while memory changes: no fact is lost, none half merged; the story goes on where it was."""

import random
import subprocess
import time
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.memory.invariants import check
from kinkeeper.store.store import Store
from memory_chains import memory, rows
from memory_story import step
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

KILLS = 12
PROCESS = Path(__file__).with_name("memory_process.py")


def live_for(database: Path, first: int, seconds: float) -> int:
    """Let the story go on until it is killed; return the number of the last step known to be done."""
    with Started(
        [str(PROCESS), str(database), str(first)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        last = int(process.stdout.readline())
        time.sleep(seconds)
        process.kill()
        for line in process.stdout:
            last = int(line) if line.endswith("\n") else last
    return last


def tell(conn: Connection, numbers: range) -> dict[str, list[str]]:
    """Tell these steps of the story without a kill; return what is there then."""
    for number in numbers:
        step(conn, number)
    return {table: list(found) for table, found in rows(conn).items()}


@pytest.mark.nightly
def test_killed_over_and_over_the_story_is_the_same(tmp_path: Path) -> None:
    dice = random.Random(5)  # noqa: S311 - repeatable
    database, first = tmp_path / "family.sqlite", 0
    with memory() as conn:
        for _ in range(KILLS):
            last = live_for(database, first, dice.uniform(0, 1.0))
            assert last >= first
            with Store.open(str(database)) as store:
                found = store.read_now(rows)
                assert store.read_now(lambda conn: check(conn, "h")) == []
            done = tell(conn, range(first, last + 1))
            # The step after the last that was told of is either done or not begun.
            if found != done:
                last += 1
                done = tell(conn, range(last, last + 1))
            assert found == done
            first = last + 1
    assert first > KILLS
