"""Who wants something as it was before a change gets it back, and the answer never says that nothing was done while it stays changed."""

from itertools import product
from pathlib import Path

from sqlalchemy import Connection

from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import open_tasks
from talking import Talking, on_a_loop, talking

BEFORE = (
    "put piano recital on friday at 3 in the calendar",
    "remind me to call gran on friday at 5pm",
    "add figs to the shopping list",
)
CHANGES = (
    ("move leo's soccer on thursday to friday at 5", "yes"),
    ("move the piano recital to 4", "yes"),
    ("cancel ballet on wednesday", "yes"),
    ("change call gran to 6pm",),
    ("take figs off the shopping list",),
)
AS_IT_WAS = (
    "leave it where it was",
    "lol no leave it where it was",
    "actually keep it as it was",
    "put it back",
    "no, put it back how it was",
    "haha, leave it as it was please",
    "oh keep it like it was before",
    "sorry can you put it back the way it was",
    "no wait, leave it as before",
    "actually back to how it was",
    "hmm it should stay as it was",
    "put it back to what it was",
)
NO_SUCH = (
    "where was it before",
    "leave the keys where they are",
    "is it back to how it was?",
    "tell sarah to leave it as it was",
    "put it back in the shed",
    "leave it where it was and move chess to 4",
)


async def state(talk: Talking) -> list[str]:
    """Return what stands in calendar, tasks and lists, and what is to be remembered."""
    house = talk.system.household.id
    viewer, now = Viewer.of(house, "john"), talk.clock.now()

    def rows(conn: Connection) -> list[str]:
        return [
            *(f"{each.summary} {each.start}" for each in list_events(conn, viewer)),
            *(f"{key} {each}" for key, each in list_all_overrides(conn, house).items() if each),
            *(f"{each['title']} {each['deadline']}" for each in open_tasks(conn, viewer)),
            *(each.body for each in list_notes(conn, viewer)),
            *(each.narrative for each in list_facts(conn, viewer, now=now)),
        ]

    return await talk.system.store.read(rows)


async def after(file: Path, said: tuple[str, ...], last: str) -> tuple[list[list[str]], str]:
    """Return what stands before a change, after it, and after some last words about it, and the last answer."""
    async with talking(str(file), Planners(None)) as talk:
        for text in BEFORE:
            await talk.answer(text, thread_id="before")
        found = [await state(talk)]
        for text in said:
            await talk.answer(text, thread_id="t")
        found.append(await state(talk))
        answer = await talk.answer(last, thread_id="t")
        return [*found, await state(talk)], answer


@on_a_loop
async def test_a_change_is_undone_where_it_is_to_be_as_it_was(tmp_path: Path) -> None:
    for (number, said), (turn, words) in product(enumerate(CHANGES), enumerate(AS_IT_WAS)):
        file = tmp_path / f"{number}-{turn}.sqlite"
        (old, changed, now), answer = await after(file, said, words)
        assert old != changed, said
        assert (now, answer.startswith("Undone")) == (old, True), (said, words, answer)


@on_a_loop
async def test_what_waits_is_dropped_where_it_is_to_stay_as_it_was(tmp_path: Path) -> None:
    for turn, words in enumerate(AS_IT_WAS):
        (_, changed, now), answer = await after(tmp_path / f"{turn}.sqlite", CHANGES[0][:1], words)
        assert now == changed
        assert "move" in answer, (words, answer)


@on_a_loop
async def test_other_words_undo_nothing(tmp_path: Path) -> None:
    for turn, words in enumerate(NO_SUCH):
        (_, changed, now), answer = await after(tmp_path / f"{turn}.sqlite", CHANGES[0], words)
        assert {*changed} <= {*now}, (words, answer)
        assert "Undone" not in answer
    told = ("remember that the spare key is under the pot",)
    (_, changed, now), answer = await after(tmp_path / "told.sqlite", told, AS_IT_WAS[0])
    assert now == changed, answer
