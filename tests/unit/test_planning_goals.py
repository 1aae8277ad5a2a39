"""What takes more than one answer, as people ask for it: found, watched, asked again, asked after, called off."""

from itertools import product

import pytest

from kinkeeper.conversation.model import PlannedAction
from planning import done, exchange, plan, planned

GOALS = {
    "goals": [
        {"id": "g1", "title": "a riding school for Mia"},
        {"id": "g2", "title": "a second-hand tent"},
        {"id": "g3", "title": "the ferry's timetable"},
    ]
}

SOUGHT = (
    "a choir for Leo",
    "some climbing lessons for Emma",
    "a cheaper van under £4,000",
    "ballet classes near us",
    "the cheapest way to Malta",
    "another nanny for the summer",
    "a plumber who speaks Polish",
)
SEEKING = (
    "find {}",
    "can you find us {}?",
    "could you look for {}",
    "please search for {}",
    "look into {}",
    "help me find {}",
    "see if you can find {}",
    "would you hunt for {} please",
    "I'd like you to find {}",
)


@pytest.mark.parametrize(("form", "thing"), [*product(SEEKING, SOUGHT)])
def test_what_is_to_be_found_out_is_taken_on(form: str, thing: str) -> None:
    assert planned(form.format(thing)) == [("goal.create", {"text": thing})]


WATCHED = (
    "the price of the tent",
    "the library's opening hours",
    "tickets for the circus",
    "the school website",
    "flight prices to Porto",
    "places in the after-school club",
    "the swimming timetable",
)
WATCHING = (
    "keep an eye on {}",
    "can you keep track of {}",
    "keep me posted on {}",
    "please keep watch on {}",
    "monitor {}",
)


@pytest.mark.parametrize(("form", "thing"), [*product(WATCHING, WATCHED)])
def test_what_changes_is_watched(form: str, thing: str) -> None:
    assert planned(form.format(thing)) == [("goal.create", {"text": thing, "kind": "watch"})]


@pytest.mark.parametrize(
    ("form", "change"),
    [
        *product(
            (
                "let me know when {}",
                "tell us as soon as {}",
                "give me a shout once {}",
                "notify me if {}",
            ),
            (
                "the tent falls in price",
                "the concert goes on sale",
                "new dates are announced",
                "the course is available",
            ),
        )
    ],
)
def test_what_somebody_wants_to_hear_of_is_watched(form: str, change: str) -> None:
    assert planned(form.format(change)) == [("goal.create", {"text": change, "kind": "watch"})]


@pytest.mark.parametrize(
    ("form", "about"),
    [
        *product(
            (
                "ask me again on Friday {}",
                "ask me {} on Friday",
                "check with me again on Friday {}",
                "can you ask me again on Friday {}?",
            ),
            ("whether we move", "about the kennel", "if the boiler works"),
        )
    ],
)
def test_a_question_is_asked_again(form: str, about: str) -> None:
    text = about.removeprefix("about ")
    wanted = {"kind": "ask", "text": text, "at": "2026-03-13"}
    assert planned(form.format(about)) == [("goal.create", wanted)]


@pytest.mark.parametrize(
    "text",
    [
        "ask me again on Friday",
        "come back to this on Friday",
        "bring it up again on Friday",
        "get back to me on Friday",
    ],
)
def test_what_was_spoken_of_last_is_asked_again(text: str) -> None:
    before = exchange("shall we get a puppy?")
    wanted = {"kind": "ask", "text": "shall we get a puppy?", "at": "2026-03-13"}
    assert planned(text, history=[before]) == [("goal.create", wanted)]
    assert plan(text).clarification == "What shall I ask you about?"


def test_a_question_without_a_time_needs_one() -> None:
    asked = plan("ask me again whether we move")
    assert (asked.actions, asked.clarification) == ((), "When shall I ask you again?")


ABOUT_KNOWN = {
    "goal.show": (
        "how is it going with {}?",
        "how's the search for {} coming along",
        "any news on {}?",
        "how far are you with {}",
    ),
    "goal.cancel": (
        "stop looking for {}",
        "you can stop searching for {}",
        "no need to watch {} any more",
        "call off the search for {}",
    ),
    "goal.pause": (
        "pause the search for {}",
        "put the hunt for {} on hold",
        "hold off on {} for now",
    ),
    "goal.resume": ("go on with {}", "carry on looking for {}", "resume the search for {}"),
}
NAMED = {"the riding school": "g1", "a tent": "g2", "the ferry timetable": "g3"}


@pytest.mark.parametrize(
    ("key", "form", "name"),
    [
        (key, form, name)
        for key, forms in ABOUT_KNOWN.items()
        for form in forms
        for name in NAMED
        if "hunt" not in form
    ],
)
def test_what_is_worked_on_is_asked_after_and_called_off(key: str, form: str, name: str) -> None:
    assert planned(form.format(name), fetched=GOALS) == [(key, {"find_by": NAMED[name]})]


@pytest.mark.parametrize("form", [form for forms in ABOUT_KNOWN.values() for form in forms])
def test_of_what_is_not_worked_on_no_goal_is_changed(form: str) -> None:
    for name in ("the piano", "dinner"):
        found = planned(form.format(name), fetched=GOALS)
        assert not [key for key, _ in found if key.startswith("goal.")]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("stop that", "goal.cancel"),
        ("stop looking", "goal.cancel"),
        ("pause it", "goal.pause"),
        ("resume that", "goal.resume"),
    ],
)
def test_that_is_the_goal_that_was_spoken_of(text: str, key: str) -> None:
    before = exchange("find a tent", done("goal.create", id="g2"))
    assert planned(text, history=[before], fetched=GOALS) == [(key, {"find_by": "g2"})]
    other = exchange("add milk", done("notes.append", id="n"))
    assert not [
        each
        for each in planned(text, history=[other], fetched=GOALS)
        if each[0].startswith("goal.")
    ]


@pytest.mark.parametrize(
    "text",
    ["what are you working on?", "what are you looking for at the moment", "show me my goals"],
)
def test_all_that_is_worked_on_is_listed(text: str) -> None:
    assert planned(text) == [("goal.list", {})]


@pytest.mark.parametrize(
    "text", ["we need to find a nanny for the summer", "Sarah says we should find a choir for Leo"]
)
def test_what_is_only_told_is_not_done_at_once(text: str) -> None:
    actions: tuple[PlannedAction, ...] = plan(text).actions
    assert all(each.is_offer for each in actions if each.domain == "goal")


@pytest.mark.parametrize(
    "text",
    [
        "find my keys",
        "find Leo",
        "find Mia's shoes",
        "find the dentist appointment",
        "find a free slot for the vet",
        "find time for a walk",
        "find out when the recital is",
        "find someone to pick up Mia",
        "look up grandma's number",
        "find the email from the school",
        "I found a choir for Leo",
        "did you find a choir?",
        "Sarah is looking for a bike",
        "keep an eye on Leo",
        "keep an eye on the oven",
        "watch Mia on Saturday",
        "watch out for the step",
        "keep watch",
        "let me know when dinner is ready",
        "tell me when the recital is",
        "let me know if you need anything",
        "watch the news",
        "I want to watch the film that is out",
        "tell me when to change the tyres",
        "let me know when I should change the oil",
        "please let me know when next the tyres are changed",
        "find one that fits",
        "find a nice one",
        "find 45 minutes next week",
        "find myself some tea",
        "look in the attic",
        "look for you later",
        "find u there",
        "see if you can see the bus",
        "come back to me",
        "ask me to call again on Friday",
        "Ask me if anything is unclear. Send me your part by Thursday",
        "ask me anything",
        "ask Sarah again on Friday",
        "ask me nicely",
        "remind me again on Friday",
        "how is it going?",
        "any news?",
        "stop",
        "pause",
        "go on",
        "stop the car",
        "cancel the dentist",
        "stop that noise",
    ],
)
def test_what_is_no_goal_makes_none(text: str) -> None:
    for around in ({}, {"fetched": GOALS}):
        found = planned(text, **around)
        assert not [key for key, _ in found if key.startswith("goal.")], found
