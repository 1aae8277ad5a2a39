"""Two who speak of "both of us" are the speaker and the other parent, never two children; where several may be meant it is asked."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from live_household import HOUSEHOLD
from talking import Talking, on_a_loop, talking

GUARDIAN = """
[[members]]
id = "nana"
name = "Nana"
role = "guardian"
"""
US = ("both of us", "us both", "the two of us", "us two")
DEEDS = (
    "put the mortgage talk in the calendar on friday at 9pm for {whom}",
    "dinner at Luigi on friday at 9pm, {whom}",
    "remind {whom} on friday at 9pm to sign the deed",
    "remind {whom} to sign the deed on friday at 9pm",
    "add a dentist appointment on friday at 9pm for {whom}",
)
OTHERS = {
    "both kids": ["leo", "mia"],
    "Leo and Mia": ["leo", "mia"],
    "Leo and Mia both": ["leo", "mia"],
    "me and Sarah both": ["john", "sarah"],
    "Leo and me both": ["john", "leo"],
    "all of us": ["john", "leo", "mia", "nana", "sarah"],
}


async def for_whom(talk: Talking, text: str, *answers: str, by: str) -> list[str]:
    """Return for whom something new is, or would be, once what is asked is answered."""
    for said in (text, *answers):
        await talk.answer(said, by=by, thread_id="t")
    [turn] = await talk.conversation.history(talk.member(by), "t", last=1)
    return sorted({who for each in turn.results for who in each.params.get("who") or [by]})


@pytest.mark.parametrize("deed", DEEDS)
@on_a_loop
async def test_both_of_us_are_the_speaker_and_the_other_grown_up(tmp_path: Path, deed: str) -> None:
    file = tmp_path / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + GUARDIAN, encoding="utf-8")
    wrong = []
    for number, (us, by) in enumerate(product(US, ("john", "sarah", "nana", "leo"))):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None), household=file) as talk:
            text = deed.format(whom=us)
            found = await for_whom(talk, text, by=by)
            expected = ["john", "sarah"] if by in {"john", "sarah"} else []
            if found != expected:
                wrong.append((by, text, found))
            if not expected and await for_whom(talk, text, "Sarah", by=by) != sorted([by, "sarah"]):
                wrong.append((by, text, "Sarah"))
    assert not wrong


@pytest.mark.parametrize("deed", DEEDS)
@on_a_loop
async def test_whoever_is_named_is_meant(tmp_path: Path, deed: str) -> None:
    file = tmp_path / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + GUARDIAN, encoding="utf-8")
    wrong = []
    for number, (whom, expected) in enumerate(OTHERS.items()):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None), household=file) as talk:
            text = deed.format(whom=whom)
            if (found := await for_whom(talk, text, by="john")) != expected:
                wrong.append((text, found))
    assert not wrong
