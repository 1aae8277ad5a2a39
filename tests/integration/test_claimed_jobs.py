"""Who takes on a job gets what stands in the calendar, and nothing new stands there beside it."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.actions.repository import open_actions
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from talking import Talking, on_a_loop, talking

JOBS = {
    "the soccer run on Thursday": "Leo soccer practice",
    "Leo's soccer tomorrow": "Leo soccer practice",
    "the pick-up from chess on Wednesday": "Leo chess club",
    "the ballet drop off on Wednesday": "Mia ballet class",
    "Mia's lesson on Saturday": "Mia swimming",
}
CLAIMS = (
    "I'll do {it}",
    "I can cover {it}",
    "I'm happy to take {it}",
    "let me sort {it}",
    "leave {it} to me",
    "put me down for {it}",
    "Sarah will handle {it}",
)
FETCHING = {
    "I'll grab Leo from practice tomorrow": "Leo soccer practice",
    "John's collecting Leo from training on Thursday": "Leo soccer practice",
    "I can drive Mia to swimming on Saturday": "Mia swimming",
    "Sarah and I are taking Leo to chess on Wednesday": "Leo chess club",
    "Leo's pickup on Thursday is mine": "Leo soccer practice",
    "I'm on ballet duty on Wednesday": "Mia ballet class",
}
BOTH = {
    "Sarah's doing ballet on Wednesday, I'm doing soccer on Thursday": (
        "Mia ballet class",
        "Leo soccer practice",
    ),
    "I'll drive Leo tomorrow and Sarah will do Thursday": ("Leo soccer practice",) * 2,
    "John has got chess on Wednesday and I'm covering swimming on Saturday": (
        "Leo chess club",
        "Mia swimming",
    ),
}
ASKED = (
    "can someone take Leo to soccer tomorrow?",
    "who's driving Leo to soccer tomorrow?",
    "could anyone fetch Leo from soccer tomorrow?",
    "is soccer on tomorrow?",
)
ANSWERS = ("I'll do it", "I will", "I can take him", "ok I'll do that then")
OTHER = (
    "I'll take Leo to the dentist on Thursday",
    "I'll bring oranges to soccer on Thursday",
    "I'll take Thursday off",
    "I'll pick up the parcel on Thursday",
    "I've got swimming on Friday",
    "can I do the soccer run on Thursday?",
    "I did the soccer run on Thursday",
    "I'll do the soccer run on Thursday if you cook",
    "I'll do it on Thursday",
)


async def cards(talk: Talking) -> list[str]:
    """Return what waits, in words."""
    viewer, now = Viewer.of(talk.system.household.id, "john"), talk.clock.now()
    found = await talk.system.store.read(lambda c: open_actions(c, viewer, now=now))
    return [each.proposal.summary for each in found]


def are_charges(found: list[str], *titles: str) -> bool:
    """Whether what waits puts somebody in charge of just these events."""
    left = [*found]
    for title in titles:
        at = next((at for at, each in enumerate(left) if title in each and "Add" not in each), None)
        if at is None:
            return False
        del left[at]
    return not left


@on_a_loop
async def test_who_claims_a_job_is_put_in_charge_of_what_stands(tmp_path: Path) -> None:
    said = {claim.format(it=job): title for claim, (job, title) in product(CLAIMS, JOBS.items())}
    wrong = {}
    for number, (text, title) in enumerate({**said, **FETCHING}.items()):
        (tmp_path / str(number)).mkdir()
        async with talking(tmp_path / str(number), Planners(None)) as talk:
            await talk.answer(text)
            if not are_charges(found := await cards(talk), title):
                wrong[text] = found
    assert not wrong


@pytest.mark.parametrize("text", BOTH)
@on_a_loop
async def test_two_who_claim_a_job_each_are_both_heard(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text)
        assert are_charges(await cards(talk), *BOTH[text])


@on_a_loop
async def test_a_bare_claim_answers_the_question_before_it(tmp_path: Path) -> None:
    wrong = {}
    for number, (question, text) in enumerate(product(ASKED, ANSWERS)):
        (tmp_path / str(number)).mkdir()
        async with talking(tmp_path / str(number), Planners(None)) as talk:
            await talk.answer(question)
            await talk.answer(text)
            if not are_charges(found := await cards(talk), "Leo soccer practice"):
                wrong[question, text] = found
    assert not wrong


@on_a_loop
async def test_a_bare_claim_of_nothing_said_is_asked_about(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        assert "Which job" in await talk.answer("I'll do it")
        assert not await cards(talk)


@pytest.mark.parametrize("text", OTHER)
@on_a_loop
async def test_what_is_no_such_job_puts_nobody_in_charge(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(text)
        assert not [each for each in await cards(talk) if not each.startswith("Add")]


@pytest.mark.parametrize(
    "text",
    [
        "count me out for Thursday",
        "count me out of soccer on Thursday",
        "take me off the soccer run on Thursday",
        "don't count on me for soccer on Thursday",
        "count me out",
    ],
)
@pytest.mark.parametrize("is_down", [True, False])
@on_a_loop
async def test_who_counts_themselves_out_is_put_on_nothing(
    tmp_path: Path, text: str, *, is_down: bool
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        if is_down:
            await talk.answer("put me in charge of soccer on Thursday")
            await talk.answer("yes")
        answer = await talk.answer(text)
        assert ("unassigned" in answer) is is_down
        assert len(await cards(talk)) == is_down
