"""Why the last answer was given: told from what was done and read, and from nothing else."""

import pytest

from answered_turns import TOMORROW_AT_FIVE, answered, outcome, turn
from asking import NOW
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.model import Exchange, Mode
from kinkeeper.conversation.routing.intent import asks_why
from planning import plan


def earlier(text: str, *results: ActionResult, **more: object) -> Exchange:
    return Exchange(text=text, answer="…", at=NOW, mode=Mode.ACT, results=results, **more)  # type: ignore[arg-type]


def why(text: str, *history: Exchange) -> str:
    return answered(turn(text, history=history)).text


@pytest.mark.parametrize(
    "text",
    [
        "why?",
        "Why did you say that?",
        "but why did you cancel it",
        "how do you know that?",
        "says who?",
        "where did you get that from?",
        "what did you use to answer this?",
        "who told you that?",
    ],
)
def test_many_ways_to_ask(text: str) -> None:
    assert asks_why(text)
    assert plan(text, history=[earlier("cancel the dentist")]).actions == ()


@pytest.mark.parametrize(
    "text",
    ["why not put it on friday instead", "how do you know when school starts", "who told mia"],
)
def test_what_asks_something_else(text: str) -> None:
    assert not asks_why(text)


def test_what_was_done_names_the_words_it_was_done_for() -> None:
    made = outcome("task.create", result={"title": "call mom", "remind_at": TOMORROW_AT_FIVE})

    said = why("why did you do that?", earlier("remind me to call mom tomorrow at 5pm", made))

    assert "You said “remind me to call mom tomorrow at 5pm”" in said
    assert "“call mom”" in said


def test_what_waits_says_why_it_asks() -> None:
    waits = outcome("calendar.delete_event", ResultStatus.AWAITING, result={"title": "Piano"})

    assert "I ask first before anything is sent" in why("why do you ask?", earlier("x", waits))


def test_what_was_read_names_what_it_rests_on_once() -> None:
    fact = {"kind": "fact", "id": "f1", "text": "Mia is allergic to nuts"}
    read = outcome("memory.search", is_write=False, result={"facts": []})

    said = why("how do you know?", earlier("what is mia allergic to", read, used=[fact, fact]))

    assert said.count("Mia is allergic to nuts") == 1


def test_a_set_reply_is_no_knowledge() -> None:
    assert "didn't look anything up" in why("why?", earlier("hello"))


def test_asking_twice_is_about_the_same_answer() -> None:
    assert "“hello”" in why("why?", earlier("hello"), earlier("why?"))
