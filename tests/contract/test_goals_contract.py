"""What goals and the work on them promise on either database."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from asking import FAMILY, NOW
from goal_home import PLAN, GoalHome
from kinkeeper.core.errors import ConflictError
from kinkeeper.core.time import as_utc
from kinkeeper.goals import repository
from kinkeeper.goals.model import (
    Goal,
    GoalKind,
    GoalPriority,
    GoalStatus,
    Progress,
    Source,
    Step,
    StepState,
)
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.store.store import Store

WHOLE = Viewer.whole(FAMILY.id)


def goal(name: str, text: str, **fields: object) -> Goal:
    plain = Goal(
        id=name,
        household=FAMILY.id,
        member="ruth",
        scope=person_scope("ruth"),
        kind=GoalKind.FIND,
        text=text,
        created_at=as_utc(NOW),
        expires_at=as_utc(NOW) + timedelta(days=14),
        progress=Progress(steps=(Step(id="1", description=text),)),
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def listed(store: Store, viewer: Viewer = WHOLE) -> list[Goal]:
    return list(store.read_now(lambda conn: repository.list_goals(conn, viewer)))


def test_goals_come_back_as_they_were(store: Store) -> None:
    steps = (
        Step(
            id="a",
            description="…",
            state=StepState.DONE,
            iterations=2,
            answer="“Yes”",
            sources=(Source(kind="note", id="1", text="…"),),
        ),
        Step(id="b", description="then", depends_on=("a",)),
    )
    progress = Progress(steps=steps, cycles=3, seen=("x",), told_coverage=50, is_end_told=True)
    first = goal(
        "a",
        "ein Kurs für Mia",
        progress=progress,
        priority=GoalPriority.HIGH,
        next_at=as_utc(NOW),
        thread_id="t",
    )
    store.write_now(lambda conn: repository.put_goal(conn, first, at=NOW))
    assert listed(store) == [first]
    after = replace(first, status=GoalStatus.RUNNING, next_at=None)
    store.write_now(lambda conn: repository.put_goal(conn, after, at=NOW))
    assert listed(store) == [after]
    assert listed(store, Viewer.of(FAMILY.id, "ruth")) == [after]
    assert listed(store, Viewer.of(FAMILY.id, "abe")) == []
    assert listed(store, Viewer.whole("other")) == []


def test_what_people_change_is_made_once_and_taken_back(store: Store) -> None:
    kept = goal("a", "a course for Nia")
    for _ in range(2):
        store.write_now(lambda conn: repository.add_goal(conn, kept, change_id="1", at=NOW))
    assert listed(store) == [kept]
    with pytest.raises(ConflictError):
        store.write_now(
            lambda conn: repository.add_goal(
                conn, goal("b", "the course for Nia"), change_id="2", at=NOW
            )
        )
    store.write_now(
        lambda conn: repository.move_goal(conn, kept, GoalStatus.PAUSED, change_id="3", at=NOW)
    )
    assert listed(store)[0].status is GoalStatus.PAUSED
    store.write_now(lambda conn: repository.undo_change(conn, FAMILY.id, "3", at=NOW))
    assert listed(store)[0].status is GoalStatus.PENDING
    # The work that goes on meanwhile is no change of a person's.
    running = replace(kept, status=GoalStatus.RUNNING)
    store.write_now(lambda conn: repository.put_goal(conn, running, at=NOW))
    store.write_now(lambda conn: repository.undo_change(conn, FAMILY.id, "1", at=NOW))
    assert listed(store)[0].status is GoalStatus.CANCELLED


def test_several_workers_do_each_step_once(address: str) -> None:
    homes = [GoalHome(address) for _ in range(3)]
    homes[0].thread("thread-1")
    goal_id = homes[0].want("a week at the sea", steps=PLAN, confidence=0.8)

    async def at_once() -> None:
        await asyncio.gather(*(home.work.run_once() for home in homes))

    for hours in range(4):
        for home in homes:
            home.clock.advance_to(NOW + timedelta(hours=hours))
        asyncio.run(at_once())
    did = sorted(each for home in homes for each in home.told_runner.did)
    assert did == sorted(str(each["description"]) for each in PLAN)
    assert homes[0].goal(goal_id).status is GoalStatus.COMPLETED
    assert len(homes[0].said) == 2
    for home in homes:
        home.store.close()
