"""Where the best memory is of another thing than the one asked about, nothing is known."""

from itertools import permutations
from pathlib import Path

import pytest

from kinkeeper.actions import session_words
from kinkeeper.actions.consent import Author, Origin
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer
from kinkeeper.memory.sessions import SessionMessage
from live_household import MONDAY, live_system
from talking import on_a_loop

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
