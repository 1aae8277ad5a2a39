"""kill -9 of a night of memory, at any moment: the night is finished or not begun, and the next one finishes it."""

import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from time import sleep

import pytest
from sqlalchemy import Connection, func, select

from kinkeeper.memory.tables import (
    facts,
    memory_change_sets,
    memory_changes,
    memory_questions,
    memory_runs,
    memory_verdicts,
    statements,
)
from kinkeeper.store.store import Store
from memory_nights import Memory, day, meaning, tools_of_tests, unlike
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = Path(__file__).with_name("night_process.py")
NIGHT = day(130)
LEFT = (facts, statements, memory_verdicts, memory_questions, memory_change_sets)
NAMES = ("Abe", "Bea", "Cal", "Deb", "Eli", "Fay", "Gil", "Hal", "Ivy", "Jim", "Kay", "Lou")
# How many steps are let begin, and how many milliseconds more it lives.
KILLS = [(1, 0), (4, 2), *((7, wait) for wait in (0, 3, 12, 30, 80))]


def filled(path: Path) -> None:
    with Store.open(str(path)) as store:
        memory = Memory(store, tools_of_tests())
        for text in unlike(40):
            memory.say(text, day(0))
        for number in range(len(NAMES)):
            home = f"Cousin {NAMES[number]} lives in"
            for place, text in enumerate((f"{home} Leeds", f"{home} York now")):
                memory.forget_meeting_points()
                (fact,) = memory.say(text, day(100 + place))
                memory.place("fact", fact.id, meaning(home, twist=text))


def left(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that a night may change; when a run was made does not count.

    Images of rows that are too old to be put back go in a commit of their own after the night: only
    the night's own count.
    """

    def read(conn: Connection) -> dict[str, list[tuple[object, ...]]]:
        rows = {
            table.name: sorted((tuple(row) for row in conn.execute(select(table))), key=str)
            for table in LEFT
        }
        own = memory_changes.join(
            memory_runs,
            (memory_runs.c.household == memory_changes.c.household)
            & (memory_runs.c.change_set == memory_changes.c.change_set),
        )
        images = conn.execute(select(memory_changes).select_from(own))
        rows["images"] = sorted((tuple(row) for row in images), key=str)
        states = conn.execute(select(memory_runs.c.id, memory_runs.c.state, memory_runs.c.to_seq))
        return rows | {"runs": sorted((tuple(row) for row in states), key=str)}

    with Store.open(str(path)) as store:
        return store.read_now(read)


def images_left(path: Path) -> int:
    """How many images of rows are kept."""
    with Store.open(str(path)) as store:
        return store.read_now(
            lambda conn: conn.execute(select(func.count()).select_from(memory_changes)).scalar_one()
        )


def statuses(rows: dict[str, list[tuple[object, ...]]]) -> set[tuple[object, object]]:
    """Which facts stand how."""
    identity, status = (facts.c.keys().index(name) for name in ("id", "status"))
    return {(row[identity], row[status]) for row in rows["facts"]}


def night(path: Path, *, steps: int | None = None, wait: float = 0) -> bool:
    """Run a night; killed after some steps. Returns whether it said that it was done."""
    with Started(
        [str(SCRIPT), str(path), NIGHT.isoformat()], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line.strip())
            if len(said) == steps:
                sleep(wait)
                process.kill()
    return "done" in said


def differences(
    now: dict[str, list[tuple[object, ...]]], then: dict[str, list[tuple[object, ...]]]
) -> dict[str, tuple[object, object]]:
    """Return the first row of each table that only one of both has."""
    return {
        name: (
            next((row for row in now[name] if row not in then[name]), None),
            next((row for row in then[name] if row not in now[name]), None),
        )
        for name in then
        if now[name] != then[name]
    }


def test_a_killed_night_is_finished_or_not_begun(tmp_path: Path) -> None:
    filled(tmp_path / "before.db")
    begun = left(tmp_path / "before.db")
    shutil.copy(tmp_path / "before.db", tmp_path / "whole.db")
    assert night(tmp_path / "whole.db")
    finished = left(tmp_path / "whole.db")
    assert finished["facts"] != begun["facts"]
    seen = set()
    for number, (steps, wait) in enumerate(KILLS):
        path = tmp_path / f"{number}.db"
        shutil.copy(tmp_path / "before.db", path)
        night(path, steps=steps, wait=wait / 1000)
        now = left(path)
        assert now in (begun, finished), differences(now, finished)
        seen.add(now == finished)
        with Store.open(str(path)) as store:
            Memory(store).night(NIGHT + timedelta(minutes=1), is_agreed=True)
        again = left(path)
        assert statuses(again) == statuses(finished)
        assert images_left(path) == images_left(tmp_path / "whole.db")
    assert False in seen
