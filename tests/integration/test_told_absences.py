"""Who is told to be away, or unable to see to something, gets a card, and counts as that wherever it is asked who is there."""

from pathlib import Path

import pytest

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.planning.planners import Planners
from talking import Talking, on_a_loop, talking

AWAY = (
    "{who} won't be here from the 12th to the 14th",
    "{who} won't be home on the 13th",
    "{who} will not be around on the 13th",
    "{who} can't be here 12-14 march",
    "{who} won't be at home on friday the 13th",
    "{who} won't be here on the 13th, work again",
)
STAYS = (
    "Sarah is going to Boston on the 12th, back on the 14th",
    "Sarah is off to Boston on the 12th and returns on the 14th",
    "Sarah flies to Boston on the 12th, back the 14th",
)
UNABLE = (
    "{who} can't do pickup on the 13th",
    "{who} can't pick up Leo on the 13th",
    "{who} can't collect Mia on the 13th",
    "{who} can't look after the kids on the 13th",
)
ASKED = ("who's home on the 13th?", "who is here on the 13th?", "who can pick up Leo on the 13th?")
NOTHING = (
    "I wasn't home yesterday",
    "Sarah won't be home on the 13th?",
    "the Civic won't be here on the 13th",
    "I can't pick up Leo",
    "Leo can't pick up Mia on the 13th",
    "who won't be home on the 13th?",
)


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
                free = ("You are free", "Nothing is in the calendar for you")
                assert told.startswith(free), (question, told)
                assert "Sarah" in told, (question, told)
                assert "not confirmed yet" in told, (question, told)


@pytest.mark.parametrize("text", NOTHING)
@on_a_loop
async def test_what_is_over_asked_or_of_no_grown_up_is_no_absence(
    tmp_path: Path, text: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        assert not await waiting(talk, text)


# Told in passing, where no card comes of it or it is not approved: the words alone count.
IN_PASSING = (
    "I can't do the 13th, my course was put off till then",
    "can't work on the 13th, i'm at my cousin's",
    "won't be around on the 13th",
    "i'm not free on the 13th",
    "cant make the 13th",
    "I won't be home till 9 on the 13th",
    "i'm busy on the 13th",
    "not around on the 13th",
    "sorry but I can't manage the 13th",
    "we can't come on the 13th",
)
OF_OTHERS = ("Sarah can't do the 13th", "mom won't manage the 13th", "sarah can't work on the 13th")
ASKED_LATER = (
    "can Sarah do the 13th?",
    "is Sarah free on the 13th?",
    "can Sarah pick up Leo on the 13th?",
    "can Sarah fetch Mia on the 13th at 4?",
    "who can pick up Leo on the 13th?",
    "who's home on the 13th?",
)
STILL_FREE = (
    "I can't eat fish on the 13th",
    "can't wait for the 13th",
    "I can't find my keys for the 13th",
    "can't do the 14th",
    "can I do the 13th?",
    "Leo can't do the 13th",
    "I could do the 13th",
    "did you say I can't do the 13th?",
)
KEPT = (
    "I can't do the 13th, i've got therapy",
    "don't tell John but I can't do the 13th",
    "I can't do the 13th, keep it between us",
)
AFTER_ALL = (
    "i can do the 13th after all",
    "I'm free on the 13th now",
    "I am around on the 13th after all",
)


@pytest.mark.parametrize("told", [*IN_PASSING, *OF_OTHERS])
@on_a_loop
async def test_an_absence_told_in_passing_counts(tmp_path: Path, told: str) -> None:
    by = "john" if told in OF_OTHERS else "sarah"
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(told, by=by, thread_id=by)
        talk.later(minutes=1)
        for question in ASKED_LATER:
            answer = await talk.answer(question, by="john", thread_id="q")
            assert "Sarah is free" not in answer, (question, answer)
            assert "and Sarah are free" not in answer, (question, answer)
            assert f"said today: “{told}”" in answer, (question, answer)
        assert "is free" in await talk.answer("is Sarah free on the 12th?", thread_id="q")


@pytest.mark.parametrize("told", STILL_FREE)
@on_a_loop
async def test_what_denies_no_time_leaves_somebody_free(tmp_path: Path, told: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(told, by="sarah", thread_id="sarah")
        talk.later(minutes=1)
        answer = await talk.answer("is Sarah free on the 13th?", thread_id="q")
        assert answer.startswith("Sarah is free"), answer


@pytest.mark.parametrize("told", KEPT)
@on_a_loop
async def test_what_is_private_is_told_to_nobody_else(tmp_path: Path, told: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(told, by="sarah", thread_id="sarah")
        talk.later(minutes=1)
        for question in ASKED_LATER:
            assert "said" not in await talk.answer(question, by="john", thread_id="q")
        own = await talk.answer("am I free on the 13th?", by="sarah", thread_id="own")
        assert f"you said today: “{told}”" in own


@pytest.mark.parametrize("told", AFTER_ALL)
@on_a_loop
async def test_who_can_come_after_all_is_free(tmp_path: Path, told: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for text in (IN_PASSING[0], told):
            await talk.answer(text, by="sarah", thread_id="sarah")
            talk.later(minutes=1)
        answer = await talk.answer("is Sarah free on the 13th?", thread_id="q")
        assert answer.startswith("Sarah is free"), answer
