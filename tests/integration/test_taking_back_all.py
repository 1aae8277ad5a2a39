"""What was told a moment ago is forgotten by its words, all that was just done is undone at once, and what was called off takes place again."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from talking import Talking, on_a_loop, talking

TOLD = {
    "my bike lock is 7305": (
        "my bike lock",
        "my bike lock number",
        "what I said about my bike lock",
    ),
    "I'm a pescatarian now": ("that I'm a pescatarian", "I'm a pescatarian"),
    "the shed key hangs behind the door": ("the shed key", "the thing about the shed key"),
    "Leo can't stand mushrooms": ("Leo can't stand mushrooms", "the mushrooms thing"),
}
WISHES = ("forget {}", "please forget {}", "can you forget {}?")


async def kept(talk: Talking) -> str:
    """Return all that anybody's memory holds of what people said."""
    await reading_of(talk.system.household, talk.system.store, talk.clock).run_once()
    viewers = [Viewer.of(talk.system.household.id, each) for each in ("john", "sarah")]
    texts = []
    for viewer in viewers:
        facts = await talk.system.store.read(
            lambda c, v=viewer: list_facts(c, v, now=talk.clock.now())
        )
        heard = await talk.system.store.read(lambda c, v=viewer: list_episodes(c, v))
        texts += [each.narrative for each in facts]
        texts += [each.text for each in heard if not each.is_assistant]
    return "\n".join(texts)


@on_a_loop
async def test_what_memory_has_not_read_yet_is_forgotten_by_its_words(tmp_path: Path) -> None:
    cases = [
        (text, wish.format(what))
        for (text, names), wish in product(TOLD.items(), WISHES)
        for what in names
    ]
    wrong = {}
    for number, (text, wish) in enumerate(cases):
        (tmp_path / str(number)).mkdir()
        async with talking(tmp_path / str(number), Planners(None)) as talk:
            await talk.answer(text)
            answer = await talk.answer(wish)
            if "forgotten" not in answer or text.split()[-1] in await kept(talk):
                wrong[text, wish] = answer
    assert not wrong


@on_a_loop
async def test_what_memory_knows_is_forgotten_after_a_yes(tmp_path: Path) -> None:
    for number, (text, names) in enumerate(TOLD.items()):
        (tmp_path / str(number)).mkdir()
        async with talking(tmp_path / str(number), Planners(None)) as talk:
            await talk.answer(f"remember that {text}")
            assert "Shall I forget" in await talk.answer(f"forget {names[0]}"), text
            assert "forgotten" in await talk.answer("yes"), text


@on_a_loop
async def test_nobody_forgets_what_another_told(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("the shed key hangs behind the door", by="sarah")
        assert "I've forgotten" not in await talk.answer("forget the shed key")
        assert "shed key" in await kept(talk)


@pytest.mark.parametrize(
    "wish", ["undo all that", "undo everything", "undo all of it please", "scrap the lot"]
)
@on_a_loop
async def test_all_that_was_just_done_is_undone_at_once(tmp_path: Path, wish: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("remind me to water the figs tomorrow at 3")
        await talk.answer("make it 4")
        await talk.answer("make it Wednesday")
        assert (await talk.answer(wish)).count("Undone") == 3
        assert "Nothing" in await talk.answer("what reminders do I have?")


@pytest.mark.parametrize("wish", ["forget it", "scrap that", "actually forget it"])
@on_a_loop
async def test_what_was_made_and_changed_several_times_goes_as_a_whole(
    tmp_path: Path, wish: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("remind me to water the figs tomorrow at 3")
        await talk.answer("make it 4")
        assert "tomorrow at 4pm" in await talk.answer("what reminders do I have?")
    (tmp_path / "again").mkdir()
    async with talking(tmp_path / "again", Planners(None)) as talk:
        await talk.answer("remind me to water the figs tomorrow at 3")
        await talk.answer("make it 4")
        await talk.answer("make it Wednesday")
        await talk.answer(wish)
        assert "Nothing" in await talk.answer("what reminders do I have?")


@pytest.mark.parametrize(
    "wish",
    [
        "uncancel it",
        "un-cancel it, the teacher is back",
        "uncancel swimming",
        "please reinstate swimming",
        "put swimming back on",
        "bring it back",
    ],
)
@on_a_loop
async def test_what_was_called_off_takes_place_again(tmp_path: Path, wish: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("cancel swimming on Saturday")
        assert "cancelled" in await talk.answer("yes")
        assert "Undone" in await talk.answer(wish)
        assert "Mia swimming on Saturday" in await talk.answer("what's on Saturday?")
