"""A list holds things that are wanted: never a word that sets right, and nothing out of a sentence that tells of people."""

from itertools import product
from pathlib import Path

from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.repository import list_notes
from talking import Talking, on_a_loop, talking

FIRST = "add rice and figs to the shopping list"
SIGNS = (
    "",
    "actually ",
    "actualy ",
    "acutally ",
    "actaully, ",
    "sory, ",
    "sorry ",
    "oops ",
    "wait, ",
    "oh and actualy ",
)
TAKEN_OFF = ("not figs", "not the figs", "no figs")
EXCHANGED = (
    "kale not figs",
    "kale, not figs",
    "kale instead of figs",
    "i meant kale not figs",
    "meant kale, not figs",
    "i ment kale instead of figs",
    "not figs but kale",
    "not figs, kale",
    "i meant to say kale rather than figs",
)
MEANT = ("i meant kale", "oops i ment kale", "sory i meant to say kale", "wait, i meant kale")
"""After the figs alone."""
OF_NO_LINE = (
    "i meant tomorrow",
    "i meant sarah",
    "i meant the packing list",
    "i meant that we should go",
    "i meant well",
    "not bananas",
    "actualy not bananas",
    "kale not bananas",
    "i meant kale not bananas",
)


async def lines(talk: Talking) -> list[str]:
    """Return what stands on all shared lists."""
    viewer = Viewer.of(talk.system.household.id, "john")
    notes = await talk.system.store.read(lambda conn: list_notes(conn, viewer))
    return [line.removeprefix("- ") for each in notes for line in each.body.splitlines()]


async def wrong(folder: Path, first: str, said: list[str], *held: str) -> list[tuple[str, ...]]:
    """Return what is said after something was put on a list that leaves other lines on it than those."""
    found = list[tuple[str, ...]]()
    async with talking(f"{folder}-lists.sqlite", Planners(None)) as talk:
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


WHO = ("Sarah", "mom", "leo", "Dave", "the neighbour", "my sister", "gran")
DOES = (
    "owes me 60",
    "paid 40",
    "lent me 15",
    "needs a lift",
    "has two bags",
    "likes going early",
    "gave Mia a fiver",
    "pays 30 a week",
)
PURPOSES = ("for the shopping", "on groceries")
THINGS = (
    ("leo boots to the packing list", "leo boots"),
    ("mia's leotard on the packing list", "mia's leotard"),
    ("bananas on the list", "bananas"),
    ("baked beans for the shopping", "baked beans"),
    ("gran's tablets for the shopping", "gran's tablets"),
    ("sliced bread to the shopping list", "sliced bread"),
    ("dog food for the groceries", "dog food"),
    ("add Leo needs boots to the packing list", "Leo needs boots"),
)


@on_a_loop
async def test_what_tells_of_people_is_no_line(tmp_path: Path) -> None:
    said = [" ".join(each) for each in product(WHO, DOES, PURPOSES)]
    said.append("Dave lent me 5 for the shopping and I gave Leo 20")
    assert await wrong(tmp_path, "", said) == []


@on_a_loop
async def test_what_is_somebodys_goes_on_a_list(tmp_path: Path) -> None:
    for number, (text, line) in enumerate(THINGS):
        assert await wrong(tmp_path / str(number), "", [text], line) == []
