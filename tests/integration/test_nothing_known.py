"""Where the best memory is of another thing than the one asked about, nothing is known."""

from itertools import permutations
from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions import session_words
from kinkeeper.actions.consent import Author, Origin
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer
from kinkeeper.memory.sessions import SessionMessage
from live_household import MONDAY, live_system
from talking import on_a_loop, talking

THINGS = ("hall", "fence", "zorb shed", "gate")
TOLD = ("We painted the {} green last spring.", "The {} was built by Mr Pollard.")
ASKED = ("who painted the {}?", "who built the {}?")


async def known(file: Path, told: str, *asked: str) -> list[str]:
    """Return the answers of the brain after something was told."""
    with live_system(file) as system:
        household, clock = system.household, VirtualClock(MONDAY)
        john = household.member("john")
        assert john is not None
        message = SessionMessage(
            content_session_id="s",
            user_message=told,
            source="test",
            channel="web",
            timestamp=MONDAY,
        )
        system.store.write_now(
            lambda conn: session_words.keep(
                conn,
                message,
                Author(is_adult=True, origin=Origin.SAID),
                household=household,
                member=john,
                scope=HOUSEHOLD_SCOPE,
                at=MONDAY,
            )
        )
        while await reading_of(household, system.store, clock).run_once():
            pass
        brain = HouseholdBrain(system.store, household, system.recall.finder, clock)
        viewer = Viewer.of(household.id, "sarah")
        return [(await brain.know(BrainQuery(text=each), viewer)).answer for each in asked]


@pytest.mark.parametrize(("told", "asked"), list(zip(TOLD, ASKED, strict=True)))
@on_a_loop
async def test_what_is_told_of_one_thing_answers_nothing_of_another(
    tmp_path: Path, told: str, asked: str
) -> None:
    for number, (thing, other) in enumerate(permutations(THINGS, 2)):
        of_it, of_other = await known(
            tmp_path / f"{number}.sqlite",
            told.format(thing),
            asked.format(thing),
            asked.format(other),
        )
        assert told.format(thing)[:12] in of_it
        assert "known" in of_other, f"{other}: {of_other}"


# Questions that a calendar alone can neither affirm nor deny.

OPEN = (
    "does {who} have school {day}?",
    "has {who} got nursery {day}?",
    "does {who} work {day}?",
    "is {who} working {day}?",
    "is {who} coming over {day}?",
    "will {who} be at ours {day}?",
    "will {who} be home {day}?",
    "is {who} around {day}?",
    "is {who} collecting Mia {day}?",
    "does {who} see a counsellor?",
    "does {who} still go to the gym?",
    "is there a barbecue {day}?",
)
PLANNED = (
    "is there anything {day}?",
    "do we have anything {day}?",
    "does {who} have anything on {day}?",
)


@on_a_loop
async def test_an_empty_calendar_is_no_answer_to_what_somebody_does(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for place, (form, day) in enumerate(
            combined((*OPEN, *PLANNED), ("on the 13th", "on the 20th"))
        ):
            for who in ("Sarah", "Leo"):
                asked = form.format(who=who, day=day)
                told = await talk.answer(asked, thread_id=f"{place} {who}")
                assert not told.startswith(("No", "Yes")) or told.startswith("Nothing"), (
                    asked,
                    told,
                )
                assert "is free" not in told, (asked, told)
                assert ("I don't know" in told) <= (form in OPEN), (asked, told)
        for day in ("13th", "20th"):
            free = await talk.answer(f"is Sarah free on the {day}?", thread_id="free")
            assert free.startswith("Sarah is free"), free
            assert "as far as I know" in free, free


@on_a_loop
async def test_what_somebody_else_is_planned_for_is_no_yes(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("put Sarah's osteopath in the calendar on the 13th at 10am")
        await talk.answer("yes")
        for asked in ("is Sarah coming with us on the 13th?", "will Sarah be at ours on the 13th?"):
            told = await talk.answer(asked, thread_id=asked)
            assert "steopath" in told, (asked, told)
            assert "Yes" not in told, (asked, told)
        for asked in ("does Sarah have anything on the 13th?", "is the osteopath on the 13th?"):
            assert "Yes" in await talk.answer(asked, thread_id=asked), asked
