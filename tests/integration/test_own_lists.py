"""What goes on "my list" is seen by its speaker alone; the family's lists stay the family's."""

from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.repository import list_notes
from kinkeeper.reading.own_lists import OWN_LIST, own_list
from kinkeeper.tasks.repository import open_tasks
from talking import Talking, on_a_loop, talking

THINGS = (
    "Bromley pregnancy test",
    "razor blades",
    "a Zorban novel and plasters",
    "buy a ring for Anna",
)
OWN = (
    "my list",
    "my own list",
    "my private list",
    "my personal list",
    "my very own list",
    "a private list",
)
SHARED = (
    "the list",
    "our list",
    "the shopping list",
    "my shopping list",
    "our shopping list",
    "the packing list",
)
WAYS = (
    "add {what} to {on}",
    "put {what} on {on} please",
    "can you pop {what} on {on}",
    "{what} to {on}",
)


async def written(talk: Talking, member: str) -> str:
    """Return the words of all lists and tasks that somebody sees."""
    viewer = Viewer.of(talk.system.household.id, member)
    notes = await talk.system.store.read(lambda conn: list_notes(conn, viewer))
    tasks = await talk.system.store.read(lambda conn: open_tasks(conn, viewer))
    return " ".join(
        [*(f"{each.title}: {each.body}" for each in notes), *(each["title"] for each in tasks)]
    )


@pytest.mark.parametrize("by", ["john", "leo"])
@pytest.mark.parametrize("on", OWN)
@on_a_loop
async def test_ones_own_list_is_seen_by_nobody_else(tmp_path: Path, by: str, on: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        before = {each: await written(talk, each) for each in ("sarah", "mia")}
        for way, what in combined(WAYS[:3], THINGS):
            await talk.answer(way.format(what=what, on=on), by=by)
        mine = await written(talk, by)
        assert "Bromley pregnancy test" in mine
        assert "razor blades" in mine
        assert "plasters" in mine
        assert {each: await written(talk, each) for each in before} == before


@pytest.mark.parametrize("on", SHARED)
@on_a_loop
async def test_the_familys_lists_are_seen_by_all(tmp_path: Path, on: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for number, way in enumerate(WAYS):
            await talk.answer(way.format(what=f"zorban{number}", on=on), by="john")
        seen = await written(talk, "sarah")
        assert [number for number, _ in enumerate(WAYS) if f"zorban{number}" not in seen] == []


@pytest.mark.parametrize("joint", [" and ", ", ", ", and ", " and also "])
@on_a_loop
async def test_each_thing_is_put_where_it_belongs(tmp_path: Path, joint: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(f"add tampons to my list{joint}bread to the shopping list", by="sarah")
        seen, own = await written(talk, "john"), await written(talk, "sarah")
        assert "tampons" not in seen
        assert "tampons" in own
        assert "bread" in own


@on_a_loop
async def test_ones_own_list_is_read_and_crossed_off_by_its_names(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("make me a private list with foot cream", by="john", thread_id="a")
        await talk.answer("add razor blades and plasters to my list", by="john", thread_id="b")
        for asked in (
            "what's on my own list?",
            "what's on my private list",
            "show me my private list",
        ):
            told = await talk.answer(asked, by="john", thread_id="c")
            assert "foot cream" in told, asked
            assert "razor blades" in told, asked
        assert "razor blades" in await talk.answer("what's on my list?", by="john", thread_id="b")
        await talk.answer("take razor blades off my list", by="john", thread_id="d")
        assert "razor blades" not in await written(talk, "john")
        assert "plasters" in await written(talk, "john")


ASKED = (
    "what's on my list?",
    "what is on my list",
    "show me my list",
    "my list",
    "what's left on my list?",
    "read me my list",
    "whats on my own list",
    "is zorban balm on my list?",
)


@pytest.mark.parametrize("by", ["john", "leo"])
@on_a_loop
async def test_ones_own_list_is_found_in_every_thread_by_its_owner_alone(
    tmp_path: Path, by: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add zorban balm to my list", by=by, thread_id="first")
        await talk.answer("add quince to the shopping list", by="sarah", thread_id="other")
        for asker, (number, asked) in combined((by, "sarah"), [*enumerate(ASKED)]):
            told = await talk.answer(asked, by=asker, thread_id=f"{asker}{number}")
            is_told = "zorban balm" in told and "can't find" not in told and "No, " not in told
            assert is_told == (asker == by), (asker, asked, told)


@pytest.mark.parametrize(
    ("text", "called", "title"),
    [
        ("add x to my list", "list", OWN_LIST),
        ("x on my own list", "own list", OWN_LIST),
        ("what's on my private list", "on my private list", OWN_LIST),
        ("x to my private packing list", "private packing list", "Private packing list"),
        ("x to my shopping list", "shopping list", None),
        ("x to the list", "list", None),
        ("x to mommy list", "list", None),
        ("x to my list for the party", "list", None),
        ("my list is long; add x to the packing list", "packing list", None),
    ],
)
def test_which_words_mean_a_list_of_ones_own(text: str, called: str, title: str | None) -> None:
    assert own_list(text, called) == title
