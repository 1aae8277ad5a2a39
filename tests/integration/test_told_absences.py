"""Who is told to be away, or unable to see to something, gets a card, and counts as that wherever it is asked who is there."""

from pathlib import Path

import pytest

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.planning.planners import Planners
from talking import Talking, on_a_loop, talking

AWAY = (
    "{who} won't be here from the 12th to the 14th", "{who} won't be home on the 13th", "{who} will not be around on the 13th",
    "{who} can't be here 12-14 march", "{who} won't be at home on friday the 13th",
    "{who} won't be here on the 13th, work again",
)  # fmt: skip
STAYS = (
    "Sarah is going to Boston on the 12th, back on the 14th", "Sarah is off to Boston on the 12th and returns on the 14th",
    "Sarah flies to Boston on the 12th, back the 14th",
)  # fmt: skip
UNABLE = (
    "{who} can't do pickup on the 13th", "{who} can't pick up Leo on the 13th", "{who} can't collect Mia on the 13th",
    "{who} can't look after the kids on the 13th",
)  # fmt: skip
ASKED = ("who's home on the 13th?", "who is here on the 13th?", "who can pick up Leo on the 13th?")
NOTHING = (
    "I wasn't home yesterday", "Sarah won't be home on the 13th?", "the Civic won't be here on the 13th",
    "I can't pick up Leo", "Leo can't pick up Mia on the 13th", "who won't be home on the 13th?",
)  # fmt: skip


async def waiting(talk: Talking, text: str, by: str = "john") -> list[ActionResult]:
    """Return what a message leaves waiting for a yes."""
    await talk.answer(text, by=by, thread_id=by)
    [turn] = await talk.conversation.history(talk.member(by), by, last=1)
    return [each for each in turn.results if each.status is ResultStatus.AWAITING]


@pytest.mark.parametrize("form", [*AWAY, *UNABLE, *STAYS])
@on_a_loop
async def test_nobody_who_is_away_is_told_to_be_free(tmp_path: Path, form: str) -> None:
    for who, by in (("I", "sarah"), ("Sarah", "john")):
        if "{who}" not in form and by == "sarah":
            continue
        async with talking(f"{tmp_path}/{by}.sqlite", Planners(None)) as talk:
            [card] = await waiting(talk, form.format(who=who), by)
            assert (card.action, card.result["who"]) == ("create_event", ["sarah"])
            for question in ASKED:
                told = await talk.answer(question, by="john", thread_id="q")
                assert told.startswith("You are free"), (question, told)
                assert "Sarah" in told, (question, told)
                assert "not confirmed yet" in told, (question, told)


@pytest.mark.parametrize("text", NOTHING)
@on_a_loop
async def test_what_is_over_asked_or_of_no_grown_up_is_no_absence(
    tmp_path: Path, text: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        assert not await waiting(talk, text)
