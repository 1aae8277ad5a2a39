"""Requests for what only one member may see: where others read along, of children, and of guests."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asking import FAMILY, RUTH, Desk
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.model import Member, Role
from kinkeeper.store.store import Store

GUEST = Member(id="gus", name="Gus", role=Role.OTHER)
CHILD = FAMILY.children[0]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Desk(store, replace(FAMILY, members=(*FAMILY.members, GUEST)))


def test_in_the_familys_group_nothing_private_is_taken_in_or_told(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Buy the ring", "private": True})
    desk.ask("notes.create", {"title": "Ring", "body": "size 54", "private": True})
    start = "2026-11-13T17:00:00"
    desk.ask("calendar.create_event", {"summary": "Jeweller", "start_time": start, "private": True})
    desk.sits_in("group", channel="telegram", is_shared=True)
    for key, params in (
        ("task.create", {"title": "Buy the ring"}),
        ("notes.create", {"title": "Ring"}),
        ("calendar.create_event", {"summary": "Jeweller", "start_time": start}),
    ):
        asked = desk.ask(key, {**params, "private": True})
        assert "other people can read" in (asked.error or "")
    assert desk.ask("task.list", {"who": []}).result["tasks"] == []
    assert desk.ask("notes.list").result["notes"] == []
    free = desk.ask(
        "calendar.find_free",
        {"between": {"from": "2026-11-13T17:00:00", "to": "2026-11-13T18:00:00"}, "who": "Ruth"},
    )
    assert free.result["is_free"] is False
    assert "Jeweller" not in repr(free)


def test_a_child_keeps_to_itself_and_asks_for_what_is_everybodys(desk: Desk) -> None:
    own = {"summary": "Diary club", "start_time": "2026-11-13T17:00:00", "private": True}
    made = desk.ask("calendar.create_event", own, by=CHILD)
    assert made.status is ResultStatus.DONE
    assert "Diary" not in repr(desk.ask("calendar.list_events", {"days_ahead": 14}))
    shared = desk.ask(
        "calendar.set_audience", {"find_by": "Diary club", "private": False}, by=CHILD
    )
    assert "adult" in (shared.error or "")
    asked = desk.ask("calendar.delete_event", {"find_by": "Diary club"}, by=CHILD)
    assert asked.status is ResultStatus.AWAITING
    with pytest.raises(NotFoundError):
        desk.yes(asked, by=RUTH)
    assert desk.yes(asked, by=CHILD).is_change


def test_nobody_hides_what_is_others_too(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Feed the cat", "who": [CHILD.id]})
    refused = desk.ask("task.set_audience", {"find_by": "Feed the cat", "private": True})
    assert CHILD.name in (refused.error or "")
    given = desk.ask("task.create", {"title": "Sweep", "who": [CHILD.id], "private": True})
    assert given.status is ResultStatus.FAILED


def test_a_guest_is_told_of_the_coming_days_and_not_that_nothing_is_later(desk: Desk) -> None:
    for summary, start in (("Choir", "2026-11-13T17:00:00"), ("Recital", "2026-12-13T17:00:00")):
        desk.ask("calendar.create_event", {"summary": summary, "start_time": start})
    desk.ask("task.create", {"title": "Water the ferns", "who": [GUEST.id]})
    desk.ask("task.create", {"title": "Pay the rent"})
    week = desk.ask("calendar.list_events", {"days_ahead": 7}, by=GUEST)
    assert [each["title"] for each in week.result["events"]] == ["Choir"]
    later = desk.ask("calendar.list_events", {"from": "2026-12-12", "days_ahead": 3}, by=GUEST)
    assert "guests can only see" in (later.error or "")
    assert "Recital" not in repr(
        desk.ask("calendar.list_events", {"query": "recital", "wanted": "next"}, by=GUEST).result
    )
    tasks = desk.ask("task.list", {"who": []}, by=GUEST).result["tasks"]
    assert [each["title"] for each in tasks] == ["Water the ferns"]


def test_what_a_guest_writes_down_is_theirs_to_read_again(desk: Desk) -> None:
    made = desk.ask("notes.create", {"title": "Tablets", "body": "blue after lunch"}, by=GUEST)
    assert made.status is ResultStatus.DONE
    assert "blue after lunch" in repr(desk.ask("notes.list", {}, by=GUEST).result)
    desk.ask("notes.append", {"title": "Wishes", "body": "a lamp"}, by=GUEST)
    assert "a lamp" in repr(desk.ask("notes.list", {}, by=GUEST).result)
    assert "Tablets" not in repr(desk.ask("notes.list", {}).result)
