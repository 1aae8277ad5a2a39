"""A list holds things that are wanted: never a word that sets right, and nothing out of a sentence that tells of people."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.repository import list_notes
from talking import Talking, on_a_loop, talking

FIRST = "add rice and figs to the shopping list"
SIGNS = (
    "", "actually ", "actualy ", "acutally ", "actaully, ", "sory, ", "sorry ", "oops ", "wait, ", "oh and actualy ",
)  # fmt: skip
TAKEN_OFF = ("not figs", "not the figs", "no figs")
EXCHANGED = (
    "kale not figs", "kale, not figs", "kale instead of figs", "i meant kale not figs", "meant kale, not figs",
    "i ment kale instead of figs", "not figs but kale", "not figs, kale", "i meant to say kale rather than figs",
)  # fmt: skip
MEANT = ("i meant kale", "oops i ment kale", "sory i meant to say kale", "wait, i meant kale")
"""After the figs alone."""
OF_NO_LINE = (
    "i meant tomorrow", "i meant sarah", "i meant the packing list", "i meant that we should go", "i meant well",
    "not bananas", "actualy not bananas", "kale not bananas", "i meant kale not bananas",
)  # fmt: skip


async def lines(talk: Talking) -> list[str]:
    """Return what stands on all shared lists."""
    viewer = Viewer.of(talk.system.household.id, "john")
    notes = await talk.system.store.read(lambda conn: list_notes(conn, viewer))
    return [line.removeprefix("- ") for each in notes for line in each.body.splitlines()]


async def wrong(folder: Path, first: str, said: list[str], *held: str) -> list[tuple[str, ...]]:
    """Return what is said after something was put on a list that leaves other lines on it than those."""
    found = list[tuple[str, ...]]()
    async with talking(folder, Planners(None)) as talk:
        for number, text in enumerate(said):
            await talk.answer("clear the shopping list", thread_id="clear")
            for each in filter(None, (first, text)):
                await talk.answer(each, thread_id=str(number))
            if (now := await lines(talk)) != [*held]:
                found.append((text, *now))
    return found


@on_a_loop
async def test_what_is_denied_is_taken_off(tmp_path: Path) -> None:
    said = [sign + text for sign, text in product(SIGNS, TAKEN_OFF)]
    assert await wrong(tmp_path, FIRST, said, "rice") == []


@on_a_loop
async def test_what_was_meant_takes_the_place_of_what_was_said(tmp_path: Path) -> None:
    said = [sign + text for sign, text in product(SIGNS[:-1], EXCHANGED)]
    assert await wrong(tmp_path, FIRST, said, "rice", "kale") == []
    assert await wrong(tmp_path, "add figs to the shopping list", [*MEANT], "kale") == []


@on_a_loop
async def test_what_sets_right_no_line_leaves_the_list(tmp_path: Path) -> None:
    assert await wrong(tmp_path, FIRST, [*OF_NO_LINE], "rice", "figs") == []
