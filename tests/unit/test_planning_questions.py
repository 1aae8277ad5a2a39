"""Questions about days: what is wanted, about what, of whom and when are read apart."""

from datetime import timedelta

import pytest

from kinkeeper.conversation.planning.case import Case, case_of
from kinkeeper.conversation.planning.day_query import subject_of
from kinkeeper.conversation.planning.plan_times import Window, window_of
from kinkeeper.conversation.planning.rule_planner import vocabulary_of
from planning import WEDNESDAY, context, done, exchange, miller, planned

EVENTS = {
    "events": [{"event_id": "a", "title": "Pottery course", "start": "2026-03-14T10:00:00-05:00"}],
    "tasks": [{"id": "t", "title": "renew the passport", "status": "open"}],
}


def case(text: str) -> Case:
    return case_of(context(text), vocabulary_of(miller()))


def window(text: str, *, is_past: bool = False) -> Window:
    read = case(text)
    found = window_of(read.message.text, read, is_past=is_past)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("when is the pottery course?", "next"),
        ("what's the next pottery course", "next"),
        ("what time does pottery finish?", "end"),
        ("when will pottery be over?", "end"),
        ("what time does the pottery course start", "start"),
        ("how long is pottery?", "length"),
        ("how long does the pottery course last?", "length"),
        ("how many days until the pottery course?", "next"),
        ("where's pottery?", "place"),
        ("which room is pottery in?", "place"),
        ("who's taking Leo to pottery?", "responsible"),
        ("whose turn is it for pottery?", "responsible"),
        ("who's coming to the pottery course?", "who"),
        ("when did Leo last have pottery?", "last"),
        ("when was the last pottery course?", "last"),
        ("how often is pottery on this week?", "count"),
        ("is pottery still on?", "whether"),
        ("which days is pottery?", "days"),
    ],
)
def test_what_is_wanted_of_something_named(text: str, wanted: str) -> None:
    ((name, params),) = planned(text, fetched=EVENTS)
    assert (name, params["wanted"]) == ("calendar.list_events", wanted)
    assert "pottery" in params["query"].lower()


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("what haven't we got anyone for?", {"wanted": "unowned"}),
        (
            "what still needs a driver tomorrow?",
            {"wanted": "unowned", "from": "2026-03-12", "days_ahead": 1},
        ),
        (
            "does anything clash tomorrow?",
            {"wanted": "clash", "from": "2026-03-12", "days_ahead": 1},
        ),
        (
            "is anyone busy tomorrow after 5?",
            {"wanted": "whether", "from": "2026-03-12", "days_ahead": 1, "since": "17:00"},
        ),
        ("what have I got tomorrow?", {"who": ["john"], "from": "2026-03-12", "days_ahead": 1}),
        ("what have we got tomorrow?", {"from": "2026-03-12", "days_ahead": 1}),
        ("what's on before Friday?", {"days_ahead": 1}),
    ],
)
def test_what_is_asked_about_some_days(text: str, params: dict[str, object]) -> None:
    assert planned(text) == [("calendar.list_events", params)]


def test_what_is_left_to_do_is_asked_of_tasks_and_of_the_calendar() -> None:
    names = [name for name, _ in planned("what have I got to do tomorrow?")]
    assert names == ["task.list", "calendar.list_events"]


def test_who_can_do_something_asks_each_grown_up_for_the_time_of_it() -> None:
    ((name, params),) = planned("who can take Leo to pottery on Saturday?", fetched=EVENTS)
    assert (name, params["around"], params["is_any"]) == ("calendar.find_free", "pottery", True)
    assert set(params["who"]) == {each.id for each in miller().adults}


def test_somebody_who_is_asked_about_by_name_is_looked_up_alone() -> None:
    ((name, params),) = planned("is Sarah free at 5 tomorrow?")
    assert (name, params["who"]) == ("calendar.find_free", ["sarah"])
    assert params["between"]["from"].startswith("2026-03-12T17:00")


def test_nobody_is_told_when_a_stranger_has_time() -> None:
    names = [name for name, _ in planned("is Priya free at 5 tomorrow?")]
    assert "calendar.find_free" not in names


def test_a_question_about_a_task_is_asked_of_the_tasks() -> None:
    assert planned("when is the passport due?", fetched=EVENTS) == [
        ("task.list", {"query": "renew the passport"})
    ]


@pytest.mark.parametrize(
    "text",
    [
        "is pottery difficult?",
        "what's pottery like?",
        "who won the game last night?",
        "do we need to bring anything to pottery?",
        "will I be late if I leave at 5?",
        "did the dentist reply?",
        "should I go to pottery?",
    ],
)
def test_other_sides_of_things_are_not_asked_of_the_calendar(text: str) -> None:
    assert [name for name, _ in planned(text, fetched=EVENTS) if name.startswith("calendar")] == []


def test_the_subject_is_what_is_left_without_people_times_and_asking() -> None:
    read = case("when does Leo next have his pottery course on Friday?")
    assert subject_of(read.message.text, read) == "pottery course"
    read = case("what have we got on Friday?")
    assert subject_of(read.message.text, read) is None


def test_what_is_asked_next_is_about_what_was_told() -> None:
    one = {
        "kind": "event",
        "event_id": "a",
        "title": "Pottery course",
        "start": "2026-03-14T10:00:00-05:00",
    }
    told = exchange("when's pottery?", done("calendar.list_events", events=[one]))
    ((_, params),) = planned("where is it?", history=[told])
    assert (params["query"], params["wanted"]) == ("Pottery course", "place")
    two = exchange(
        "what's on?", done("calendar.list_events", events=[one, {**one, "title": "Vet"}])
    )
    assert planned("who's doing it?", history=[two]) == []


def test_another_time_is_asked_of_the_same_people_on_the_same_day() -> None:
    between = {"from": "2026-03-13T15:00:00-05:00", "to": "2026-03-13T16:00:00-05:00"}
    asked = done("calendar.find_free", params={"between": between, "who": ["sarah"]}, is_free=True)
    ((name, params),) = planned("what about at 6?", history=[exchange("is Sarah free?", asked)])
    assert (name, params["who"]) == ("calendar.find_free", ["sarah"])
    assert params["between"]["from"].startswith("2026-03-13T18:00")


def test_a_day_said_of_the_past_is_the_last_that_was_called_so() -> None:
    assert f"{window('what did we do on Saturday', is_past=True).begin:%m-%d}" == "03-07"
    assert f"{window('what did we do on the 4th', is_past=True).begin:%m-%d}" == "03-04"
    assert f"{window('what have we got on Saturday').begin:%m-%d}" == "03-14"


def test_days_that_are_told_by_others() -> None:
    this_time = window("what's on this time next week")
    assert this_time.begin.date() == (WEDNESDAY + timedelta(days=7)).date()
    assert this_time.parameters["days_ahead"] == 1
    assert f"{window('what about the saturday after this one').begin:%m-%d}" == "03-21"


def test_the_hours_of_a_day_end_with_it() -> None:
    tonight = window("anything on tonight?").parameters
    assert tonight == {"from": "2026-03-11", "days_ahead": 1, "since": "18:00"}


@pytest.mark.parametrize(
    ("text", "first", "days"),
    [
        ("what have we got that weekend?", "2026-04-11", 2),
        ("anything else on that day?", "2026-04-11", 1),
        ("what are we doing that week?", "2026-04-06", 7),
    ],
)
def test_that_weekend_is_the_one_of_what_was_spoken_of(text: str, first: str, days: int) -> None:
    gala = exchange(
        "gala for Mia on 11 April at 9:30am",
        done(
            "calendar.create_event",
            id="g",
            event_id="g",
            title="gala",
            start="2026-04-11T09:30:00-05:00",
        ),
    )

    ((name, params),) = planned(text, history=[gala])

    assert (name, params["from"], params["days_ahead"]) == ("calendar.list_events", first, days)
    assert "query" not in params


def test_a_weekday_whose_hour_is_over_is_the_next_one() -> None:
    ((name, params),) = planned("is sarah free on wednesday, about 8am?")

    assert name == "calendar.find_free"
    assert params["between"]["from"].startswith("2026-03-18T08:00")


FAMILY = ["john", "sarah", "leo", "mia"]
TOGETHER = {
    "find a free slot for everyone on Tuesday morning": FAMILY,
    "when can we all meet on Friday afternoon?": FAMILY,
    "is everyone free on Friday at 3?": FAMILY,
    "when is everybody free on Tuesday?": FAMILY,
    "when do Sarah and I both have time on Friday?": ["john", "sarah"],
    "when are we both free on Friday afternoon?": ["john", "sarah"],
    "when am I free on Friday?": ["john"],
}


@pytest.mark.parametrize("text", TOGETHER)
def test_time_is_looked_for_that_all_who_are_meant_have(text: str) -> None:
    [(name, params)] = planned(text)
    assert (name, params["who"]) == ("calendar.find_free", TOGETHER[text])
