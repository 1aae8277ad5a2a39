"""What somebody had forgotten, or undone, is told nowhere any more: in no thread, to nobody, after no restart."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import viewer_for
from kinkeeper.memory.facts import list_facts
from talking import Talking, on_a_loop, talking

TOLD = (
    ("remember that {}", "the shed key is under the blue pot", "the shed key", "blue pot"),
    ("please remember: {}", "our router code is heron77", "our router code", "heron77"),
    ("keep in mind that {}", "the boiler is a Vaillant", "the boiler", "Vaillant"),
    ("{}", "my collar size is 43", "my collar size", "43"),
    ("{}", "our cleaner is called Petra", "our cleaner", "Petra"),
    ("{}, by the way", "the gate code is 9921", "the gate code", "9921"),
    ("remember for me that {}", "my locker number is 318", "my locker number", "318"),
)
"""How it is told, what, what it is about, and the word that nothing may hold afterwards."""

QUESTIONS = ("what is {}?", "where is {}?", "what did I say about {}?")

Forgetting = Callable[[Talking, str, str, str], Awaitable[object]]


async def _read_memory(talk: Talking) -> None:
    reading = reading_of(talk.system.household, talk.system.store, talk.clock)
    while await reading.run_once():
        pass


async def _by_sentence(talk: Talking, said: str, _about: str, _word: str) -> None:
    await talk.answer(f"forget that {said}")
    await talk.answer("yes")


async def _by_name(talk: Talking, _said: str, about: str, _word: str) -> None:
    await talk.answer(f"please forget {about}")
    await talk.answer("yes")


async def _by_undo(talk: Talking, _said: str, _about: str, _word: str) -> None:
    await talk.answer("undo that")


async def _by_hand(talk: Talking, _said: str, _about: str, word: str) -> None:
    """Forget it as the page and the command do."""
    now, household = talk.clock.now(), talk.system.household
    viewer = viewer_for(household, talk.john, now=now)
    known = await talk.system.store.read(lambda conn: list_facts(conn, viewer, now=now))
    fact = next(each for each in known if word in each.narrative)
    right = SettingRight(member=talk.john, household=household, now=now)
    await talk.system.store.write(lambda conn: right.forget(conn, fact.id))


async def _answers(talk: Talking, about: str, *members: str) -> list[str]:
    asked = [(by, each.format(about)) for by in members for each in QUESTIONS]
    return [await talk.answer(text, by=by) for by, text in asked]


WAYS: tuple[Forgetting, ...] = (_by_sentence, _by_name, _by_undo, _by_hand)


@pytest.mark.parametrize("forget", WAYS)
@on_a_loop
async def test_nothing_is_told_of_what_was_forgotten(tmp_path: Path, forget: Forgetting) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        told: list[str] = []
        for form, said, about, word in (
            each for way, each in combined(WAYS, TOLD) if way is forget
        ):
            await talk.answer(form.format(said))
            if forget is not _by_undo:
                await _read_memory(talk)
                assert word in " ".join(await _answers(talk, about, "john")), said
            await forget(talk, said, about, word)
            await _read_memory(talk)
            answers = [
                *await _answers(talk, about, "john", "sarah"),
                await talk.again().answer(QUESTIONS[0].format(about)),
            ]
            told += [each for each in answers if word in each]
        assert not told
