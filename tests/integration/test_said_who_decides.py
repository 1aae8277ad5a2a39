"""What waits says whose yes it needs, and that person's yes does it: an adult's, or one's own where only they see it."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.actions.readers import Reader, waiting_for
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import viewer_for
from live_household import HOUSEHOLD
from talking import on_a_loop, talking

GUEST = """
[[members]]
id = "nana"
name = "Nana"
role = "other"
"""
DEEDS = (
    "put meeting Crispin at the park on friday at 9pm",
    "remind me tomorrow at 5 to buy a scarf",
    "add a call with Zorban on thursday at 4pm",
    "remind me on saturday at 10 to knit the Shetlark cardigan",
)
DOUBTS = ("maybe {deed}", "perhaps {deed}", "I was wondering if you could maybe {deed}")
WISHES = ("just for me", "keep it to yourself", "nobody else may see it")
FOR_ADULTS, FOR_ME = "An adult has to agree before I", "Shall I"


def _house(folder: Path) -> Path:
    file = folder / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + GUEST, encoding="utf-8")
    return file


@pytest.mark.parametrize("by", ["leo", "nana"])
@pytest.mark.parametrize("wish", WISHES)
@on_a_loop
async def test_what_only_its_person_sees_is_theirs_to_agree_to(
    tmp_path: Path, by: str, wish: str
) -> None:
    wrong, asked = [], 0
    file = _house(tmp_path)
    for number, (doubt, deed) in enumerate(product(DOUBTS, DEEDS)):
        text = f"{doubt.format(deed=deed)}, {wish}"
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None), household=file) as talk:
            told = await talk.answer(text, by=by, thread_id="t")
            [turn] = await talk.conversation.history(talk.member(by), "t", last=1)
            if not turn.results or turn.results[0].status is not ResultStatus.AWAITING:
                continue
            asked += 1
            waiting = await talk.answer("what is waiting?", by=by, thread_id="other")
            talk.later(seconds=20)
            await talk.answer("yes", by=by, thread_id="t")
            [after] = await talk.conversation.history(talk.member(by), "t", last=1)
            is_done = [each.status for each in after.results] == [ResultStatus.DONE]
            is_said = told.startswith(FOR_ME) and "your approval" in waiting
            if not (is_done and is_said):
                wrong.append((text, told, waiting, is_done))
    assert not wrong
    assert asked > len(DEEDS)


@pytest.mark.parametrize("by", ["leo", "nana"])
@on_a_loop
async def test_what_others_would_see_is_an_adults_to_agree_to(tmp_path: Path, by: str) -> None:
    file = _house(tmp_path)
    async with talking(tmp_path, Planners(None), household=file) as talk:
        told = await talk.answer("put the eye test on friday at 5pm", by="john", thread_id="j")
        told = await talk.answer("cancel the eye test on friday", by=by, thread_id="t")
        if by == "leo":
            assert told.startswith(FOR_ADULTS), told
            waiting = await talk.answer("what is waiting?", by=by, thread_id="other")
            assert "an adult's approval" in waiting
        talk.later(seconds=20)
        told = await talk.answer("yes", by=by, thread_id="t")
        assert "Cancelled" not in told


@on_a_loop
async def test_among_several_of_their_own_a_child_may_choose(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for deed in DEEDS[:2]:
            await talk.answer(f"maybe {deed}, just for me", by="leo", thread_id="t")
            talk.later(seconds=20)
        told = await talk.answer("yes", by="leo", thread_id="t")
        assert told.startswith("Which one should I go ahead with?")
        talk.later(seconds=20)
        await talk.answer("the second one", by="leo", thread_id="t")
        [turn] = await talk.conversation.history(talk.member("leo"), "t", last=1)
        assert [each.status for each in turn.results] == [ResultStatus.DONE]


HELPER = """
[[members]]
id = "nina"
name = "Nina"
role = "helper"
"""
OF_ITSELF = (
    "i fancy Juno from choir",
    "a girl in my class pinches me",
    "they call me potato",
    "i want to live with grandma",
)
OF_HOME = ("the dishwasher is leaking", "I'm allergic to kiwi", "grandpa is scared of geese")
ASKED_FOR = ("remember that i like Juno", "remember that they call me potato")


@on_a_loop
async def test_what_a_child_tells_of_itself_waits_for_no_adult_and_no_helper_reads_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + HELPER, encoding="utf-8")
    async with talking(tmp_path, Planners(None), household=file) as talk:
        system = talk.system
        reading = reading_of(system.household, system.store, talk.clock)

        async def waiting(by: str) -> str:
            while await reading.run_once():
                pass
            now, member = talk.clock.now(), talk.member(by)
            viewer = viewer_for(system.household, member, now=now)
            reader = Reader(member=member, household=system.household, viewer=viewer)
            found = await system.store.read(lambda conn: waiting_for(conn, reader, now=now))
            return "\n".join(each.proposal.summary for each in found)

        for text in OF_ITSELF:
            assert "Saved just for you; say" in await talk.answer(text, by="leo", thread_id="l")
            assert [await waiting("john"), await waiting("nina")] == ["", ""]
        for text in OF_HOME:
            assert "an adult approves" in await talk.answer(text, by="leo", thread_id="l")
            for by in ("john", "nina"):
                assert text.casefold() in (await waiting(by)).casefold()
        for text in ASKED_FOR:
            await talk.answer(text, by="leo", thread_id="l")
            told = text.removeprefix("remember that ").casefold()
            assert told in (await waiting("john")).casefold()
            assert told not in (await waiting("nina")).casefold()
