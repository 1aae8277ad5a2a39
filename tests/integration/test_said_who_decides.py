"""What waits says whose yes it needs, and that person's yes does it: an adult's, or one's own where only they see it."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.planning.planners import Planners
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
