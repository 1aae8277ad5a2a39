"""A weekday and a date that do not agree are asked about: nothing is written at once, and the answer completes it."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, talking

DEEDS = (
    "dentist for me on {day} at 3pm",
    "add GP appointment on {day} at 3pm",
    "put the vet in on {day} at 3pm",
    "remind me on {day} at 3pm to renew insurance",
    "schedule parents evening for {day} at 3pm",
)
AGREEING = {"friday the 13th": 13, "saturday 14 march": 14, "thurs 12th": 12}
UNSURE = {
    "friday the 14th": {"friday": 13, "the 14th": 14, "saturday": 14, "the 13th": 13},
    "thursday 11th": {"thursday": 12, "the 11th": 11, "wednesday": 11},
    "sat 13 march": {"saturday": 14, "on friday": 13, "sat the 14th": 14},
}


@pytest.mark.parametrize("deed", DEEDS)
@on_a_loop
async def test_what_is_asked_for_on_an_unsure_day_waits_for_the_day(
    tmp_path: Path, deed: str
) -> None:
    wrong = []
    answers = [(day, said, at) for day, known in UNSURE.items() for said, at in known.items()]
    for number, (day, said, at) in enumerate(answers):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            asked = await talk.answer(deed.format(day=day), by="john", thread_id="t")
            [turn] = await talk.conversation.history(talk.member("john"), "t", last=1)
            talk.later(seconds=20)
            told = await talk.answer(said, by="john", thread_id="t")
            if (
                turn.results
                or not asked.startswith("Which day do you mean")
                or f"March {at} " not in told
            ):
                wrong.append((deed, day, asked, said, told))
    assert not wrong


@on_a_loop
async def test_a_weekday_and_a_date_that_agree_are_written_at_once(tmp_path: Path) -> None:
    wrong = []
    for number, (deed, (day, at)) in enumerate(product(DEEDS, AGREEING.items())):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            told = await talk.answer(deed.format(day=day), by="john", thread_id="t")
            if f"March {at} " not in told:
                wrong.append((deed, day, told))
    assert not wrong


@on_a_loop
async def test_what_is_moved_to_an_unsure_day_waits_for_a_yes(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("put the eye test on friday at 5pm", by="john", thread_id="t")
        talk.later(seconds=20)
        told = await talk.answer(
            "move the eye test to friday the 14th at 3pm", by="john", thread_id="t"
        )
        assert "Shall I" in told, told
