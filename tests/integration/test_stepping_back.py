"""Who is down for something and says that they cannot is in doubt at once, and what only would put them on it ends."""

from itertools import cycle
from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.repository import open_actions
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from talking import Talking, on_a_loop, talking

ASKS = ("sarah takes leo to soccer on tuesday", "mom drives leo to soccer tomorrow")
BARE = (
    "i cant",
    "no i can't",
    "nope, can't, sorry",
    "sadly I can't",
    "Actually I can't, there's a staff meeting",
    "not me",
    "I'd rather not",
    "someone else has to",
    "that doesn't work for me",
)
NAMING = (
    "can't do tuesday after all",
    "not me on tuesday, the car is at the garage",
    "I won't manage tuesday",
    "tuesday is no good for me any more",
    "somebody else needs to fetch leo on tuesday",
    "find somebody else for tuesday please",
    "something came up on tuesday, I can't collect leo",
    "I can't do soccer",
    "i can't get leo tomorrow",
)
INSTEAD = (
    "running late on tuesday, can dad get leo instead?",
    "could john do it instead? I'm at the office",
    "hopeless, I can't. would John go instead?",
)
LEFT_ALONE = (
    "no problem",
    "I can't wait for tuesday",
    "I can't find my keys",
    "i can't do chess on wednesday",
    "I can't make mia's ballet",
    "no thanks needed, I'll do it",
    "can you do anything else?",
)
ASKED = "who takes leo to soccer on tuesday?"

FAR = "put {what} for leo on 19 march at 6pm, sarah drives"
UNABLE = (
    "I can't bring leo to {what} on the 19th",
    "can't make {what} on the 19th, sorry",
    "won't manage {what}, I'm afraid",
    "like I said, I can't take leo to {what}",
    "I can't fetch him from {what} on the 19th",
    "something's come up, no {what} for me",
    "{what}: not me, I'm at the office",
    "was going to do {what} but I can't any more",
    "I said I'd drive to {what} but I have to work",
    "I'm not able to do {what} on march 19",
)
WHATS = ("pottery", "the blood test", "school choir")
OWN_EVENT = "put the gala for leo on friday at 6pm, sarah drives"
BESIDE = (
    ("john", "sarah can't do the gala"),
    ("mia", "cancel the gala"),
    ("john", "maybe cancel the gala"),
    ("john", "maybe move the gala to saturday"),
    ("john", "mom takes leo to soccer tomorrow"),
)
OF_IT = (
    "I can't do the gala",
    "sorry, can't make the gala any more",
    "was meant to do the gala but something came up",
    "I can't drive leo to the gala on friday",
)
OF_NOTHING_KNOWN = ("I can't drive leo to violin", "can't take leo to the museum, sorry")


@pytest.mark.parametrize("is_agreed", [False, True], ids=["waiting", "agreed"])
@on_a_loop
async def test_who_cannot_is_in_doubt_at_once(tmp_path: Path, *, is_agreed: bool) -> None:
    wrong = []
    for number, (ask, said) in enumerate(zip(cycle(ASKS), (*BARE, *NAMING, *INSTEAD))):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(ask, thread_id="j")
            if is_agreed:
                await talk.answer("yes", thread_id="j")
            talk.later(seconds=60)
            told = await talk.answer(said, by="sarah", thread_id="s")
            answer = await talk.answer(ASKED, thread_id="other")
            doubt = (
                "you would be in charge, not confirmed yet"
                if said in INSTEAD
                else "Sarah can't do it, not confirmed yet"
                if is_agreed
                else "Nobody is down yet"
            )
            if (
                doubt not in answer
                or "Sarah would be" in answer
                or told.startswith(("Okay.", "Saved"))
            ):
                wrong.append((ask, said, told, answer))
    assert not wrong


@pytest.mark.parametrize("is_agreed", [False, True], ids=["waiting", "agreed"])
@on_a_loop
async def test_what_is_about_something_else_leaves_it_as_it_is(
    tmp_path: Path, *, is_agreed: bool
) -> None:
    wrong = []
    for number, said in enumerate(LEFT_ALONE):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(ASKS[0], thread_id="j")
            if is_agreed:
                await talk.answer("yes", thread_id="j")
            before = await talk.answer(ASKED, thread_id="before")
            await talk.answer(said, by="sarah", thread_id="s")
            if (after := await talk.answer(ASKED, thread_id="after")) != before:
                wrong.append((said, after))
    assert not wrong


@on_a_loop
async def test_a_bare_no_turns_down_what_waits_only_where_nothing_else_was_spoken_of(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(ASKS[0], thread_id="j")
        await talk.answer("add milk to the shopping list", by="sarah", thread_id="s")
        for said in ("no", "i can't"):
            await talk.answer(said, by="sarah", thread_id="s")
            assert "Sarah would be in charge" in await talk.answer(ASKED, thread_id="other")
        talk.later(minutes=20)
        told = await talk.answer("no", by="sarah", thread_id="s")
        assert told.startswith(("Okay, I won't put you", "All right, I will not put you"))
        assert "Nobody is down yet" in await talk.answer(ASKED, thread_id="other")


@on_a_loop
async def test_nobody_turns_down_what_another_was_asked(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(ASKS[0], by="john", thread_id="j")
        await talk.answer("no i can't", by="john", thread_id="new")
        await talk.answer("no i can't", by="leo", thread_id="l")
        assert "Sarah would be in charge" in await talk.answer(ASKED, thread_id="other")


@on_a_loop
async def test_who_is_in_charge_may_say_weeks_before_that_they_cannot(tmp_path: Path) -> None:
    wrong = []
    for number, (said, what) in enumerate(zip(UNABLE, cycle(WHATS))):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(FAR.format(what=what), thread_id="j")
            told = await talk.answer(said.format(what=what), by="sarah", thread_id="s")
            answer = await talk.answer(f"who is taking leo to {what}?", thread_id="other")
            if "Sarah can't do it, not confirmed yet" not in answer or "in charge" in told:
                wrong.append((said, told, answer))
    assert not wrong


@on_a_loop
async def test_who_cannot_ends_no_card_but_one_that_would_put_them_on_that_very_thing(
    tmp_path: Path,
) -> None:
    wrong = []
    cases = combined(BESIDE, (*OF_IT, *OF_NOTHING_KNOWN))
    for number, ((by, ask), said) in enumerate(cases):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            viewer = Viewer.of(talk.system.household.id, "sarah")

            async def waiting(talk: Talking = talk, viewer: Viewer = viewer) -> set[str]:
                now = talk.clock.now()
                found = await talk.system.store.read(lambda c: open_actions(c, viewer, now=now))
                return {each.id for each in found}

            await talk.answer(OWN_EVENT, thread_id="j")
            await talk.answer(ask, by=by, thread_id="asked")
            before = await waiting()
            told = await talk.answer(said, by="sarah", thread_id="s")
            answer = await talk.answer("who is taking leo to the gala?", thread_id="other")
            is_doubted = "Sarah can't do it" in answer
            if not before or not before <= await waiting() or (said in OF_IT and not is_doubted):
                wrong.append((ask, said, told, answer))
    assert not wrong


@on_a_loop
async def test_what_waits_for_others_stays_when_one_cannot_drive(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        assert "Shall I add" in await talk.answer(
            "maybe put archery for leo on 19 march at 6pm, sarah drives", thread_id="j"
        )
        told = await talk.answer("I can't bring leo to archery on the 19th", by="sarah")
        assert told.endswith("from 6pm to 7pm, for Leo?")
        viewer, now = Viewer.of(talk.system.household.id, "john"), talk.clock.now()
        (card,) = await talk.system.store.read(lambda c: open_actions(c, viewer, now=now))
        assert not card.proposal.request["params"].get("responsible")
