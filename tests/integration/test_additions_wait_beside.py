"""What is asked for beside what waits waits, too; only what sets it right takes its place."""

from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.repository import open_actions
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from talking import on_a_loop, talking

LINES = ("sweets", "oat milk")
MORE = (
    "and {}",
    "and {} please",
    "oh and {}",
    "also {}",
    "plus {}",
    "and {} too",
    "also add {} to the shopping list",
    "add {} to the shopping list",
    "please put {} on the shopping list as well",
)
THINGS = ("crisps", "headphones")
ERRANDS = ("remind mom to wash my kit", "remind mom on friday to sign my form")
OTHER_ERRANDS = (
    "and dad to fix my bike",
    "and dad to pump up the ball on saturday",
    "and also to iron my shirt",
    "also dad to call the coach",
    "and remind dad to fix my bike",
    "and remind dad at 6 to call gran",
    "plus dad to buy new laces",
    "and to pack my bag",
)
EVENTS = ("put chess tournament in on friday at 5pm", "put judo display in on thursday at 4pm")
OTHER_EVENTS = (
    "and also on saturday",
    "same again on saturday",
    "and the same on saturday",
    "saturday too",
    "and one for mia at 6",
    "also put quiz night in on sunday at 6pm",
)
SET_RIGHT = (
    "no, saturday",
    "make it 6",
    "actually sunday at 4",
    "it's at 6",
    "no, same time saturday",
)
"""Of an event that waits."""


async def waiting_after(folder: Path, number: int, *said: str) -> list[str]:
    async with talking(f"{folder}/{number}.sqlite", Planners(None)) as talk:
        await talk.answer("add bread to the shopping list", by="john", thread_id="j")
        for text in said:
            await talk.answer(text, by="leo", thread_id="t")
            talk.later(seconds=20)
        viewer, now = Viewer.of(talk.system.household.id, "john"), talk.clock.now()
        waiting = await talk.system.store.read(lambda c: open_actions(c, viewer, now=now))
        return [each.proposal.summary for each in waiting]


@pytest.mark.parametrize(
    ("firsts", "seconds"),
    [
        (
            [f"add {each} to the shopping list" for each in LINES],
            [more.format(each) for more, each in combined(MORE, THINGS)],
        ),
        (ERRANDS, OTHER_ERRANDS),
        (EVENTS, OTHER_EVENTS),
    ],
)
@on_a_loop
async def test_what_is_added_waits_beside_what_waits(
    tmp_path: Path, firsts: list[str], seconds: list[str]
) -> None:
    lost = [
        (first, second, waiting)
        for number, (first, second) in enumerate(combined(firsts, seconds))
        if len(waiting := await waiting_after(tmp_path, number, first, second)) != 2
    ]
    assert lost == []


@on_a_loop
async def test_what_sets_right_takes_the_place_of_what_waits(tmp_path: Path) -> None:
    again = [(each, each) for each in (f"add {LINES[0]} to the shopping list", *ERRANDS)]
    left = [
        (first, second, waiting)
        for number, (first, second) in enumerate([*combined(EVENTS, SET_RIGHT), *again])
        if len(waiting := await waiting_after(tmp_path, number, first, second)) != 1
    ]
    assert left == []


@on_a_loop
async def test_each_line_that_waits_can_be_agreed_to(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add bread to the shopping list", by="john", thread_id="j")
        await talk.answer("add sweets to the shopping list", by="leo", thread_id="t")
        await talk.answer("and crisps please", by="leo", thread_id="t")
        await talk.answer("yes to all", by="john", thread_id="j")
        talk.later(seconds=20)
        await talk.answer("yes to all", by="john", thread_id="j")
        told = await talk.answer("what's on the shopping list?", by="john", thread_id="j")
        assert all(each in told.lower() for each in ("bread", "sweets", "crisps")), told
