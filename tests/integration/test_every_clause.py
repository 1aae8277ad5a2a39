"""Every clause of a message is carried by a request, kept by memory, a reason, or named in the answer."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.conversation.planning.clauses import told_beside
from kinkeeper.conversation.planning.grammar import load_grammar
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.file import load_household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.statements.extraction import observe
from live_household import HOUSEHOLD
from talking import Talking, on_a_loop, talking

FACTS = (
    "Tess can't have penicillin",
    "Priya is allergic to sesame",
    "the plumber is Mr Obi",
    "Aunt Vera lives in Tromso",
    "the gate code is 55143",
)
REQUESTS = (
    "put plasters on the shopping list",
    "remind me on friday at 5 to buy a scarf",
    "what's on tomorrow?",
    "add an eye test on friday at 5pm",
)
REASONS = (
    "we're out, so put milk on the shopping list",
    "put milk on the shopping list because we're out",
    "Tess lost her ruler, put one on the shopping list",
    "put milk on the shopping list, thanks",
    "because Tess is allergic to sesame, put rice cakes on the shopping list",
    "put eggs, milk and bread on the shopping list",
    "remember that Tess can't have penicillin",
    "remind me on friday to tell Vera the plumber is Mr Obi",
)
PAIRS = [
    f"{first}{joint}{second}"
    for (first, second), joint in combined(
        [
            *combined(FACTS, REQUESTS),
            *((b, a) for a, b in combined(FACTS, REQUESTS) if "remind" not in b),
        ],
        [", ", ". "],
    )
    if not (first.endswith("?") and joint.startswith((".", ",")))
]


async def kept(talk: Talking, by: str) -> str:
    reading = reading_of(talk.system.household, talk.system.store, talk.clock)
    while await reading.run_once():
        pass
    viewer, now = Viewer.of(talk.system.household.id, by), talk.clock.now()
    found = await talk.system.store.read(lambda conn: list_facts(conn, viewer, now=now, limit=50))
    return " | ".join(each.narrative for each in found)


@pytest.mark.parametrize("fact", FACTS)
def test_what_is_told_beside_a_request_is_found(fact: str) -> None:
    household = load_household(HOUSEHOLD)
    now = datetime(2026, 3, 2, 8, tzinfo=UTC)
    wrong = {
        text: told
        for text in PAIRS
        if fact in text
        and (told := told_beside(text, load_grammar(), household, now=now)) != [fact]
    }
    assert not wrong


@on_a_loop
async def test_what_is_told_beside_a_request_is_kept_and_said(tmp_path: Path) -> None:
    wrong = []
    for number, text in enumerate(PAIRS[::4]):
        fact = next(each for each in FACTS if each in text)
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            answer = await talk.answer(text, thread_id="t")
            [turn] = await talk.conversation.history(talk.john, "t", last=1)
            known = (await kept(talk, "sarah")).lower()
            if not turn.results or f"“{fact}”: Saved for everyone" not in answer:
                wrong.append((text, answer))
            if fact.lower() not in known or "|" in known:
                wrong.append((text, known))
    assert not wrong


@on_a_loop
async def test_a_part_that_is_told_keeps_the_audience_of_the_message(tmp_path: Path) -> None:
    wrong = []
    for number, (fact, wish) in enumerate(combined(FACTS[:3], ("just for me", "don't tell Sarah"))):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(f"put plasters on the shopping list. {fact}, {wish}")
            if known := await kept(talk, "sarah"):
                wrong.append((fact, wish, known))
    assert not wrong


@on_a_loop
async def test_a_reason_and_what_a_request_carries_is_no_news(tmp_path: Path) -> None:
    wrong = []
    for number, text in enumerate(REASONS):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            answer = await talk.answer(text)
            if "”: Saved" in answer or "haven't done anything" in answer:
                wrong.append((text, answer))
    assert not wrong


@on_a_loop
async def test_a_request_that_was_not_understood_is_named(tmp_path: Path) -> None:
    wrong = []
    strange, asked = ("add loo roll", "book frobs", "add zorbles"), "what time is judo"
    texts = [
        (joined.format(each, asked), each)
        for each, joined in combined(
            strange, ("{}? also {}?", "{}. {}?", "{1}? {0}", "{1} and {0}")
        )
    ]
    for number, (text, left) in enumerate(texts):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            answer = await talk.answer(text)
            if f"haven't done anything about “{left}”" not in answer or "judo" not in answer:
                wrong.append((text, answer))
    assert not wrong


@on_a_loop
async def test_two_errands_with_times_of_their_own_are_two(tmp_path: Path) -> None:
    wrong = []
    forms = (
        "at 9 {} and at 5 {}",
        "{} at 9 and {} at 5",
        "{} at 9 and at 5 {}",
        "remind me to {} at 9 and {} at 5",
        "remind me at 9 to {} and at 5 to {}",
        "{} and {} at 5",
        "remind me to {} and {} at 5",
    )
    errands = (("pay rent", "ring mum"), ("feed the cat", "collect Leo"))
    for number, (form, pair) in enumerate(combined(forms, errands)):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(form.format(*pair), thread_id="t")
            [turn] = await talk.conversation.history(talk.john, "t", last=1)
            made = [each.params.get("title") for each in turn.results]
            if (form.count("9") and made != [*pair]) or (not form.count("9") and len(made) > 1):
                wrong.append((form.format(*pair), made))
    assert not wrong


@on_a_loop
async def test_a_noun_of_which_something_is_said_is_no_command(tmp_path: Path) -> None:
    wrong = []
    nouns, said = (
        ("schedule", "plan", "book", "our schedule"),
        ("looks full", "seems tight", "is a mess"),
    )
    news = [(f"{noun} {each} on friday", False) for noun, each in combined(nouns, said)]
    deeds = [
        (f"schedule {each} on friday", True) for each in ("a full check-up", "looking round a flat")
    ]
    for number, (text, is_deed) in enumerate([*news, *deeds]):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            answer = await talk.answer(text, thread_id="t")
            [turn] = await talk.conversation.history(talk.john, "t", last=1)
            if bool(turn.results) != is_deed:
                wrong.append((text, answer))
    assert not wrong


def test_a_statement_is_kept_whole() -> None:
    whole = [
        f"{thing} changed: {value}, the old {one} {gone}"
        for thing, value in (("Nan's landline", "01632 960777"), ("the gate code", "55143"))
        for one, gone in (("one", "is dead"), ("one", "no longer works"), ("ones", "are gone"))
    ]
    keys = [
        f"{what} is {key}"
        for what in ("wifi", "router login")
        for key in ("OkaforNet / moss22", "sunflower22")
    ]
    passing = ["dinner is lovely", "pizza is here", "bus is 42", "traffic is awful"]
    at = datetime(2026, 3, 2, 8, tzinfo=UTC)
    found = {
        text: [each.text for each in observe(text, said_at=at)]
        for text in [*whole, *keys, *passing]
    }
    assert found == {text: [] if text in passing else [text] for text in found}


@pytest.mark.parametrize("lead", ["", "actually ", "actually, "])
@on_a_loop
async def test_a_statement_that_sets_nothing_right_is_kept_as_without_that(
    tmp_path: Path, lead: str
) -> None:
    for number, text in enumerate(("Otto's shoes are 35 now", "the plumber is Mr Obi")):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            assert "Saved for everyone" in await talk.answer(lead + text)


TAKING_PLACE = ("Leo has a match on saturday at 10am", "add a match for Leo on saturday at 10am")
WHOM = {"me": [], "Sarah": ["sarah"], "Mia": ["mia"]}
EARLIER = {
    "the night before": "2026-03-06T18:00",
    "the day before at noon": "2026-03-06T12:00",
    "an hour before": "2026-03-07T09:00",
}
JOINED = (
    ", remind {whom} {early}",
    " and remind {whom} {early}",
    ". can you remind {whom} {early}?",
)


@pytest.mark.parametrize("whom", ["me", "Sarah", "Mia"])
@on_a_loop
async def test_whoever_is_to_be_reminded_before_what_is_told_is(tmp_path: Path, whom: str) -> None:
    wrong = []
    for first, (early, at), joined in combined(TAKING_PLACE, [*EARLIER.items()], JOINED):
        text = f"{first}{joined.format(whom=whom, early=early)}"
        name = re.sub(r"\W", "", text)
        async with talking(f"{tmp_path}/{name}.sqlite", Planners(None)) as talk:
            await talk.answer(text, thread_id="t")
            [turn] = await talk.conversation.history(talk.john, "t", last=1)
        made = {each.action: each.params for each in turn.results}
        task, event = made.get("create", {}), made.get("create_event", {})
        is_whom = task.get("who", []) == WHOM[whom] and event.get("who") == ["leo"]
        if not is_whom or not str(task.get("deadline")).startswith(at):
            wrong.append(text)
    assert not wrong
