"""Who sees to something, comes along or is to be reminded, said after it was put into the calendar."""

from itertools import product

import pytest

from kinkeeper.actions.requests.model import ResultStatus
from planning import done, exchange, plan, planned

RECITAL = exchange(
    "recital for Mia on friday at 6pm",
    done(
        "calendar.create_event",
        id="r1",
        event_id="r1",
        title="recital",
        who=["mia"],
        start="2026-03-13T18:00:00-05:00",
    ),
)
CAMP = exchange(
    "both kids at camp 21 to 23 april",
    done(
        "calendar.create_event",
        id="c1",
        event_id="c1",
        title="camp",
        who=["leo", "mia"],
        start="2026-04-21",
        end="2026-04-23",
    ),
)


@pytest.mark.parametrize(
    ("text", "field", "people"),
    [
        ("oh and sarah is taking her", "responsible", ["sarah"]),
        ("mom will drive them", "responsible", ["sarah"]),
        ("leo is coming too", "who", ["mia", "leo"]),
    ],
)
def test_people_are_added_to_what_was_just_made(text: str, field: str, people: list[str]) -> None:
    ((name, params),) = planned(text, history=[RECITAL])

    assert (name, params["event_id"]) == ("calendar.update_event", "r1")
    assert params["changes"] == {field: people}


@pytest.mark.parametrize("text", ["oh and sarah is taking her", "leo is coming too"])
def test_of_nothing_they_change_nothing(text: str) -> None:
    assert plan(text).actions == ()


def test_until_a_day_moves_the_end_within_its_month() -> None:
    ((name, params),) = planned("actually make it until the 24th", history=[CAMP])

    assert (name, params["changes"]) == ("calendar.update_event", {"end_time": "2026-04-24"})


def test_a_reminder_of_what_the_same_message_makes_waits_for_it() -> None:
    text = "leo has a maths test on thursday at 10am, remind him the evening before"

    first = planned(text, history=[RECITAL])

    assert [name for name, _ in first] == ["calendar.create_event"]
    made = done(
        "calendar.create_event",
        id="t1",
        event_id="t1",
        title="maths test",
        who=["leo"],
        start="2026-03-12T10:00:00-05:00",
    )
    ((name, params),) = planned(text, history=[RECITAL], results=[made])
    assert (name, params["title"], params["who"]) == ("task.create", "maths test", ["leo"])
    assert params["deadline"].startswith("2026-03-11T18:00")


def test_an_hour_before_what_was_just_told_is_of_that() -> None:
    text = "dentist on friday at 3pm, remind me an hour before"
    made = done(
        "calendar.create_event",
        id="d1",
        event_id="d1",
        title="dentist",
        who=["john"],
        start="2026-03-13T15:00:00-05:00",
    )

    ((name, params),) = planned(text, history=[RECITAL], results=[made])

    assert (name, params["title"]) == ("task.create", "dentist")
    assert params["deadline"].startswith("2026-03-13T14:00")


def test_without_anything_before_the_event_is_made_first() -> None:
    found = planned("leo has a maths test on thursday at 10am, remind him the evening before")

    assert [name for name, _ in found] == ["calendar.create_event"]


@pytest.mark.parametrize(
    ("text", "to", "body"),
    [
        ("tell sarah that the recital is at 6", "sarah", "The recital is at 6."),
        ("let mom know i'll be late tonight", "mom", "I'll be late tonight."),
        ("ask sarah if she can fetch leo", "sarah", "Can you fetch leo?"),
    ],
)
def test_what_others_shall_know_is_drafted(text: str, to: str, body: str) -> None:
    ((name, params),) = planned(text)

    assert (name, params["to"], params["body"]) == ("email.create_draft", [to], body)


@pytest.mark.parametrize("text", ["tell me that again", "let everyone know dinner is at 7"])
def test_what_is_told_to_nobody_known_puts_nothing_into_the_calendar(text: str) -> None:
    assert all(each.action != "create_event" for each in plan(text).actions)


def test_what_is_added_to_a_waiting_move_loses_nothing_of_it() -> None:
    waiting = exchange(
        "make it 7",
        done(
            "calendar.update_event",
            status=ResultStatus.AWAITING,
            id="r1",
            event_id="r1",
            title="recital",
            who=["mia"],
            start="2026-03-13T19:00:00-05:00",
            before={"start": "2026-03-13T18:00:00-05:00"},
            params={
                "event_id": "r1",
                "on": "2026-03-13T18:00:00-05:00",
                "changes": {"start_time": "19:00"},
            },
        ),
    )

    ((name, params),) = planned("and leo is coming too", history=[RECITAL, waiting])

    assert (name, params["event_id"]) == ("calendar.update_event", "r1")
    assert params["on"].startswith("2026-03-13T18:00")
    assert params["changes"] == {"start_time": "19:00", "who": ["mia", "leo"]}


def test_a_weekday_said_on_that_day_after_its_hour_is_the_next_one() -> None:
    ((_, params),) = planned("dentist for Mia on wednesday, at 8am")

    assert params["start_time"].startswith("2026-03-18T08:00")


LEFT_OUT = {
    "except Leo": {"leo"},
    "but Mia": {"mia"},
    "apart from Sarah": {"sarah"},
    "excluding Leo and Mia": {"leo", "mia"},
    "other than Mia": {"mia"},
    "but not Leo": {"leo"},
    "except for the kids": {"leo", "mia"},
    "but me": {"john"},
}
ALL_OF_THEM = ("everyone", "everybody", "all of us", "the whole family")
REMINDED = (
    "remind {all} {but} on friday at 6 to sing",
    "remind {all} {but} to sing on friday at 6",
    "on friday at 6 remind {all} {but} to sing",
)
TAKING_PART = (
    "put choir in the calendar on friday at 6 for {all} {but}",
    "add choir on friday at 6 with {all} {but}",
    "schedule choir for {all} {but} on friday at 6",
)
SAID_LATER = (
    "remind everyone about the cake {but} on friday at 6",
    "remind everybody on friday at 6 to sing, {but}",
)
LATER = {
    "except Leo": {"leo"},
    "apart from Mia": {"mia"},
    "but not Sarah": {"sarah"},
    "just don't remind Leo": {"leo"},
    "but please don't tell Leo and Mia": {"leo", "mia"},
}
FAMILY = {"john", "sarah", "leo", "mia"}


def test_who_is_left_out_of_all_is_neither_reminded_nor_takes_part() -> None:
    cases = [
        (form.format(all=all_of_them, but=but), left_out)
        for form, all_of_them, (but, left_out) in product(
            REMINDED + TAKING_PART, ALL_OF_THEM, LEFT_OUT.items()
        )
    ]
    cases += [
        (form.format(but=but), left_out)
        for form, (but, left_out) in product(SAID_LATER, LATER.items())
    ]
    wrong = []
    for text, left_out in cases:
        match planned(text):
            case [(name, params)]:
                hidden = left_out - {"john"} if name == "task.create" else set()
                is_theirs = {*params["who"]} == FAMILY - left_out
                title = params.get("title", params.get("summary"))
                is_named = title in {"sing", "the cake", "choir"}
                if is_theirs and is_named and {*params.get("kept_from", ())} == hidden:
                    continue
        wrong.append(text)
    assert not wrong


def test_what_is_done_for_all_but_some_is_no_list_of_who_is_reminded() -> None:
    for text, title in {
        "remind me to invite everyone except Leo on friday at 6": "invite everyone except Leo",
        "remind me on friday to tell everybody but Mia": "tell everybody but Mia",
    }.items():
        [(_, params)] = planned(text)
        assert (params["title"], params.get("who")) == (title, None), text
    for text in (
        "remind everyone on friday at 6 to pack everything except the tent",
        "put choir on friday at 6 in the calendar for everyone",
    ):
        [(_, params)] = planned(text)
        assert {*params["who"]} == FAMILY, text
        assert not params.get("kept_from"), text


FOR_WHOM = {
    "leo": {"leo"},
    "Mia": {"mia"},
    "Mia's": {"mia"},
    "sarah": {"sarah"},
    "Leo and Mia": {"leo", "mia"},
    "leo's": {"leo"},
}
THINGS = ("checkup", "chess match", "haircut", "eye test")
PUT_IN = (
    "put {whom} {thing} in the calendar for friday 4pm",
    "add {whom} {thing} to the calendar for friday at 4pm",
    "stick {whom} {thing} in the diary on friday 4pm",
    "put {whom} {thing} on our calendar on friday at 4pm",
    "put {whom} {thing} in for friday 4pm",
    "pop {whom} {thing} in for friday at 4pm",
    "put {whom} down for a {thing} on friday at 4pm",
)


def test_what_is_put_into_the_calendar_for_somebody_is_a_thing_of_theirs() -> None:
    wrong = []
    for form, (whom, who), thing in product(PUT_IN, FOR_WHOM.items(), THINGS):
        text = form.format(whom=whom.removesuffix("'s") if "down" in form else whom, thing=thing)
        match planned(text):
            case [("calendar.create_event", params)]:
                is_titled = params["summary"].endswith(thing)
                is_then = params["start_time"].startswith("2026-03-13T16:00")
                if is_titled and is_then and {*params["who"]} == who:
                    continue
        wrong.append(text)
    assert not wrong


def test_who_is_put_down_for_what_stands_is_invited_to_it() -> None:
    for text in ("add Mia to the dinner on friday", "invite Leo and Mia to the dinner"):
        [(name, params)] = planned(text)
        assert (name, params["find_by"]) == ("calendar.update_event", "dinner"), text
    for text in ("put a haircut in for friday 4pm", "put a haircut in for Mia on friday at 4pm"):
        [(_, params)] = planned(text)
        assert params["summary"] == "haircut", text
        assert params.get("who", []) == (["mia"] if "Mia" in text else []), text
