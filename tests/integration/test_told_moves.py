"""What is moved is what was meant: the occurrence of the new day, and never a task at once because of news."""

from pathlib import Path

import pytest

from kinkeeper.calendar.search import occurrences_between
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.tasks.repository import open_tasks
from talking import on_a_loop, talking

MOVES = (
    "change soccer to 6pm on 17 march",
    "move soccer to 6pm on 17 march",
    "move soccer to 17 march at 6pm",
    "can you move soccer to 6pm on 17 march?",
)
TASKS = (
    ("remind me to ring the dentist on Friday at 9", "dentist"),
    ("remind me to pay Stan on Friday", "Stan"),
    ("remind me to book the plumber on Friday at 10", "plumber"),
)
NEWS = (
    "the {what} moved to wednesday at 3",
    "{what} moved to wednesday at 3",
    "the {what} has moved to thursday at 2",
)


@pytest.mark.parametrize("text", MOVES)
@on_a_loop
async def test_the_occurrence_of_the_new_day_is_the_one_that_moves(
    tmp_path: Path, text: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        household = talk.system.household
        viewer = Viewer.of(household.id, "john")
        weeks = Interval(talk.clock.now(), talk.clock.now().replace(day=31))

        async def soccer() -> list[str]:
            found = await talk.system.store.read(
                lambda conn: occurrences_between(conn, viewer, weeks)
            )
            return [
                f"{each.interval.start.astimezone(household.zone):%d %H:%M}"
                for each in found
                if "soccer" in each.event.summary.lower()
            ]

        before = await soccer()
        await talk.answer(text, thread_id="t")
        await talk.answer("yes", thread_id="t")
        assert await soccer() == ["17 18:00" if each.startswith("17") else each for each in before]


@pytest.mark.parametrize(("task", "what"), TASKS)
@on_a_loop
async def test_news_of_a_move_changes_no_task_at_once(tmp_path: Path, task: str, what: str) -> None:
    for number, form in enumerate(NEWS):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            viewer = Viewer.of(talk.system.household.id, "john")
            await talk.answer(task, thread_id="t")
            before = await talk.system.store.read(lambda conn, v=viewer: open_tasks(conn, v))
            await talk.answer(form.format(what=what), thread_id="t")
            after = await talk.system.store.read(lambda conn, v=viewer: open_tasks(conn, v))
            assert [*after] == [*before]
