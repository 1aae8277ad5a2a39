"""Questions that go on with the last one, are put in other ways, or ask of lists, tasks and what was done."""

from typing import Any

import pytest

from kinkeeper.conversation.planning.day_query import plainly_asked
from planning import context, done, exchange, plan_of, planned

GAME = {
    "kind": "event",
    "event_id": "g",
    "title": "Chess match",
    "start": "2026-03-14T10:00:00-05:00",
}


def listed(**params: Any) -> Any:
    return exchange("what's on?", done("calendar.list_events", params=params, events=[GAME]))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Leo has chess today, right", "has Leo chess today"),
        ("we're all free on Sunday, aren't we", "are we all free on Sunday"),
        ("i wonder if Leo plays on Friday", "does Leo plays on Friday"),
        ("do you happen to know whether the vet is tomorrow", "is the vet tomorrow"),
        ("any idea when chess ends", "when chess ends"),
        ("chess what time", "what time chess"),
        ("list everything Leo has next week", "what Leo has next week"),
    ],
)
def test_other_ways_to_ask_are_plain_questions(text: str, plain: str) -> None:
    assert plainly_asked(text) == (plain, True)


@pytest.mark.parametrize("text", ["book the vet for Friday", "chess is on Friday", "what is it"])
def test_what_asks_nothing_in_another_way_stays_as_it_is(text: str) -> None:
    assert plainly_asked(text) == (text, False)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("and on Friday?", {"from": "2026-03-13", "days_ahead": 1}),
        ("what about Leo?", {"who": ["leo"]}),
        ("and chess?", {"query": "chess"}),
        ("and Leo", {"who": ["leo"]}),
        ("and the day after?", {"from": "2026-03-13", "days_ahead": 1}),
    ],
)
def test_one_part_is_asked_anew(text: str, changed: dict[str, Any]) -> None:
    before = {"from": "2026-03-12", "days_ahead": 1}
    ((name, params),) = planned(text, history=[listed(**before)])
    assert name == "calendar.list_events"
    assert params == {**before, **changed}


@pytest.mark.parametrize(
    "text",
    [
        "and cancel it",
        "and buy milk",
        "and why?",
        "and pick up Leo at 5",
        "and remind me on Friday",
    ],
)
def test_what_wants_something_else_asks_nothing_anew(text: str) -> None:
    found = planned(text, history=[listed(**{"from": "2026-03-12"})])
    assert [name for name, _ in found if name == "calendar.list_events"] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("where?", "place"),
        ("who's taking him?", "responsible"),
        ("how long?", "length"),
        ("how many sleeps?", "next"),
    ],
)
def test_a_bare_question_is_about_what_was_told(text: str, wanted: str) -> None:
    ((_, params),) = planned(text, history=[listed()])
    assert (params["query"], params["wanted"]) == ("Chess match", wanted)


def test_she_is_who_alone_takes_part_in_what_was_told() -> None:
    theirs = done("calendar.list_events", events=[{**GAME, "who": ["emma"]}])
    ((name, params),) = planned("is she free at 8?", history=[exchange("when's chess?", theirs)])
    assert (name, params["who"]) == ("calendar.find_free", ["emma"])


def test_then_is_when_was_looked_at() -> None:
    before = listed(**{"from": "2026-03-13", "days_ahead": 1})
    ((name, params),) = planned("who's free then?", history=[before])
    assert name == "calendar.find_free"
    assert params["between"]["from"].startswith("2026-03-13")


def test_a_bare_question_about_nothing_is_not_guessed() -> None:
    assert planned("where?") == []


@pytest.mark.parametrize(
    ("text", "name", "params"),
    [
        (
            "who's cooking tonight?",
            "calendar.list_events",
            {"wanted": "responsible", "query": "cooking"},
        ),
        (
            "anyone driving Leo on Friday?",
            "calendar.list_events",
            {"wanted": "responsible", "who": ["leo"]},
        ),
        (
            "sorry to bother you, but would you know when the gas check is?",
            "calendar.list_events",
            {"wanted": "next", "query": "gas check"},
        ),
        ("is Friday morning free?", "calendar.find_free", {"who": ["john"]}),
        (
            "is Sarah with the Lees on Friday?",
            "calendar.list_events",
            {"wanted": "whether", "who": ["sarah"]},
        ),
        ("what's on Sarah's to-do list?", "task.list", {"who": ["sarah"]}),
        ("is there anything due this week?", "task.list", {"who": []}),
        (
            "do we have plans on Saturday and Sunday?",
            "calendar.list_events",
            {"from": "2026-03-14", "days_ahead": 2},
        ),
        ("tell me about Friday", "calendar.list_events", {"from": "2026-03-13", "days_ahead": 1}),
        ("is Friday ok for dinner with Ana?", "calendar.find_free", {"who": ["john"]}),
        (
            "is the car free on Friday?",
            "calendar.list_events",
            {"query": "car", "from": "2026-03-13"},
        ),
        ("when is Sarah back?", "calendar.list_events", {"who": ["sarah"], "wanted": "away"}),
        ("is milk on the list?", "notes.list", {"title": "Shopping list", "line": "milk"}),
        ("do we need eggs?", "notes.list", {"title": "Shopping list", "line": "eggs"}),
        ("what's left to buy?", "notes.list", {"title": "Shopping list"}),
        ("what must I still get for the picnic?", "notes.list", {"title": "Picnic"}),
        (
            "has the gas bill been paid?",
            "task.list",
            {"query": "pay gas bill", "status": "all", "who": []},
        ),
        (
            "did anyone sign the form?",
            "task.list",
            {"query": "sign form", "status": "all", "who": []},
        ),
        ("what does Sarah still have to do?", "task.list", {"who": ["sarah"]}),
        ("what reminders are there?", "task.list", {"who": []}),
        ("what's waiting for me?", "memory.list_waiting", {}),
        ("what needs my yes", "memory.list_waiting", {}),
        ("what have you done today?", "memory.list_done", {"since": "2026-03-11T00:00:00-05:00"}),
        (
            "did you send any mail today?",
            "memory.list_done",
            {"since": "2026-03-11T00:00:00-05:00", "kind": "email"},
        ),
        ("what's new since yesterday?", "memory.list_done", {"since": "2026-03-10T00:00:00-05:00"}),
    ],
)
def test_what_else_people_ask_is_looked_up(text: str, name: str, params: dict[str, Any]) -> None:
    read, found = planned(text)[0]
    assert read == name
    assert {each: found.get(each) for each in params} == params


@pytest.mark.parametrize(
    "text", ["what did you think of the film?", "do we need to talk?", "is the door on the left?"]
)
def test_what_is_in_no_list_is_not_looked_up(text: str) -> None:
    assert [name for name, _ in planned(text) if name in {"notes.list", "memory.list_done"}] == []


def test_the_assistant_is_asked_nothing_that_could_be_carried_out() -> None:
    for text in ("how do I cancel something?", "who can see what I tell you?", "where is my data?"):
        assert plan_of(context(text)).actions == ()
