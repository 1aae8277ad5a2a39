"""People can have their own memories forgotten in chat, and nobody else reads of it."""

import json
from itertools import product
from pathlib import Path

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import list_actions
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer, viewer_for
from kinkeeper.memory.episodes import list_episodes
from kinkeeper.memory.facts import list_facts
from talking import Talking, on_a_loop, talking

TOLD = (
    ("just for me: my locker code is 4711", "locker code", "4711"),
    ("keep this to yourself: I'm allergic to kiwi", "kiwi", "kiwi"),
    ("don't tell anybody, my blood type is AB", "blood type", "AB"),
)
ASKED = ("forget my {what}", "forget what I told you about {what}")


async def _cards_for(talk: Talking, member: str) -> str:
    viewer = viewer_for(talk.system.household, talk.member(member), now=talk.clock.now())
    found = await talk.system.store.read(
        lambda conn: list_actions(conn, viewer, statuses={*ActionStatus}, now=talk.clock.now())
    )
    return json.dumps([action_record(each) for each in found], default=str)


async def _known_to(talk: Talking, member: str) -> str:
    viewer = viewer_for(talk.system.household, talk.member(member), now=talk.clock.now())
    found = await talk.system.store.read(
        lambda conn: list_facts(conn, viewer, now=talk.clock.now())
    )
    return "\n".join(each.narrative for each in found)


async def _read_memory(talk: Talking) -> None:
    reading = reading_of(talk.system.household, talk.system.store, talk.clock)
    while await reading.run_once():
        pass


@on_a_loop
async def test_whoever_told_it_has_it_forgotten_and_nobody_else_reads_of_it(tmp_path: Path) -> None:
    for number, (by, (told, what, secret), ask) in enumerate(product(("john", "mia"), TOLD, ASKED)):
        place = tmp_path / str(number)
        place.mkdir()
        async with talking(place, Planners(None)) as talk:
            await talk.answer(told, by=by)
            await _read_memory(talk)
            assert secret in await _known_to(talk, by)

            asked = await talk.answer(ask.format(what=what), by=by)
            cards = [
                await _cards_for(talk, each) for each in ("john", "sarah", "mia") if each != by
            ]
            answered = await talk.answer("yes", by=by)

            assert secret in asked, (by, ask)
            assert not any(secret in each or what in each for each in cards), (by, ask)
            assert "forgotten" in asked + answered, (by, ask)
            assert secret not in await _known_to(talk, by), (by, ask)


@on_a_loop
async def test_a_card_to_forget_names_the_memory_and_not_the_words_it_was_found_by(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("our cat is called Biscuit", by="sarah")
        await _read_memory(talk)

        await talk.answer("forget that the cat is called Biscuit", by="mia")

        cards = await _cards_for(talk, "sarah")
        assert "Forget for good" in cards
        assert '"find_by": "the cat' not in cards


@on_a_loop
async def test_a_wish_to_forget_is_no_news_and_leaves_nothing_of_what_is_forgotten(
    tmp_path: Path,
) -> None:
    told = (
        "I'm vegetarian now",
        "our dog is called Rex",
        "I work at the harbour office",
        "we have a cat",
    )
    for number, (text, ask) in enumerate(
        product(told, ("forget that {}", "please forget that {}"))
    ):
        place = tmp_path / str(number)
        place.mkdir()
        async with talking(place, Planners(None)) as talk:
            await talk.answer(text)
            await _read_memory(talk)
            asked = await talk.answer(ask.format(text.removesuffix(" now")))
            await _read_memory(talk)

            assert "Shall I forget" in asked, (text, ask)
            assert await _known_to(talk, "john"), (text, ask)
            assert "forgotten" in await talk.answer("yes"), (text, ask)

            await _read_memory(talk)
            words = text.removesuffix(" now").split()[-1]
            heard = await talk.system.store.read(
                lambda conn: list_episodes(conn, Viewer.of(talk.system.household.id, "john"))
            )
            assert not await _known_to(talk, "john"), (text, ask)
            assert words not in " ".join(each.text for each in heard if not each.is_assistant), (
                text,
                ask,
            )
