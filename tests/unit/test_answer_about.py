"""Questions about the assistant itself are answered out of what it is set up with."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from test_answer_templates import turn

from kinkeeper.actions.requests.calendar import calendar_requests
from kinkeeper.actions.requests.model import Catalogue
from kinkeeper.actions.requests.notes import note_requests
from kinkeeper.conversation.answering.about import Standing, not_able, told_about
from kinkeeper.conversation.routing.intent import asks_about


def standing(**changes: Any) -> Standing:
    store = cast("Any", None)  # nothing is read or written
    table = Catalogue(
        (*calendar_requests(store, usual_length=timedelta(hours=1)), *note_requests(store))
    )
    plain = Standing(
        catalogue=lambda: table, is_local=True, hosts=(), has_model=False, retention_days=30
    )
    return replace(plain, **changes)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("What can you do?", "able"),
        ("can you remember things?", "able"),
        ("hey, how can you help me", "able"),
        ("do you read our messages?", "hears"),
        ("are you recording us?", "hears"),
        ("where do you keep my data?", "data"),
        ("are you connected to the internet", "data"),
        ("do you use ChatGPT?", "model"),
        ("who can see my notes?", "sees"),
        ("will you tell Dana what I said?", "sees"),
        ("what did Dana tell you?", "others_words"),
        ("who is allowed to approve things?", "confirms"),
        ("who lives here?", "members"),
        ("do you speak Polish?", "language"),
        ("how do I cancel an appointment?", "cancel"),
        ("how can I undo something?", "undo"),
        ("how do I move a reminder", "change"),
        ("how do I make you forget me", "forget"),
        ("how can we add the baby to the family?", "household"),
    ],
)
def test_questions_about_the_assistant_are_told_apart(text: str, topic: str) -> None:
    assert asks_about(text) == topic


@pytest.mark.parametrize(
    "text",
    [
        "can you remember my locker code is 9",
        "can you set a reminder for 6",
        "where is it?",
        "what can you do about Friday?",
        "cancel the dentist",
        "can you see the dentist on Friday?",
        "who can take Leo on Friday?",
        "who is coming to the party?",
        "what did Leo do today?",
        "how do I get to the rink?",
        "do you remember the wifi code?",
        "are you there?",
        "how do I cook rice?",
    ],
)
def test_other_questions_are_not_about_the_assistant(text: str) -> None:
    assert asks_about(text) is None


def test_only_what_there_is_can_be_done() -> None:
    able = told_about(turn("what can you do?"), standing())
    assert able is not None
    assert "calendar" in able
    assert "lists and notes" in able
    assert "mails" not in able


def test_what_leaves_the_machine_is_named() -> None:
    alone = told_about(turn("where is my data?"), standing())
    assert alone is not None
    assert "on the machine I run on" in alone
    told = told_about(turn("where is my data?"), standing(hosts=("api.example",), is_local=False))
    assert told is not None
    assert "api.example" in told
    assert "machine I run on" not in told


def test_what_needs_a_yes_is_said_to() -> None:
    told = told_about(turn("how do I cancel something?"), standing())
    assert told is not None
    assert told.endswith("I ask first.")


@pytest.mark.parametrize(
    "text",
    ["can you order a pizza?", "Could you please phone the school", "translate this into Welsh"],
)
def test_what_is_no_deed_of_its_own_is_refused(text: str) -> None:
    told = not_able(turn(text), standing())
    assert told is not None
    assert told.startswith("I can't do that. I can keep the calendar")


def test_what_it_could_do_but_did_not_understand_is_said_so() -> None:
    told = not_able(turn("can you put this somewhere"), standing())
    assert told is not None
    assert told.startswith("I did not understand that, or I can't do it, so I've done nothing.")


@pytest.mark.parametrize(
    "text", ["can you tell me a story", "can you see it?", "what can I order?", "order"]
)
def test_nothing_is_refused_that_may_only_be_badly_understood(text: str) -> None:
    assert not_able(turn(text), standing()) is None
