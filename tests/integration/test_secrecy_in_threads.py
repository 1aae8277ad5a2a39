"""A wish for secrecy holds for what is said right after it in a thread, and for what was said or done right before."""

from pathlib import Path

import pytest

from kinkeeper.actions.repository import open_actions
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import open_tasks
from talking import Talking, on_a_loop, talking

# What is told or asked for, each with a word that nothing else of the household has.
TOLD = (
    "the balloon ride starts at 11", "put dinner at Kelmscott in on Friday at 8pm", "remind me to get kayaks on Friday",
    "the loan from Everdean is 9000 pounds", "the hotel is called Bellarosa", "the bailiffs come on Monday at 9am",
    "delivery from Jedburgh on Thursday at 10am", "I've ordered a Quagmire coffee machine", "flights are at 6am on 3 May",
)  # fmt: skip
WORDS = (
    "balloon", "dinner", "kayak", "everdean", "bellarosa", "bailiff", "jedburgh", "quagmire", "flight",
)  # fmt: skip
BEFORE = (
    "don't tell Sarah any of this",
    "Sarah mustn't know about this",
    "this stays between us",
    "keep this from Sarah",
)
AFTER = (
    "hide that from Sarah would you", "oops Sarah shouldn't see that one", "Sarah is not to see that",
    "Sarah doesn't need to know that", "it's for her birthday so keep schtum", "don't show that to Sarah",
    "it's for Sarah's birthday, don't let her know", "nobody should see that",
)  # fmt: skip


async def seen_by(talk: Talking, other: str) -> str:
    """Return all that somebody else can read: cards, events, tasks, notes, facts and what was heard."""
    await reading_of(talk.system.household, talk.system.store, talk.clock).run_once()
    viewer, now = Viewer.of(talk.system.household.id, other), talk.clock.now()
    store = talk.system.store
    found = [
        *(each.proposal.summary for each in await store.read(lambda c: open_actions(c, viewer, now=now))),
        *(each.summary for each in await store.read(lambda c: list_events(c, viewer))),
        *(str(each) for each in await store.read(lambda c: open_tasks(c, viewer))),
        *(str(each) for each in await store.read(lambda c: list_notes(c, viewer))),
        *(each.narrative for each in await store.read(lambda c: list_facts(c, viewer, now=now))),
        *(each.text for each in await store.read(lambda c: list_episodes(c, viewer))),
    ]  # fmt: skip
    return "\n".join(found).lower()


async def shown(folder: Path, number: int, word: str, *said: str) -> bool:
    async with talking(f"{folder}/{number}.sqlite", Planners(None)) as talk:
        for text in said:
            await talk.answer(text, thread_id="t")
            talk.later(seconds=20)
        return word in await seen_by(talk, "sarah")


@pytest.mark.parametrize("wish", BEFORE)
@on_a_loop
async def test_what_follows_a_wish_is_kept_as_it_asks(tmp_path: Path, wish: str) -> None:
    leaks = [
        text
        for number, (text, word) in enumerate(zip(TOLD, WORDS, strict=True))
        if await shown(tmp_path, number, word, wish, text)
    ]
    assert leaks == [], leaks


@pytest.mark.parametrize("wish", AFTER)
@on_a_loop
async def test_what_a_wish_follows_is_kept_as_it_asks(tmp_path: Path, wish: str) -> None:
    leaks = [
        text
        for number, (text, word) in enumerate(zip(TOLD, WORDS, strict=True))
        if await shown(tmp_path, number, word, text, wish)
    ]
    assert leaks == [], leaks


@on_a_loop
async def test_what_is_said_long_after_a_wish_is_the_households(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for number, text in enumerate(TOLD[1:3]):
            await talk.answer(BEFORE[0], thread_id=str(number))
            talk.later(hours=3)
            await talk.answer(text, thread_id=str(number))
        seen = await seen_by(talk, "sarah")
        assert all(word in seen for word in WORDS[1:3])
