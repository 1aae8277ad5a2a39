"""What no rule understands is read by the trained reader: most of it rightly, all of it only proposed, and talk not at all."""

from dataclasses import replace
from itertools import product
from typing import Any, Final

import pytest

from kinkeeper.conversation.model import Plan
from kinkeeper.conversation.planning.frame_planner import proposed, weighed
from kinkeeper.conversation.planning.planners import read_by_both
from kinkeeper.conversation.planning.rule_planner import as_offers, plan_of
from planning import context

FETCHED: Final[dict[str, Any]] = {
    "events": [
        {"event_id": "e1", "title": "kiln workshop", "start": "2026-03-13T17:00:00-05:00", "end": "2026-03-13T18:00:00-05:00"},
        {"event_id": "e2", "title": "orthodontist", "start": "2026-03-17T15:30:00-05:00", "end": "2026-03-17T16:00:00-05:00", "who": ["mia"]},
    ],
    "tasks": [
        {"id": "t1", "title": "Bleed the radiators", "status": "open"},
        {"id": "t2", "title": "Return the museum pass", "status": "open"},
    ],
    "lists": ["Shopping"],
    "lines": [{"title": "Shopping", "entries": ["lentils", "dishwasher salt"]}],
}  # fmt: skip

DONE = (
    "{thing} all {verb} last night",
    "so {thing} {verb} already, took ages",
    "{thing} {verb} finally, what a job",
    "{thing} is {verb} btw",
)
DEEDS = (("radiators", "bled", "t1"), ("the museum pass", "returned", "t2"))

HAPPENS = (
    "{what} for the lot of us, {when}",
    "ok so {what} is {when} then",
    "they gave us {when} for {what}",
    "new thing: {what}, {when}, she was told today",
)
THINGS = ("quilting circle", "canoe test", "stilt walking show")
TIMES = ("saturday 21 march at 3pm", "march 24 at 10am")

TALK = (
    "last year we had the {what} in a barn, what a laugh",
    "my sister's lot always moan about their {what}",
    "honestly some days i could scream lol",
    "if only we had a {what} like other families",
    "ha, a {what}, as if",
    "my boss thinks the {what} was the best day of her life",
)


def read(text: str) -> Plan:
    return proposed(context(text, fetched=FETCHED)).plan


def test_most_deeds_that_are_told_tick_off_their_task() -> None:
    found = [
        [each.params.get("find_by") for each in read(form.format(thing=thing, verb=verb)).actions]
        == [task]
        for form, (thing, verb, task) in product(DONE, DEEDS)
    ]
    assert sum(found) / len(found) >= 0.6


def test_most_news_of_what_takes_place_is_proposed_with_its_name_and_hour() -> None:
    wanted = {
        "saturday 21 march at 3pm": "2026-03-21T15:00",
        "march 24 at 10am": "2026-03-24T10:00",
    }
    found = []
    for form, what, when in product(HAPPENS, THINGS, TIMES):
        actions = read(form.format(what=what, when=when)).actions
        found.append(
            [
                (each.action, each.params["start_time"][:16])
                for each in actions
                if what in str(each.params.get("summary"))
            ]
            == [("create_event", wanted[when])]
        )
    assert sum(found) / len(found) >= 0.6


@pytest.mark.parametrize(
    "told",
    [
        "{who} hasnt had her iron drops yet",
        "never gave {who} the cetirizine",
        "didnt give {who} her inhaler this morning",
        "{who} had her porridge already",
        "gave {who} a bath last night",
    ],
)
def test_what_was_not_done_or_shares_only_a_name_ticks_nothing_off(told: str) -> None:
    tasks = [
        {"id": f"n{at}", "title": title, "status": "open"}
        for at, title in enumerate(("calpol for {who} again", "{who} can have nurofen"))
    ]
    for who in ("Mia", "Leo"):
        fetched = {"tasks": [{**each, "title": each["title"].format(who=who)} for each in tasks]}
        assert not proposed(context(told.format(who=who), fetched=fetched)).plan.actions


@pytest.mark.parametrize("form", [*DONE, *HAPPENS, *TALK])
def test_whatever_it_reads_is_only_proposed(form: str) -> None:
    text = form.format(thing="radiators", verb="bled", what="canoe test", when="saturday at 3pm")
    plan = read(text)
    assert plan == as_offers(plan)


def test_hardly_any_talk_is_taken_for_a_request() -> None:
    said = [form.format(what=what) for form, what in product(TALK, THINGS)]
    assert sum(bool(read(each).actions) for each in said) <= len(said) // 6


@pytest.mark.parametrize(
    "text",
    [
        "put the canoe test in the calendar on friday at 3pm",
        "remind me tomorrow to bleed the radiators",
        "add oats to the shopping list",
        "cancel the orthodontist",
        "what's on friday?",
    ],
)
def test_what_the_rules_understand_stays_as_they_read_it(text: str) -> None:
    asked = context(text, fetched=FETCHED)
    by_rules = plan_of(asked)
    assert by_rules.actions
    assert read_by_both(by_rules, asked) is by_rules


@pytest.mark.parametrize("form", [*DONE, *HAPPENS])
def test_a_household_that_is_surer_is_offered_less_and_what_is_held_is_noted(form: str) -> None:
    for what, when in product(THINGS, TIMES):
        text = form.format(thing="radiators", verb="bled", what=what, when=when)
        known = context(text, fetched=FETCHED)
        everything = proposed(replace(known, offset=-0.1)).plan.actions
        for offset in (-0.1, -0.04, 0.0, 0.02, 0.2, 0.5):
            plan = proposed(replace(known, offset=offset)).plan
            sure = tuple(each for each in everything if each.confidence >= 0.5 + offset)
            assert plan.actions == sure
            held = max((each.confidence for each in everything), default=None)
            assert plan.held == (held if not sure else None)
            assert read_by_both(Plan(), replace(known, offset=offset)).held == plan.held


@pytest.mark.parametrize("form", [*HAPPENS, *TALK])
def test_what_rules_would_offer_is_held_only_below_a_bar_that_was_raised(form: str) -> None:
    for what, when in product(THINGS, TIMES):
        text = form.format(what=what, when=when)
        known = context(text, fetched=FETCHED)
        guess = as_offers(plan_of(context(f"put {what} in the calendar {when}")))
        chance = proposed(known).chance
        for offset in (-0.1, 0.0, 0.02, 0.1, 0.2, 0.5):
            plan = weighed(guess, chance, replace(known, offset=offset))
            is_held = offset > 0 and max(0.4, chance) < 0.4 + offset
            assert [replace(each, confidence=1.0) for each in plan.actions] == (
                [] if is_held else [*guess.actions]
            )
            assert (plan.held is not None) is is_held
