"""What is asked about events, and who has time: chosen out of a real database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import ABE, Desk, event
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.store.store import Store

SOCCER = event("Soccer practice", "2026-11-03T16:30:00", rrule="FREQ=WEEKLY;BYDAY=TU,TH")
DENTIST = event("Dentist", "2026-11-12T16:45:00", minutes=30, who=("ivo",), place="hall")
DINNER = event("Dinner with the Garcias", "2026-11-13T19:00:00", minutes=120, who=("ruth", "abe"))
RECITAL = event("Recital", "2027-03-20T15:00:00", who=("ivo", "ruth"))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        desk = Desk(store)
        desk.put(SOCCER, DENTIST, DINNER, RECITAL)
        yield desk


def listed(desk: Desk, **params: Any) -> list[tuple[str, str]]:
    result = desk.ask("calendar.list_events", params)
    return [(each["title"], each["start"][5:16]) for each in result.result["events"]]


def free(desk: Desk, first: str, last: str, **params: Any) -> ActionResult:
    return desk.ask("calendar.find_free", {"between": {"from": first, "to": last}, **params})


@pytest.mark.parametrize("wanted", ["next", "start", "end", "length", "place", "whether", "days"])
def test_one_thing_is_asked_of_the_next_time_of_it(desk: Desk, wanted: str) -> None:
    assert listed(desk, query="soccer", wanted=wanted) == [("Soccer practice", "11-12T16:30")]


def test_what_is_far_off_is_found_and_what_was_last(desk: Desk) -> None:
    assert listed(desk, query="recital", wanted="next") == [("Recital", "03-20T15:00")]
    assert listed(desk, query="soccer", wanted="last") == [("Soccer practice", "11-10T16:30")]
    assert listed(desk, query="recital", wanted="last") == []


def test_the_last_of_some_days_is_the_last_in_them(desk: Desk) -> None:
    week = {"from": "2026-11-09", "days_ahead": 7}
    assert listed(desk, wanted="last", **week) == [("Dinner with the Garcias", "11-13T19:00")]


def test_hours_bound_what_takes_place_on_a_day(desk: Desk) -> None:
    thursday = {"from": "2026-11-12", "days_ahead": 1}
    assert listed(desk, since="17:15", **thursday) == [("Soccer practice", "11-12T16:30")]
    assert listed(desk, until="16:45", **thursday) == [("Soccer practice", "11-12T16:30")]
    assert listed(desk, since="18:00", **thursday) == []


def test_nobody_is_down_for_what_children_do_alone(desk: Desk) -> None:
    found = listed(desk, wanted="unowned", days_ahead=3)
    assert ("Dentist", "11-12T16:45") in found
    assert "Dinner with the Garcias" not in [title for title, _ in found]


def test_events_of_the_same_people_at_the_same_time_clash(desk: Desk) -> None:
    assert listed(desk, wanted="clash", days_ahead=3) == []
    desk.put(event("Checkup", "2026-11-12T17:00:00", who=("ivo",)))
    assert [title for title, _ in listed(desk, wanted="clash", days_ahead=3)] == [
        "Dentist",
        "Checkup",
    ]


def test_where_nothing_is_on_the_day_the_next_is_told_instead(desk: Desk) -> None:
    params = {"from": "2026-11-13", "days_ahead": 1, "query": "soccer", "wanted": "whether"}
    result = desk.ask("calendar.list_events", params).result
    assert result["events"] == []
    assert result["instead"]["start"].startswith("2026-11-12")


def test_whoever_is_in_charge_has_no_time(desk: Desk) -> None:
    desk.put(event("Swimming", "2026-11-14T10:00:00", who=("nia",), responsible=("abe",)))
    params = ("2026-11-14T10:00:00", "2026-11-14T11:00:00")
    assert free(desk, *params, who="ruth").result["is_free"]
    busy = free(desk, *params, who="abe").result
    assert (busy["is_free"], [each["title"] for each in busy["busy"]]) == (False, ["Swimming"])


def test_who_has_time_for_an_event_is_told_one_by_one(desk: Desk) -> None:
    found = free(
        desk, "2026-11-13", "2026-11-13", around="dinner", is_any=True, who=["ruth", ABE.id]
    ).result
    assert {member: len(busy) for member, busy in found["by_member"].items()} == {
        "ruth": 1,
        "abe": 1,
    }
    assert found["looked_at"]["start"].startswith("2026-11-13T19:00")


def test_what_meets_with_an_event_does_not_count_the_event(desk: Desk) -> None:
    params = ("2026-11-11T10:00:00", "2026-11-18T10:00:00")
    assert free(desk, *params, around="dentist").result["is_free"]
    desk.put(event("Checkup", "2026-11-12T17:00:00", who=("ivo",)))
    assert [each["title"] for each in free(desk, *params, around="dentist").result["busy"]] == [
        "Checkup"
    ]


def test_evenings_are_looked_at_within_their_hours(desk: Desk) -> None:
    found = free(
        desk, "2026-11-12", "2026-11-13", since="18:00", until="21:00", duration=60
    ).result["free"]
    assert [each["start"][5:16] for each in found] == ["11-12T18:00", "11-13T18:00"]
