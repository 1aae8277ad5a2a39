"""Reminders around what takes place, and what is said of what was just made: its hour, its days, somebody else's."""

import pytest

from kinkeeper.conversation.routing.confirmation import rethinks
from planning import done, exchange, plan, planned

AHEAD = {
    "events": [
        {
            "id": "drums",
            "event_id": "drums",
            "title": "Leo drum lesson",
            "who": ["leo"],
            "original_start": start,
            "start": start,
            "end": end,
            "rrule": "FREQ=WEEKLY;BYDAY=TH",
        }
        for start, end in (
            ("2026-03-12T16:30:00-05:00", "2026-03-12T17:30:00-05:00"),
            ("2026-03-19T16:30:00-05:00", "2026-03-19T17:30:00-05:00"),
        )
    ]
}


@pytest.mark.parametrize(
    ("text", "title", "deadline"),
    [
        ("remind me after drums to wash his shirt", "wash his shirt", "2026-03-12T17:30"),
        ("remind me to wash his shirt after drums", "wash his shirt", "2026-03-12T17:30"),
        (
            "remind me before drums on the 19th to pack the sticks",
            "pack the sticks",
            "2026-03-19T15:30",
        ),
    ],
)
def test_a_reminder_before_or_after_what_stands_in_the_calendar(
    text: str, title: str, deadline: str
) -> None:
    ((name, params),) = planned(text, fetched=AHEAD)

    assert (name, params["title"]) == ("task.create", title)
    assert params["deadline"].startswith(deadline)


def test_after_what_nobody_knows_the_time_of_is_asked_for() -> None:
    asked = plan("remind me after dinner to ring the bank", fetched=AHEAD)

    assert not asked.actions
    assert asked.partial is not None
    assert (asked.partial["missing"], asked.partial["params"]) == (
        "deadline",
        {"title": "ring the bank"},
    )


def test_before_school_stays_a_part_of_what_is_to_be_done() -> None:
    ((name, params),) = planned("remind me to lock up before school", fetched=AHEAD)

    assert (name, params["title"]) == ("task.create", "lock up before school")


@pytest.mark.parametrize("text", ["half 10 for the haircut", "make that half 10 for the haircut"])
def test_another_hour_of_what_was_just_made_makes_no_second_one(text: str) -> None:
    made = exchange(
        "put a haircut in for Leo on saturday at 10",
        done(
            "calendar.create_event",
            id="cut",
            title="haircut",
            start="2026-03-14T10:00:00-05:00",
            original_start="2026-03-14T10:00:00-05:00",
            who=["leo"],
        ),
    )

    ((name, params),) = planned(text, history=[made])

    assert (name, params["event_id"]) == ("calendar.update_event", "cut")
    assert params["changes"]["start_time"].startswith("2026-03-14T10:30")


def test_the_same_time_is_that_of_what_is_known_by_the_name() -> None:
    ((name, params),) = planned("put drums in again for the 24th, same time", fetched=AHEAD)

    assert (name, params["summary"]) == ("calendar.create_event", "drums")
    assert params["start_time"].startswith("2026-03-24T16:30")


def test_the_same_time_of_nothing_known_is_asked_for_on_its_day() -> None:
    asked = plan("put a massage in on friday, same time")

    assert not asked.actions
    assert asked.partial is not None
    assert asked.partial["params"]["start_time"] == "2026-03-13"


def test_days_are_left_out_of_a_reminder_on_several() -> None:
    made = exchange(
        "remind me every weekday at 6:45 to pack lunches",
        done(
            "task.create",
            id="t1",
            title="pack lunches",
            deadline="2026-03-12T06:45:00-05:00",
            rrule="FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        ),
    )

    ((name, params),) = planned("not fridays", history=[made])

    assert name == "task.update"
    assert params["changes"]["rrule"] == "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH"


@pytest.mark.parametrize(
    "text", ["no wait the week after", "hang on the other one", "but not that"]
)
def test_a_second_thought_is_known_as_one(text: str) -> None:
    assert rethinks(text)


@pytest.mark.parametrize("text", ["what's on tomorrow", "the week after", "thanks"])
def test_what_only_goes_on_is_no_second_thought(text: str) -> None:
    assert not rethinks(text)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "put plasters, sun cream and a swim nappy on the shopping list",
            ["plasters", "sun cream", "a swim nappy"],
        ),
        (
            "add eggs milk and plantain to the grocery list please and thank you",
            ["eggs", "milk", "plantain"],
        ),
    ],
)
def test_what_goes_on_a_named_list_is_read_as_one(text: str, lines: list[str]) -> None:
    ((name, params),) = planned(text)

    assert (name, params["body"].splitlines()) == ("notes.append", lines)


def test_who_is_not_meant_is_nothing_to_do() -> None:
    made = exchange(
        "remind Sarah to send the form back",
        done("task.create", id="t1", title="send the form back", who=["sarah"]),
    )

    ((name, params),) = planned("actually remind me not her", history=[made])

    assert (name, params["find_by"], params["changes"]) == ("task.update", "t1", {"who": ["john"]})


@pytest.mark.parametrize(
    "text",
    ["put down an hour for it", "every second saturday i've football 10 to 12 starting next week"],
)
def test_what_is_not_understood_whole_is_not_written(text: str) -> None:
    assert not planned(text)
