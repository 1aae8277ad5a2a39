"""Who is put down for something is put down for what stands in the calendar, and what points at nothing said stays with its own message."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.actions.repository import open_actions
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from live_household import HOUSEHOLD
from talking import Talking, on_a_loop, talking

EVENTS = """
[[events]]
id = "gala"
summary = "Swim gala"
who = ["mia"]
start = 2026-03-07T14:00:00
[[events]]
id = "stall"
summary = "Cake stall"
start = 2026-03-06T13:00:00
[[events]]
id = "evening"
summary = "Parents' evening"
who = ["leo"]
start = 2026-03-25T18:30:00
"""
KNOWN = {
    "soccer on thursday": "Leo soccer practice",
    "the swim gala on saturday": "Swim gala",
    "the cake stall": "Cake stall",
    "parents' evening on the 25th": "Parents' evening",
    "ballet wednesday": "Mia ballet class",
    "soccer tomorrow at 4:30": "Leo soccer practice",
}
PUT_DOWN = (
    "put {who} down for {it}",
    "sign {who} up for {it}",
    "count {who} in for {it}",
    "pencil {who} in for {it}",
    "can you mark {who} down for {it}?",
    "put {who} in charge of {it}",
)
TOLD_OTHER = (
    "no, I can't do the gala",
    "no, the gala is off",
    "no soccer on tuesday",
    "nope, ballet is cancelled on wednesday",
    "no, the gala is at 3",
)
TOLD_NO = ("no", "no, I can't do the stall", "no thanks, I'm busy", "no, I can't do fridays")
OWN = (
    "put karate for Leo on Tuesday at 6, Sarah drives",
    "karate for Leo on Tuesday at 6, Sarah drives",
    "put karate for Leo on Tuesday at 6. Sarah drives",
    "schedule karate for Leo on Tuesday at 6, Sarah is taking him",
)


@pytest.fixture
def household(tmp_path: Path) -> Path:
    file = tmp_path / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + EVENTS, encoding="utf-8")
    return file


async def cards(talk: Talking) -> list[str]:
    """Return what waits, in words."""
    viewer, now = Viewer.of(talk.system.household.id, "john"), talk.clock.now()
    found = await talk.system.store.read(lambda c: open_actions(c, viewer, now=now))
    return [each.proposal.summary for each in found]


async def titles(talk: Talking) -> list[str]:
    viewer = Viewer.of(talk.system.household.id, "john")
    return sorted(
        each.summary for each in await talk.system.store.read(lambda c: list_events(c, viewer))
    )


@on_a_loop
async def test_whoever_is_put_down_for_what_stands_is_put_in_charge_of_it(
    tmp_path: Path, household: Path
) -> None:
    wrong = []
    async with talking(tmp_path, Planners(None), household=household) as talk:
        before = await titles(talk)
        for says, (it, title), who in product(PUT_DOWN, KNOWN.items(), ("me", "Sarah")):
            text = says.format(who=who, it=it)
            said = await talk.say(text)
            await talk.heard(said)
            name = "John" if who == "me" else who
            waiting = await cards(talk)
            if not (
                len(waiting) == 1 and title in waiting[0] and f"{name} in charge" in waiting[0]
            ):
                wrong.append((text, waiting))
            await talk.answer("no", thread_id=said.thread_id)
        assert await titles(talk) == before
    assert not wrong


@on_a_loop
async def test_what_does_not_stand_is_only_proposed_without_an_hour(
    tmp_path: Path, household: Path
) -> None:
    async with talking(tmp_path, Planners(None), household=household) as talk:
        before = await titles(talk)
        for says in PUT_DOWN[:4]:
            await talk.answer(says.format(who="me", it="the bake sale on friday"))
        assert await titles(talk) == before
        (waiting,) = await cards(talk)
        assert "Add bake sale" in waiting


@pytest.mark.parametrize(
    "says", ["Leo has soccer on tuesday", "Leo's got soccer on tomorrow at 4:30"]
)
@on_a_loop
async def test_what_is_told_and_stands_already_is_shown(
    tmp_path: Path, household: Path, says: str
) -> None:
    async with talking(tmp_path, Planners(None), household=household) as talk:
        assert "Leo soccer practice" in await talk.answer(says)
        assert not await cards(talk)


@on_a_loop
async def test_whoever_joins_comes_beside_those_who_take_part(
    tmp_path: Path, household: Path
) -> None:
    async with talking(tmp_path, Planners(None), household=household) as talk:
        await talk.answer("add Leo to the gala")
        assert "with Mia and Leo" in (await cards(talk))[0]


@on_a_loop
async def test_a_no_that_is_about_something_else_leaves_the_card_open(
    tmp_path: Path, household: Path
) -> None:
    async with talking(tmp_path, Planners(None), household=household) as talk:
        for text, is_other in [*((e, True) for e in TOLD_OTHER), *((e, False) for e in TOLD_NO)]:
            said = await talk.say("I'll do the cake stall")
            await talk.heard(said)
            await talk.answer(text, thread_id=said.thread_id)
            stalls = [each for each in await cards(talk) if "Cake stall" in each]
            assert bool(stalls) is is_other, text
            for _ in await cards(talk):
                await talk.answer("no", thread_id=said.thread_id)
            talk.later(hours=0, minutes=11)
            if stalls:
                again = await talk.say("I'll do the cake stall")
                await talk.heard(again)
                await talk.answer("no", thread_id=again.thread_id)


@pytest.mark.parametrize("says", OWN)
@on_a_loop
async def test_who_drives_is_said_of_what_the_message_names(
    tmp_path: Path, household: Path, says: str
) -> None:
    async with talking(tmp_path, Planners(None), household=household) as talk:
        said = await talk.say("when is the gala?")
        await talk.heard(said)
        await talk.answer(says, thread_id=said.thread_id)
        viewer = Viewer.of(talk.system.household.id, "john")
        events = await talk.system.store.read(lambda c: list_events(c, viewer))
        (new,) = [each for each in events if each.summary == "karate"]
        assert tuple(new.responsible) == ("sarah",)
        assert not await cards(talk)
