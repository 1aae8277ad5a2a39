"""A present told in passing is kept from whom it is for, and so is what is said of the same thing afterwards."""

from pathlib import Path

import pytest
from test_secrecy_in_threads import seen_by

from combinations import combined
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.file import load_household
from kinkeeper.household.viewers import surprise_scope
from kinkeeper.memory.statements.secrecy import secrecy_of
from live_household import HOUSEHOLD
from talking import on_a_loop, talking

THINGS = ("kazoo", "unicycle", "amber necklace", "roller boots")
PEOPLE = (
    ("Leo", "leo", "he", "his"),
    ("Mia", "mia", "she", "her"),
    ("Sarah", "sarah", "she", "her"),
)
MEANT = (
    "{x}s birthday {thing} arrived today",
    "{x}'s christmas {thing} finally came",
    "{x}'s anniversary {thing} is in the coal shed",
    "the {thing} for {x} is in the attic, wrapped",
    "{x}'s {thing} is wrapped",
    "bought {x} a {thing}, birthday is the 4th of may",
    "ordered {x} a {thing} (birthday on the 3rd)",
    "{x} is getting the {thing} from me",
    "wrap the {thing}, {his} main present ({x} I mean)",
    "buy the {thing}. {x} = clueless, keep it so",
    "pick up {x}'s birthday {thing}",
    "fetch the {thing} we're giving {x}",
    "bought {x} a {thing}, it's behind the boiler, {he} must not go down there",
    "remind me to wrap {x}s {thing} on the 24th",
    "ordered the {thing} for {x}, {x} must not look in the boot",
    "put {x}'s xmas {thing} in the loft",
)
OPEN = (
    "{x}'s birthday party is in the church hall",
    "{x}'s birthday dinner came late",
    "{x}'s christmas play is at the school",
    "{x}'s christmas jumper arrived",
    "pick up {x}'s birthday cake",
    "the sandwich for {x} is wrapped in foil",
    "{x} is getting a lift from me",
    "{x} is getting {his} antibiotic from me",
    "{x} has to wrap {his} books",
    "get {x} ready, birthday party at 3",
    "picked up {x}, birthday party was fun",
    "fetch the medicine we're giving {x}",
    "{x} must not go in the road",
    "{x}'s birthday is in the calendar",
    "{x}'s birthday weekend is in the cottage",
    "got {x} new shoes, school starts monday",
    "{x}'s new {thing} is in the shed",
    "the {thing} for {x} is in the shed",
)


@pytest.mark.parametrize(("forms", "is_kept"), [(MEANT, True), (OPEN, False)])
def test_what_is_given_is_kept_from_whom_it_is_for_and_nothing_else(
    forms: tuple[str, ...], is_kept: bool
) -> None:
    household, wrong = load_household(HOUSEHOLD), []
    for form, thing, (name, who, he, his) in combined(forms, THINGS, PEOPLE):
        text = form.format(x=name, thing=thing, he=he, his=his)
        wish = secrecy_of(text, household, "john")
        if (wish.scope if wish else "") != (surprise_scope([who]) if is_kept else ""):
            wrong.append(text)
    assert not wrong


LATER = (
    "{x}'s {thing} needs a bigger box",
    "remind me to test {x}'s {thing} on friday",
    "put the fitting of {x}'s {thing} in on friday at 5pm",
    "add varnish for {x}'s {thing} to my to-do list",
    "the {thing} for {x} was dear",
)


@pytest.mark.parametrize("by", ["john", "sarah"])
@on_a_loop
async def test_a_thing_that_one_called_a_present_is_kept_in_what_all_say_of_it(
    tmp_path: Path, by: str
) -> None:
    shown = []
    for number, (form, thing) in enumerate(combined(LATER, THINGS[:3])):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            before = await seen_by(talk, "leo")
            await talk.answer(f"Leo's birthday {thing} arrived today", by="john", thread_id="a")
            talk.later(hours=5)
            await talk.answer(form.format(x="Leo", thing=thing), by=by, thread_id="b")
            talk.later(seconds=20)
            await talk.answer("yes", by=by, thread_id="b")
            if await seen_by(talk, "leo") != before:
                shown.append(form.format(x="Leo", thing=thing))
            assert thing in await seen_by(talk, "sarah")
    assert not shown


@pytest.mark.parametrize("text", ["Leo's shoes need a new box", "remind Leo to clean the shelf"])
@on_a_loop
async def test_other_things_and_other_peoples_are_not(tmp_path: Path, text: str) -> None:
    for thing in THINGS[:2]:
        async with talking(f"{tmp_path}/{thing}.sqlite", Planners(None)) as talk:
            await talk.answer(f"Leo's birthday {thing} arrived today", by="john", thread_id="a")
            talk.later(hours=5)
            said = await talk.answer(text.format(thing=thing), by="sarah", thread_id="b")
            assert "except Leo" not in said
            assert "Leo can't see" not in said
