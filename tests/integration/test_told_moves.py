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


PLAN, WHEN = "add plumber on wednesday at 10am to the calendar", "when is the plumber?"
MOVED = (
    "they've pushed the plumber back a day",
    "the plumber is coming an hour later",
    "dad says the plumber is on friday now",
    "the office said that the plumber will start two hours later",
    "the plumber was moved to friday, same time",
    "plumber got moved to the friday",
    "somebody told me the plumber has been put back by a day",
)
OFF = (
    "plumber isn't coming wednesday",
    "mom says the plumber is cancelled",
    "the plumber was cancelled",
    "the plumber can't make wednesday",
    "the office wrote that the plumber is off",
    "the plumber won't come on wednesday",
)
NO_NEWS = (
    "the plumber isn't at 5",
    "dad says the plumber is nice",
    "the plumber was here last week",
    "the gardener isn't coming wednesday",
    "mom says the dentist is cancelled",
    "if the plumber is cancelled we could swim",
)


@pytest.mark.parametrize("by", ["sarah", "leo"])
@on_a_loop
async def test_news_by_anybody_puts_what_is_planned_in_doubt(tmp_path: Path, by: str) -> None:
    wrong = []
    doubts = {"may move to": MOVED, "may be cancelled": OFF, "": NO_NEWS}
    for doubt, said in ((each, text) for each, texts in doubts.items() for text in texts):
        async with talking(f"{tmp_path}/{hash(said)}.sqlite", Planners(None)) as talk:
            await talk.answer(PLAN, thread_id="j")
            told = await talk.answer(said, by=by, thread_id="t")
            answer = await talk.answer(WHEN, thread_id="other")
            is_right = doubt in answer if doubt else "not confirmed" not in answer
            if not is_right or "Wednesday from 10am" not in answer:
                wrong.append((said, told, answer))
    assert not wrong


@on_a_loop
async def test_news_of_what_waits_ends_the_card_for_it_or_changes_it(tmp_path: Path) -> None:
    wrong, plan = [], "maybe put a plumber in the calendar on wednesday at 10am"
    for said in (*MOVED, *OFF, *NO_NEWS):
        async with talking(f"{tmp_path}/{hash(said)}.sqlite", Planners(None)) as talk:
            assert "Shall I add" in await talk.answer(plan, thread_id="j")
            told = await talk.answer(said, by="sarah", thread_id="t")
            answer = await talk.answer(WHEN, thread_id="other")
            stands = "Wednesday from 10am" in answer
            waits = "not confirmed yet" in answer
            if (stands, waits) != (said in NO_NEWS, said not in OFF):
                wrong.append((said, told, answer))
    assert not wrong
