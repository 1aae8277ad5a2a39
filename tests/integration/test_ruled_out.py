"""What somebody is not to do for a while is said beside what the calendar has of it, and nothing is a plain yes then."""

from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, talking

# Said on Monday 2 March; the ballet is on Wednesday.
RULED_OUT = (
    "Mia mustn't do ballet until the 12th",
    "Mia should not do ballet before next Monday",
    "Mia is not allowed at ballet till Friday",
    "Mia is excused from ballet until Saturday",
    "Mia can go back to ballet from the 10th, not before",
    "Mia may do ballet again on the 9th",
)
NOT_RULED_OUT = (
    "Mia mustn't do ballet until tomorrow",
    "Mia can't find her ballet shoes",
    "Mia is back at ballet",
    "no news from the ballet teacher this week",
)
ASKED = ("does Mia have ballet on Wednesday?", "who takes Mia to ballet on Wednesday?")


@pytest.mark.parametrize("asked", ASKED)
@on_a_loop
async def test_what_rules_it_out_is_quoted_instead_of_a_yes(tmp_path: Path, asked: str) -> None:
    for number, (told, by) in enumerate(combined(RULED_OUT, ("john", "sarah"))):
        place = tmp_path / str(number)
        place.mkdir()
        async with talking(place, Planners(None)) as talk:
            await talk.answer(told)
            answer = await talk.answer(asked, by=by)

        assert "allet" in answer.partition("But")[0], (told, answer)
        assert f"But {'you' if by == 'john' else 'John'} said" in answer, (told, answer)
        assert not answer.startswith("Yes"), (told, answer)


@on_a_loop
async def test_what_rules_out_nothing_of_that_day_leaves_the_yes(tmp_path: Path) -> None:
    for number, told in enumerate(NOT_RULED_OUT):
        place = tmp_path / str(number)
        place.mkdir()
        async with talking(place, Planners(None)) as talk:
            await talk.answer(told)
            answer = await talk.answer(ASKED[0])

        assert answer.startswith("Yes"), (told, answer)
        assert "But" not in answer, (told, answer)
