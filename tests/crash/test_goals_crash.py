"""kill -9 of the work on goals, at any moment: no step that is done is done again, nothing is told twice, none is lost."""

import random
import shutil
import subprocess
from pathlib import Path
from time import sleep

import pytest

from asking import NOW
from goal_home import PLAN, GoalHome
from kinkeeper.goals.model import GoalStatus, StepState
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = Path(__file__).with_name("goals_process.py")
END = "2026-11-11T18:00"
KILLS = 24


def work(path: Path, *, lines: int | None = None, wait: float = 0) -> list[str]:
    """Work on the goals of a file; killed some seconds after some lines. Returns what it said."""
    said = []
    with Started(
        [str(SCRIPT), str(path), NOW.isoformat(), END], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.strip())
            if len(said) == lines:
                sleep(wait)
                process.kill()
    return said


def left(path: Path) -> tuple[list[tuple[GoalStatus, set[str]]], list[str]]:
    """Return how goals stand, with the steps that are done, and all that was told."""
    home = GoalHome(path)
    stands = [
        (each.status, {step.id for step in each.progress.steps if step.state is StepState.DONE})
        for each in home.goals
    ]
    told = [text for _, text in home.said]
    home.store.close()
    return stands, told


def test_no_step_is_done_twice_and_nothing_told_twice(tmp_path: Path) -> None:
    before = GoalHome(tmp_path / "before.db")
    before.thread("thread-1")
    before.want("a week at the sea", steps=PLAN, confidence=0.8)
    before.want("a swimming course for Nia")
    before.store.close()
    shutil.copy(tmp_path / "before.db", tmp_path / "whole.db")
    assert work(tmp_path / "whole.db")[-1] == "done"
    finished = left(tmp_path / "whole.db")
    assert len(finished[1]) == 3
    assert all(status is GoalStatus.COMPLETED for status, _ in finished[0])
    chance = random.Random(7)  # noqa: S311 - when to kill
    for number in range(KILLS):
        path = tmp_path / f"{number}.db"
        shutil.copy(tmp_path / "before.db", path)
        said: list[str] = []
        for _ in range(2):
            known, told = left(path)
            now = work(
                path, lines=chance.randint(1, 12), wait=chance.choice((0, 0.001, 0.005, 0.02))
            )
            begun = {each for each in now if " " not in each and each != "done"}
            assert begun.isdisjoint({each for _, done in known for each in done}), (known, now)
            assert left(path)[1][: len(told)] == told
            said += now
        said += work(path)
        assert said[-1] == "done"
        again = left(path)
        assert again[0] == finished[0]
        assert sorted(again[1]) == sorted({*again[1]})
        assert len(again[1]) in {2, 3}
        assert {text.splitlines()[0] for text in again[1]} >= {
            text.splitlines()[0] for text in finished[1] if text.startswith("About")
        }
