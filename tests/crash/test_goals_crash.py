"""kill -9 of the work on goals, at any moment: no step that is done is done again, nothing is told twice, none is lost."""

import random
import shutil
import subprocess
from pathlib import Path
from time import sleep

import pytest
from sqlalchemy import Connection

from asking import FAMILY, NOW, RUTH
from goal_home import PLAN, GoalHome
from kinkeeper.actions import approvals
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.goals.model import GoalStatus, StepState
from kinkeeper.household.viewers import Viewer
from modelserver import computes, model_server
from step_models import Shown, answer, choosing
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = Path(__file__).with_name("goals_process.py")
IDS = {str(each["id"]) for each in PLAN}
END = "2026-11-11T18:00"
KILLS = 24
PAGE_KILLS = 8
MODEL_KILLS = 10


def work(
    path: Path, *, lines: int | None = None, wait: float = 0, model: str | None = None
) -> list[str]:
    """Work on the goals of a file; killed some seconds after some lines. Returns what it said.

    Args:
        model: Address of the model that does the steps; None where rules do.
    """
    said = []
    arguments = [str(SCRIPT), str(path), NOW.isoformat(), END, *([model] if model else ())]
    with Started(arguments, stdout=subprocess.PIPE, text=True) as process:
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


def cards(path: Path, *, says_yes: bool = False) -> list[ActionStatus]:
    """Return how the questions about pages stand, after a yes to those that wait, if wanted."""
    home, whole = GoalHome(path), Viewer.whole(FAMILY.id)

    def decide(conn: Connection) -> list[ActionStatus]:
        found = list_actions(conn, whole, statuses=frozenset(ActionStatus), now=NOW)
        asked = [each for each in found if each.proposal.request["action"] == "read_page"]
        for each in asked if says_yes else ():
            if each.status is ActionStatus.PENDING:
                approvals.confirm(conn, each.id, member=RUTH, household=FAMILY, now=NOW)
        return [each.status for each in asked]

    stands = home.store.write_now(decide)
    home.store.close()
    return stands


def test_a_page_is_asked_for_once_and_not_read_again_once_that_is_written_down(
    tmp_path: Path,
) -> None:
    before = GoalHome(tmp_path / "before.db")
    before.thread("thread-1")
    before.want("the opening hours of the lido")
    before.store.close()
    chance = random.Random(11)  # noqa: S311 - when to kill
    for number in range(PAGE_KILLS):
        path = tmp_path / f"{number}.db"
        shutil.copy(tmp_path / "before.db", path)
        wait = chance.choice((0, 0.001, 0.005, 0.02))
        work(path, lines=1 + number % 3, wait=wait)
        work(path)
        assert cards(path, says_yes=True) == [ActionStatus.PENDING]
        killed = work(path, lines=1 + number % 3, wait=wait)
        is_done = all(done for _, done in left(path)[0])
        rest = work(path)
        assert "asks" not in [*killed, *rest]
        assert ("fetched" in rest) is not is_done
        stands, told = left(path)
        assert [status for status, _ in stands] == [GoalStatus.COMPLETED]
        assert len(told) == len({*told}) == 2
        assert cards(path) == [ActionStatus.DONE]


KNOWN = (
    "the museum has its hours from nine to five",
    "prices of five trains are at the station office",
    "the best hotel near water is the Blue Heron",
    "everything we need to write down is on the fridge list",
    "Grandma is told when we come by telephone",
)


def looks_twice(seen: Shown) -> str:
    """Look at home once more, then choose the first line."""
    is_begun = len(seen["looked"]) == 1
    return answer(*[1] * bool(seen["lines"]), look="home" if is_begun else "", words="museum hours")


def test_a_model_that_is_killed_at_work_begins_the_step_again_and_no_other(tmp_path: Path) -> None:
    before = GoalHome(tmp_path / "before.db")
    before.thread("thread-1")
    for value in KNOWN:
        assert before.desk.ask("memory.store", {"value": value}).error is None
    before.want("a week at the sea", steps=PLAN, confidence=0.8)
    before.store.close()
    chance, in_between = random.Random(13), 0  # noqa: S311 - when to kill
    with model_server() as models:
        models.will(computes(choosing(looks_twice)))
        shutil.copy(tmp_path / "before.db", tmp_path / "whole.db")
        whole = work(tmp_path / "whole.db", model=models.url)
        assert whole.count("a call") == 2 * len(PLAN)
        finished = left(tmp_path / "whole.db")
        assert any("nine to five" in text for text in finished[1])
        for number in range(MODEL_KILLS):
            path = tmp_path / f"{number}.db"
            shutil.copy(tmp_path / "before.db", path)
            lines, wait = chance.randint(1, len(whole) - 1), chance.choice((0, 0.001, 0.005, 0.02))
            killed = work(path, lines=lines, wait=wait, model=models.url)
            in_between += killed[-1] in {"a call", "an answer"}
            stands, told = left(path)
            done = {each for _, steps in stands for each in steps}
            rest = work(path, model=models.url)
            assert {each for each in rest if each in IDS}.isdisjoint(done), (killed, rest)
            assert {each for each in [*killed, *rest] if each in IDS} == IDS
            again = left(path)
            assert again[0] == finished[0]
            assert again[1][: len(told)] == told
            assert len(again[1]) == len({*again[1]}) >= 1
        assert in_between >= MODEL_KILLS / 3
