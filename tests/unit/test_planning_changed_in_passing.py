"""Changes of what stands in the calendar, told in passing."""

from typing import Any

import pytest

from planning import planned

EVENTS = {
    "events": [
        {"id": "s1", "event_id": "s1", "title": "Leo soccer", "start": "2026-03-12T16:30:00-05:00"},
        {
            "id": "o1",
            "event_id": "o1",
            "title": "Orthodontist",
            "start": "2026-03-13T15:30:00-05:00",
        },
    ]
}


def change(text: str) -> tuple[str, dict[str, Any]]:
    ((name, params),) = planned(text, fetched=EVENTS)
    return name, params


@pytest.mark.parametrize(
    "text",
    [
        "sarah will take leo to soccer on thursday",
        "mom's driving leo to soccer thursday, not me",
        "sarah is taking him to soccer on thursday",
    ],
)
def test_who_takes_somebody_there_sees_to_it(text: str) -> None:
    name, params = change(text)

    assert name == "calendar.update_event"
    assert params.get("event_id", params.get("find_by")) in {"s1", "soccer"}
    assert params["on"].startswith("2026-03-12")
    assert params["changes"] == {"responsible": ["sarah"]}


def test_earlier_by_some_minutes_moves_and_makes_nothing_new() -> None:
    name, params = change("make the orthodontist 30 minutes earlier")

    assert (name, params["changes"]) == ("calendar.update_event", {"shift_minutes": -30})


def test_the_one_of_this_week_gets_another_hour() -> None:
    name, params = change("soccer this week is at 6 instead")

    assert (name, params["changes"]) == (
        "calendar.update_event",
        {"start_time": "2026-03-12T18:00:00-05:00"},
    )
    assert params["on"].startswith("2026-03-12")


def test_a_reason_is_no_part_of_what_is_cancelled() -> None:
    name, params = change("no soccer tomorrow, the coach is ill")

    assert (name, params["event_id"]) == ("calendar.delete_event", "s1")
    assert params["on"].startswith("2026-03-12")


def test_what_must_not_happen_is_a_reminder() -> None:
    name, params = change("don't let me leave without the lunchboxes tomorrow at 8am")

    assert (name, params["title"]) == ("task.create", "not to leave without the lunchboxes")


def test_a_mail_to_somebody_with_an_address_goes_to_the_address() -> None:
    name, params = change("email Coach Tim at tim@club.example that Leo is ill")

    assert (name, params["to"]) == ("email.create_draft", ["tim@club.example"])


@pytest.mark.parametrize(
    "text",
    [
        "the orthodontist's been moved to 4pm on friday",
        "they've pushed the orthodontist to 4pm on friday",
        "we're moving the orthodontist to friday 4pm",
    ],
)
def test_what_was_moved_by_somebody_moves(text: str) -> None:
    name, params = change(text)

    assert name == "calendar.update_event"
    assert str(params["changes"]["start_time"]).startswith("2026-03-13T16:00")
