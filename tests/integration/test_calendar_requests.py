"""The calendar as it is asked for in conversation, on a real database."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from asking import ABE, FAMILY, NIA, NOW, ZONE, Desk, event
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.calendar.repository import list_events
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store

SOCCER = event("Soccer practice", "2026-11-03T16:30:00", rrule="FREQ=WEEKLY;BYDAY=TU,TH")
DENTIST = event("Dentist", "2026-11-12T15:00:00", minutes=30, who=("ivo",), place="hall")
DENTIST_LATER = event("Dentist check", "2027-02-03T15:00:00", who=("nia",))
DINNER = event("Dinner with the Garcias", "2026-11-13T19:00:00", minutes=120, who=("ruth", "abe"))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        desk = Desk(store)
        desk.put(SOCCER, DENTIST, DENTIST_LATER, DINNER)
        yield desk


def calendar(desk: Desk, *, days: int = 30) -> list[tuple[str, str]]:
    span = Interval(NOW - timedelta(days=20), NOW + timedelta(days=days))
    found = desk.store.read_now(
        lambda conn: occurrences_between(conn, Viewer.whole(FAMILY.id), span)
    )
    return [
        (each.event.summary, f"{each.interval.start.astimezone(ZONE):%m-%d %H:%M}")
        for each in found
    ]


def titles(result: ActionResult) -> list[str]:
    return [each["title"] for each in result.result["events"]]


def test_what_takes_place_from_now_on(desk: Desk) -> None:
    assert titles(desk.ask("calendar.list_events", {"days_ahead": 1})) == [
        "Dentist",
        "Soccer practice",
    ]
    assert titles(desk.ask("calendar.list_events", {"days_ahead": 0})) == []


def test_what_takes_place_on_days_that_are_named(desk: Desk) -> None:
    friday = desk.ask("calendar.list_events", {"from": "2026-11-13", "days_ahead": 1})
    assert titles(friday) == ["Dinner with the Garcias"]
    assert friday.card is not None
    assert friday.card.items[0]["when"] == "Fri Nov 13 7pm – 9pm"
    assert friday.card.items[0]["detail"] == "Ruth and Abe"


def test_what_takes_place_by_person_and_by_words(desk: Desk) -> None:
    assert titles(desk.ask("calendar.list_events", {"who": "Ivo"})) == ["Dentist"]
    assert titles(desk.ask("calendar.list_events", {"who": "the kids", "days_ahead": 1})) == [
        "Dentist",
        "Soccer practice",
    ]
    assert titles(desk.ask("calendar.list_events", {"query": "the garcias"})) == [DINNER.summary]


def test_an_event_is_added_at_once_for_who_asks(desk: Desk) -> None:
    added = desk.ask(
        "calendar.create_event", {"summary": "Book club", "start_time": "2026-11-14T20:00:00-06:00"}
    )
    assert added.status is ResultStatus.DONE
    assert added.result["end"] == "2026-11-14T21:00:00-06:00"
    assert added.result["who"] == ["ruth"]
    assert ("Book club", "11-14 20:00") in calendar(desk)
    assert desk.undo(added).outcome is Outcome.UNDONE
    assert "Book club" not in dict(calendar(desk))


def test_whole_days_and_series_are_added(desk: Desk) -> None:
    trip = desk.ask(
        "calendar.create_event",
        {"summary": "Trip", "start_time": "2026-11-20", "end_time": "2026-11-22", "who": []},
    )
    assert (trip.result["start"], trip.result["end"]) == ("2026-11-20", "2026-11-22")
    choir = desk.ask(
        "calendar.create_event",
        {
            "summary": "Choir",
            "start_time": "2026-11-16T18:00:00-06:00",
            "rrule": "FREQ=WEEKLY;BYDAY=MO",
            "location": "the hall",
        },
    )
    assert choir.result["location"] == "Old Hall"
    assert [when for what, when in calendar(desk) if what == "Choir"] == [
        "11-16 18:00",
        "11-23 18:00",
        "11-30 18:00",
        "12-07 18:00",
    ]


def test_a_collision_is_told_with_what_is_added(desk: Desk) -> None:
    added = desk.ask(
        "calendar.create_event", {"summary": "Call", "start_time": "2026-11-13T20:00:00-06:00"}
    )
    assert [each["title"] for each in added.result["conflicts"]] == [DINNER.summary]


def test_the_same_event_is_not_added_twice(desk: Desk) -> None:
    params = {"summary": "Book club", "start_time": "2026-11-14T20:00:00-06:00"}
    desk.ask("calendar.create_event", params)
    again = desk.ask("calendar.create_event", params)
    assert again.status is ResultStatus.FAILED
    assert "already" in (again.error or "")


@pytest.mark.parametrize(
    "params",
    [
        {"summary": "x", "start_time": "2026-11-11T09:00:00-06:00"},
        {"summary": "x", "start_time": "2026-11-12T09:00:00-06:00", "end_time": "08:00"},
        {"summary": "x", "start_time": "noon"},
        {"summary": "x", "start_time": "2026-11-12", "rrule": "FREQ=SOMETIMES"},
        {"start_time": "2026-11-12"},
    ],
)
def test_what_cannot_be_an_event_is_refused_in_words(desk: Desk, params: dict[str, Any]) -> None:
    refused = desk.ask("calendar.create_event", params)
    assert refused.status in {ResultStatus.FAILED, ResultStatus.UNCLEAR}
    assert refused.error


def test_cancelling_awaits_a_yes_and_means_the_next_that_matches(desk: Desk) -> None:
    asked = desk.ask("calendar.delete_event", {"find_by": "the dentist"})
    assert asked.status is ResultStatus.AWAITING
    assert asked.summary == "Cancel Dentist, tomorrow 3pm"
    assert ("Dentist", "11-12 15:00") in calendar(desk)
    assert desk.yes(asked).outcome is Outcome.DONE
    assert ("Dentist", "11-12 15:00") not in calendar(desk)
    assert desk.undo(asked).outcome is Outcome.UNDONE
    assert ("Dentist", "11-12 15:00") in calendar(desk)


def test_one_time_of_a_series_is_cancelled_unless_all_are_meant(desk: Desk) -> None:
    one = desk.ask("calendar.delete_event", {"find_by": "Nia's soccer", "on": "2026-11-17"})
    desk.yes(one)
    times = [when for what, when in calendar(desk, days=14) if what == SOCCER.summary]
    assert times == [
        "11-03 16:30",
        "11-05 16:30",
        "11-10 16:30",
        "11-12 16:30",
        "11-19 16:30",
        "11-24 16:30",
    ]
    series = desk.ask("calendar.delete_event", {"find_by": "soccer", "scope": "series"})
    assert (
        series.summary == "Cancel Soccer practice, tomorrow 4:30pm and all the others in the series"
    )
    desk.yes(series)
    assert SOCCER.summary not in dict(calendar(desk))


def test_one_time_of_a_series_is_moved(desk: Desk) -> None:
    asked = desk.ask(
        "calendar.update_event",
        {"find_by": "soccer", "on": "2026-11-12", "changes": {"start_time": "17:00"}},
    )
    assert asked.status is ResultStatus.AWAITING
    assert asked.summary == "Move Soccer practice, tomorrow 4:30pm to tomorrow 5pm"
    assert asked.result["before"]["start"] == "2026-11-12T16:30:00-06:00"
    desk.yes(asked)
    times = [when for what, when in calendar(desk, days=7) if what == SOCCER.summary]
    assert times[-2:] == ["11-12 17:00", "11-17 16:30"]


def test_a_whole_series_is_moved_by_the_clock_on_the_wall_and_to_other_days(desk: Desk) -> None:
    asked = desk.ask(
        "calendar.update_event",
        {
            "find_by": "soccer",
            "on": "2026-11-12",
            "scope": "series",
            "changes": {"start_time": "2026-11-13T17:00:00-06:00"},
        },
    )
    desk.yes(asked)
    times = [when for what, when in calendar(desk, days=10) if what == SOCCER.summary]
    assert times[-3:] == ["11-13 17:00", "11-18 17:00", "11-20 17:00"]


def test_a_series_changes_from_one_time_of_it_on_and_is_as_it_was_before(desk: Desk) -> None:
    left_out = desk.ask("calendar.delete_event", {"find_by": "soccer", "on": "2026-11-26"})
    desk.yes(left_out)
    asked = desk.ask(
        "calendar.update_event",
        {
            "find_by": "soccer",
            "on": "2026-11-17",
            "scope": "following",
            "changes": {"start_time": "2026-11-18T17:00:00-06:00"},
        },
    )
    assert "and all later times of it to" in asked.summary
    desk.yes(asked)
    times = [when for what, when in calendar(desk, days=22) if what == SOCCER.summary]
    assert times == [
        "11-03 16:30",
        "11-05 16:30",
        "11-10 16:30",
        "11-12 16:30",
        "11-18 17:00",
        "11-20 17:00",
        "11-25 17:00",
        "12-02 17:00",
    ]
    assert desk.undo(asked).outcome is Outcome.UNDONE
    again = [when for what, when in calendar(desk, days=14) if what == SOCCER.summary]
    assert again[-2:] == ["11-19 16:30", "11-24 16:30"]


def test_a_series_ends_with_one_time_of_it_or_is_cancelled_where_that_is_the_first(
    desk: Desk,
) -> None:
    asked = desk.ask(
        "calendar.delete_event", {"find_by": "soccer", "on": "2026-11-17", "scope": "following"}
    )
    desk.yes(asked)
    times = [when for what, when in calendar(desk, days=30) if what == SOCCER.summary]
    assert times == ["11-03 16:30", "11-05 16:30", "11-10 16:30", "11-12 16:30"]
    dentist = desk.ask("calendar.delete_event", {"find_by": "dentist", "scope": "following"})
    desk.yes(dentist)
    assert "Dentist" not in dict(calendar(desk))


def test_a_single_event_changes_in_every_field_and_comes_back(desk: Desk) -> None:
    before = desk.store.read_now(lambda conn: list_events(conn, Viewer.whole(FAMILY.id)))
    asked = desk.ask(
        "calendar.update_event",
        {
            "find_by": "dinner",
            "changes": {
                "summary": "Supper",
                "shift_minutes": 30,
                "location": "home",
                "who": ["me"],
                "responsible": "abe",
            },
        },
    )
    desk.yes(asked)
    assert ("Supper", "11-13 19:30") in calendar(desk)
    assert desk.undo(asked).outcome is Outcome.UNDONE
    assert desk.store.read_now(lambda conn: list_events(conn, Viewer.whole(FAMILY.id))) == before


def test_what_takes_all_day_is_moved_by_days(desk: Desk) -> None:
    params = {"summary": "Trip", "start_time": "2026-11-20", "end_time": "2026-11-22", "who": []}
    desk.ask("calendar.create_event", params)
    for changes, days in (
        ({"start_time": "2026-11-27"}, ("2026-11-27", "2026-11-29")),
        ({"end_time": "2026-11-27"}, ("2026-11-27", "2026-11-27")),
    ):
        asked = desk.ask("calendar.update_event", {"find_by": "trip", "changes": changes})
        assert (asked.result["start"], asked.result["end"]) == days, asked.error
        assert desk.yes(asked).outcome is Outcome.DONE
    for wrong in ({"shift_minutes": 30}, {"end_time": "2026-11-26"}):
        refused = desk.ask("calendar.update_event", {"find_by": "trip", "changes": wrong})
        assert refused.status is ResultStatus.FAILED


def test_what_takes_one_day_is_given_an_hour_and_what_takes_several_is_not(desk: Desk) -> None:
    desk.ask("calendar.create_event", {"summary": "Optician", "start_time": "2026-11-20"})
    before = desk.store.read_now(lambda conn: list_events(conn, Viewer.whole(FAMILY.id)))
    asked = desk.ask(
        "calendar.update_event", {"find_by": "optician", "changes": {"start_time": "09:30"}}
    )
    assert asked.status is ResultStatus.AWAITING, asked.error
    desk.yes(asked)
    assert ("Optician", "11-20 09:30") in calendar(desk)
    assert desk.undo(asked).outcome is Outcome.UNDONE
    assert desk.store.read_now(lambda conn: list_events(conn, Viewer.whole(FAMILY.id))) == before
    trip = {"summary": "Trip", "start_time": "2026-11-27", "end_time": "2026-11-29"}
    desk.ask("calendar.create_event", trip)
    refused = desk.ask(
        "calendar.update_event", {"find_by": "trip", "changes": {"start_time": "17:00"}}
    )
    assert refused.status is ResultStatus.FAILED


def test_one_time_of_a_series_that_becomes_something_else_is_an_event_of_its_own(
    desk: Desk,
) -> None:
    asked = desk.ask(
        "calendar.update_event",
        {"find_by": "soccer", "on": "2026-11-12", "changes": {"summary": "Soccer match"}},
    )
    desk.yes(asked)
    assert ("Soccer match", "11-12 16:30") in calendar(desk)
    assert (SOCCER.summary, "11-12 16:30") not in calendar(desk)
    desk.undo(asked)
    assert (SOCCER.summary, "11-12 16:30") in calendar(desk)


def test_an_id_with_its_start_finds_that_occurrence(desk: Desk) -> None:
    listed = desk.ask("calendar.list_events", {"query": "soccer", "days_ahead": 14}).result[
        "events"
    ]
    third = listed[2]
    asked = desk.ask(
        "calendar.delete_event", {"event_id": third["event_id"], "on": third["original_start"]}
    )
    assert asked.result["start"] == third["start"]
    assert desk.ask("calendar.delete_event", {"event_id": "nothing"}).status is ResultStatus.FAILED


def test_several_events_that_could_be_meant_are_named(desk: Desk) -> None:
    desk.put(event("Dentist for Ruth", "2026-11-18T09:00:00", who=("ruth",)))
    unclear = desk.ask("calendar.delete_event", {"find_by": "dentist appointment"})
    assert unclear.status is ResultStatus.UNCLEAR
    assert unclear.options == ("Dentist, tomorrow 3pm", "Dentist for Ruth, Wed Nov 18 9am")
    ivos = desk.ask("calendar.delete_event", {"find_by": "Ivo's dentist appointment"})
    assert ivos.summary == "Cancel Dentist, tomorrow 3pm"


def test_what_is_far_off_is_found_where_nothing_is_nearer(desk: Desk) -> None:
    asked = desk.ask("calendar.delete_event", {"find_by": "dentist check"})
    assert asked.summary == "Cancel Dentist check, Wed Feb 3 2027 3pm"


def test_a_day_on_which_it_does_not_take_place_is_told(desk: Desk) -> None:
    failed = desk.ask("calendar.delete_event", {"find_by": "the dentist", "on": "2026-11-20"})
    assert failed.status is ResultStatus.FAILED
    assert "tomorrow 3pm" in (failed.error or "")
    assert desk.ask("calendar.delete_event", {"find_by": "the opera"}).status is ResultStatus.FAILED


def test_what_has_changed_since_the_question_is_not_overwritten(desk: Desk) -> None:
    first = desk.ask(
        "calendar.update_event", {"find_by": "dinner", "changes": {"start_time": "18:00"}}
    )
    second = desk.ask(
        "calendar.update_event", {"find_by": "dinner", "changes": {"start_time": "20:00"}}
    )
    assert desk.yes(first).outcome is Outcome.DONE
    assert desk.yes(second).outcome is Outcome.FAILED
    assert (DINNER.summary, "11-13 18:00") in calendar(desk)


def test_a_child_asks_and_an_adult_says_yes(desk: Desk) -> None:
    params = {"summary": "Sleepover", "start_time": "2026-11-14T18:00:00-06:00"}
    asked = desk.ask("calendar.create_event", params, by=NIA)
    assert asked.status is ResultStatus.AWAITING
    assert desk.yes(asked, by=NIA).outcome is Outcome.DENIED
    assert desk.yes(asked, by=ABE).outcome is Outcome.DONE


def test_whether_people_are_free(desk: Desk) -> None:
    lunch = {"from": "2026-11-13T12:00:00-06:00", "to": "2026-11-13T14:00:00-06:00"}
    evening = {"from": "2026-11-13T18:00:00-06:00", "to": "2026-11-13T22:00:00-06:00"}
    assert desk.ask("calendar.find_free", {"between": lunch}).result["is_free"] is True
    busy = desk.ask("calendar.find_free", {"between": evening, "who": ["ruth", "nia"]})
    assert busy.result["is_free"] is False
    assert [each["title"] for each in busy.result["busy"]] == [DINNER.summary]
    assert [(each["start"][11:16], each["end"][11:16]) for each in busy.result["free"]] == [
        ("18:00", "19:00"),
        ("21:00", "22:00"),
    ]
    nobody = desk.ask("calendar.find_free", {"between": evening, "who": "nia"})
    assert nobody.result["is_free"] is True


def test_over_several_days_the_small_hours_are_not_offered(desk: Desk) -> None:
    week = {"from": "2026-11-12", "to": "2026-11-13"}
    found = desk.ask("calendar.find_free", {"between": week, "duration": 90}).result["free"]
    hours = {datetime.fromisoformat(each["start"]).hour for each in found}
    assert min(hours) >= 8
    assert [each["start"][:16] for each in found] == ["2026-11-12T08:00", "2026-11-13T08:00"]
