"""What was done and what awaits a yes, asked for in conversation; and questions about longer spans, on a real database."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from asking import ABE, IVO, NOW, Desk, event
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.store.store import Store

DENTIST = event("Dentist", "2026-11-12T15:00:00", minutes=30, who=("ivo",))
CHOIR = event("Choir", "2026-11-12T17:00:00", who=("nia",), rrule="FREQ=WEEKLY;BYDAY=TH")
CAMP = event("Camp", "2026-11-18T00:00:00", minutes=3 * 24 * 60, all_day=True, who=("nia",))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        desk = Desk(store)
        desk.put(DENTIST, CHOIR, CAMP)
        yield desk


def told(result: ActionResult) -> list[str]:
    assert result.status is ResultStatus.DONE
    (items,) = (result.result[name] for name in ("done", "waiting") if name in result.result)
    return [each["text"] for each in items]


def test_what_was_done_since_a_day_is_told_with_who_asked_for_it(desk: Desk) -> None:
    yesterday = NOW - timedelta(days=1)
    desk.ask("task.create", {"title": "sweep the yard"}, by=ABE, now=yesterday)
    desk.ask("task.create", {"title": "fix the gate"})
    assert told(desk.ask("memory.list_done")) == ["New task: fix the gate"]
    since = desk.ask("memory.list_done", {"since": "2026-11-10"})
    assert told(since) == ["New task: sweep the yard", "New task: fix the gate"]
    assert [each["by"] for each in since.result["done"]] == ["abe", "ruth"]


def test_what_was_taken_back_was_not_done(desk: Desk) -> None:
    desk.undo(desk.ask("task.create", {"title": "fix the gate"}))
    assert told(desk.ask("memory.list_done")) == []


def test_only_one_kind_is_told_where_it_is_asked_for(desk: Desk) -> None:
    desk.ask("task.create", {"title": "fix the gate"})
    assert told(desk.ask("memory.list_done", {"kind": "email"})) == []


def test_what_awaits_a_yes_is_told_until_it_has_one(desk: Desk) -> None:
    moved = desk.ask("calendar.delete_event", {"find_by": "dentist"})
    assert moved.status is ResultStatus.AWAITING
    assert [
        text.startswith("Cancel Dentist") for text in told(desk.ask("memory.list_waiting"))
    ] == [True]
    desk.yes(moved)
    assert told(desk.ask("memory.list_waiting")) == []


def test_nobody_is_told_what_somebody_else_had_remembered(desk: Desk) -> None:
    desk.ask("memory.store", {"value": "My locker code is 4471", "private": True})
    desk.ask("memory.store", {"value": "The spare key is with Mrs Doyle"})
    assert "Remember: The spare key is with Mrs Doyle" in told(desk.ask("memory.list_done"))
    assert told(desk.ask("memory.list_done", by=ABE)) == []


def test_a_child_is_told_only_of_its_own_wishes(desk: Desk) -> None:
    desk.ask("task.create", {"title": "fix the gate"})
    desk.ask("calendar.delete_event", {"find_by": "dentist"})
    assert told(desk.ask("memory.list_done", by=IVO)) == []
    assert told(desk.ask("memory.list_waiting", by=IVO)) == []


def test_times_of_a_series_are_one_where_many_weeks_are_looked_at(desk: Desk) -> None:
    params = {"from": "2026-11-11", "days_ahead": 30, "query": "choir"}
    (choir,) = desk.ask("calendar.list_events", params).result["events"]
    assert (choir["times"], choir["last"]) == (5, "2026-12-10")
    near = desk.ask("calendar.list_events", {**params, "days_ahead": 14})
    assert [each.get("times") for each in near.result["events"]] == [None, None]
    counted = desk.ask("calendar.list_events", {**params, "wanted": "count"})
    assert len(counted.result["events"]) == choir["times"]


def wanted(desk: Desk, name: str, **params: Any) -> Any:
    return desk.ask("calendar.list_events", {"wanted": name, **params}).result


def test_what_keeps_somebody_away_is_what_goes_on_for_whole_days(desk: Desk) -> None:
    (away,) = wanted(desk, "away", who=["nia"])["events"]
    assert (away["title"], away["end"]) == ("Camp", "2026-11-20")


def test_what_goes_on_for_whole_days_beside_something_is_told_with_it(desk: Desk) -> None:
    found = wanted(desk, "whether", query="choir", **{"from": "2026-11-19", "days_ahead": 1})
    assert [each["title"] for each in found["meanwhile"]] == ["Camp"]
    before = wanted(desk, "whether", query="choir", **{"from": "2026-11-12", "days_ahead": 1})
    assert before["meanwhile"] == []


def test_what_else_somebody_has_is_told_where_nothing_fits(desk: Desk) -> None:
    found = wanted(
        desk, "whether", query="fencing", who=["ivo"], **{"from": "2026-11-12", "days_ahead": 1}
    )
    assert found["events"] == []
    assert [each["title"] for each in found["beside"]] == ["Dentist"]


def test_a_list_tells_whether_something_is_on_it(desk: Desk) -> None:
    desk.ask("notes.append", {"title": "Shopping list", "body": "oat milk\nrice"})
    params = {"title": "shopping", "line": "milk"}
    assert desk.ask("notes.list", params).result["lines_found"] == ["oat milk"]
    assert desk.ask("notes.list", {**params, "line": "eggs"}).result["lines_found"] == []


def test_nothing_is_told_of_another_day_than_the_one_that_is_named(desk: Desk) -> None:
    friday = {"from": "2026-11-13T00:00:00-06:00", "to": "2026-11-14T00:00:00-06:00"}
    params = {"between": friday, "around": "dentist", "who": ["ivo"]}
    assert desk.ask("calendar.find_free", params).result["looked_at"]["start"][:10] == "2026-11-13"
    unknown = desk.ask("calendar.find_free", {**params, "around": "the plumber"})
    assert unknown.result["looked_at"]["start"][:10] == "2026-11-13"
    week = {**friday, "from": "2026-11-11T10:00:00-06:00"}
    found = desk.ask("calendar.find_free", {**params, "between": week}).result
    assert found["looked_at"]["start"] == "2026-11-12T15:00:00-06:00"


def test_who_is_away_is_who_takes_part_in_it(desk: Desk) -> None:
    desk.put(
        event("Car in the garage", "2026-11-16T00:00:00", minutes=24 * 60, all_day=True, who=())
    )
    assert wanted(desk, "away", who=["ruth"])["events"] == []
    assert [each["title"] for each in wanted(desk, "away", who=["nia"])["events"]] == ["Camp"]


def test_what_is_private_to_one_is_told_to_nobody_else(desk: Desk) -> None:
    desk.ask("task.create", {"title": "buy a ring for Abe", "private": True})
    desk.ask(
        "calendar.create_event",
        {"summary": "Jeweller", "start_time": "2026-11-14T10:00:00-06:00", "private": True},
    )
    waiting = desk.ask("calendar.delete_event", {"find_by": "jeweller"})
    assert waiting.status is ResultStatus.AWAITING
    assert len(told(desk.ask("memory.list_done"))) == 2
    assert len(told(desk.ask("memory.list_waiting"))) == 1
    assert told(desk.ask("memory.list_done", by=ABE)) == []
    assert told(desk.ask("memory.list_waiting", by=ABE)) == []
