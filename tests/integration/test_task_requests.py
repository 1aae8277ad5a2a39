"""Tasks asked for in conversation, on a real database."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from asking import ABE, FAMILY, IVO, NIA, NOW, RUTH, Desk
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Priority, Task, TaskStatus
from kinkeeper.tasks.repository import list_tasks, next_due


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Store.open(str(tmp_path / "family.db")) as store:
        yield Desk(store)


def tasks(desk: Desk) -> Sequence[Task]:
    return desk.store.read_now(lambda conn: list_tasks(conn, Viewer.whole(FAMILY.id)))


def test_a_task_with_a_time_is_made_at_once_and_reminds_then(desk: Desk) -> None:
    done = desk.ask("task.create", {"title": "Call mom", "deadline": "2026-11-12T17:00:00-06:00"})
    assert done.status is ResultStatus.DONE
    assert done.result["title"] == "Call mom"
    assert done.result["deadline"] == "2026-11-12T17:00:00-06:00"
    assert done.result["remind_at"] == "2026-11-12T17:00:00-06:00"
    (task,) = tasks(desk)
    assert task.who == ("ruth",)
    assert task.place.thread_id == "thread-1"
    assert desk.store.read_now(lambda conn: next_due(conn, FAMILY.id)) == task.remind_at


def test_a_task_of_a_day_reminds_in_the_morning_or_else_in_the_evening(desk: Desk) -> None:
    later = desk.ask("task.create", {"title": "Pay the club", "deadline": "2026-11-13"})
    today = desk.ask("task.create", {"title": "Post the letter", "deadline": "2026-11-11"})
    assert later.result["deadline"] == "2026-11-13"
    assert later.result["remind_at"] == "2026-11-13T09:00:00-06:00"
    assert today.result["remind_at"] == "2026-11-11T18:00:00-06:00"


def test_a_task_without_a_time_reminds_of_nothing(desk: Desk) -> None:
    assert desk.ask("task.create", {"title": "Buy stamps"}).result["remind_at"] is None


@pytest.mark.parametrize("deadline", ["2026-11-11T09:59:00-06:00", "2026-11-10"])
def test_a_time_that_has_passed_is_asked_about(desk: Desk, deadline: str) -> None:
    asked = desk.ask("task.create", {"title": "Call mom", "deadline": deadline})
    assert asked.status is ResultStatus.UNCLEAR
    assert "passed" in (asked.error or "")
    assert tasks(desk) == []


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"title": ""},
        {"title": "x", "deadline": "soon"},
        {"title": "x", "colour": "red"},
        {"title": "x", "rrule": "FREQ=WEEKLY"},
        {"title": "x", "deadline": "2026-11-12", "rrule": "FREQ=EVERY"},
    ],
)
def test_what_cannot_be_a_task_is_refused_in_words(desk: Desk, params: dict[str, str]) -> None:
    failed = desk.ask("task.create", params)
    assert failed.status is ResultStatus.FAILED
    assert failed.error
    assert tasks(desk) == []


def test_the_same_request_of_the_same_turn_is_carried_out_once(desk: Desk) -> None:
    first = desk.ask("task.create", {"title": "Buy stamps"}, turn="t")
    again = desk.ask("task.create", {"title": "Buy stamps"}, turn="t")
    assert again == first
    assert len(tasks(desk)) == 1
    done = desk.ask("task.complete", {"find_by": "stamps"}, turn="u")
    assert desk.ask("task.complete", {"find_by": "stamps"}, turn="u") == done


def test_a_task_for_another_is_theirs(desk: Desk) -> None:
    made = desk.ask("task.create", {"title": "Fix the bike", "who": "Abe"})
    assert made.result["who"] == ["abe"]
    both = desk.ask("task.create", {"title": "Tidy up", "who": ["the kids"]})
    assert both.result["who"] == ["nia", "ivo"]
    assert desk.ask("task.create", {"title": "x", "who": "Zoltan"}).status is ResultStatus.UNCLEAR


def test_the_list_shows_ones_own_and_nobodys_and_says_how_many_others_there_are(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Mine"})
    desk.ask("task.create", {"title": "Nobody's", "who": []}, now=NOW + timedelta(minutes=1))
    desk.ask("task.create", {"title": "His"}, by=ABE)
    listed = desk.ask("task.list")
    assert [each["title"] for each in listed.result["tasks"]] == ["Mine", "Nobody's"]
    assert listed.result["others"] == 1
    assert listed.card is not None
    assert [each["text"] for each in listed.card.items] == ["Mine", "Nobody's"]
    everything = desk.ask("task.list", {"who": []})
    assert {each["title"] for each in everything.result["tasks"]} == {"Mine", "Nobody's", "His"}
    his = desk.ask("task.list", {"who": "abe"})
    assert [each["title"] for each in his.result["tasks"]] == ["His"]


def test_words_find_the_task_that_is_done(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Take out the bins"})
    desk.ask("task.create", {"title": "Buy stamps"})
    done = desk.ask("task.complete", {"find_by": "the bins"})
    assert done.status is ResultStatus.DONE
    assert {task.title: task.status for task in tasks(desk)} == {
        "Take out the bins": TaskStatus.DONE,
        "Buy stamps": TaskStatus.OPEN,
    }
    assert desk.undo(done).outcome is Outcome.UNDONE
    assert {task.status for task in tasks(desk)} == {TaskStatus.OPEN}


def test_several_that_could_be_meant_are_named(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Call the plumber"})
    desk.ask("task.create", {"title": "Call the school"})
    unclear = desk.ask("task.complete", {"find_by": "call"})
    assert unclear.status is ResultStatus.UNCLEAR
    assert set(unclear.options) == {"Call the plumber", "Call the school"}
    none = desk.ask("task.complete", {"find_by": "the roof"})
    assert none.status is ResultStatus.FAILED
    assert "Call the plumber" in (none.error or "")


def test_ones_own_task_goes_before_anothers(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Call the plumber"}, by=ABE)
    desk.ask("task.create", {"title": "Call the school"})
    assert desk.ask("task.complete", {"find_by": "call"}).result["title"] == "Call the school"


def test_removing_a_task_awaits_a_yes(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Buy stamps"})
    asked = desk.ask("task.delete", {"find_by": "stamps"})
    assert asked.status is ResultStatus.AWAITING
    assert len(tasks(desk)) == 1
    assert desk.yes(asked).outcome is Outcome.DONE
    assert tasks(desk) == []
    assert desk.undo(asked).outcome is Outcome.UNDONE
    assert [task.title for task in tasks(desk)] == ["Buy stamps"]


def test_what_changed_between_question_and_yes_is_not_removed(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Buy stamps"})
    asked = desk.ask("task.delete", {"find_by": "stamps"})
    desk.ask("task.update", {"find_by": "stamps", "changes": {"title": "Buy many stamps"}})
    assert desk.yes(asked).outcome is Outcome.FAILED
    assert [task.title for task in tasks(desk)] == ["Buy many stamps"]


@pytest.mark.parametrize(
    ("changes", "deadline", "remind_at"),
    [
        ({"deadline": "18:30"}, "2026-11-12T18:30:00-06:00", "2026-11-12T18:30:00-06:00"),
        ({"deadline": "2026-11-20"}, "2026-11-20T17:00:00-06:00", "2026-11-20T17:00:00-06:00"),
        ({"shift_minutes": 30}, "2026-11-12T17:30:00-06:00", "2026-11-12T17:30:00-06:00"),
        (
            {"remind_at": "2026-11-12T12:00:00-06:00"},
            "2026-11-12T17:00:00-06:00",
            "2026-11-12T12:00:00-06:00",
        ),
        ({"deadline": None}, None, "2026-11-12T17:00:00-06:00"),
    ],
)
def test_parts_of_a_time_can_be_changed(
    desk: Desk, changes: dict[str, object], deadline: str | None, remind_at: str
) -> None:
    desk.ask("task.create", {"title": "Call mom", "deadline": "2026-11-12T17:00:00-06:00"})
    changed = desk.ask("task.update", {"find_by": "mom", "changes": changes})
    assert changed.status is ResultStatus.DONE, changed.error
    assert (changed.result["deadline"], changed.result["remind_at"]) == (deadline, remind_at)


def test_a_week_later_is_at_the_same_hour_though_the_clocks_change_and_an_hour_later_is_an_hour(
    desk: Desk,
) -> None:
    desk.ask("task.create", {"title": "Call mom", "deadline": "2027-03-12T17:00:00-06:00"})
    for minutes, deadline in (
        (7 * 24 * 60, "2027-03-19T17:00:00-05:00"),
        (60, "2027-03-19T18:00:00-05:00"),
    ):
        changes = {"shift_minutes": minutes}
        changed = desk.ask("task.update", {"find_by": "mom", "changes": changes})
        assert changed.result["deadline"] == deadline, changed.error


def test_other_fields_change_and_come_back(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Buy stamps"})
    (before,) = tasks(desk)
    changed = desk.ask(
        "task.update",
        {"find_by": "stamps", "changes": {"priority": "high", "who": ["abe"], "title": "Buy ink"}},
    )
    (after,) = tasks(desk)
    assert (after.title, after.priority, after.who) == ("Buy ink", Priority.HIGH, ("abe",))
    desk.undo(changed)
    assert tasks(desk) == [before]


def test_a_child_does_its_own_alone_and_asks_for_the_rest(desk: Desk) -> None:
    own = desk.ask("task.create", {"title": "Feed the cat"}, by=NIA)
    assert own.status is ResultStatus.DONE
    assert desk.ask("task.complete", {"find_by": "cat"}, by=NIA).status is ResultStatus.DONE
    for params in ({"title": "Buy me a dog", "who": "ruth"}, {"title": "x", "who": []}):
        assert desk.ask("task.create", params, by=NIA).status is ResultStatus.AWAITING
    desk.ask("task.create", {"title": "Mow the lawn"}, by=ABE)
    assert desk.ask("task.complete", {"find_by": "lawn"}, by=IVO).status is ResultStatus.AWAITING


def test_a_child_does_not_confirm_and_a_stranger_gets_nothing_done(desk: Desk) -> None:
    asked = desk.ask("task.create", {"title": "Buy me a dog", "who": "ruth"}, by=NIA)
    assert desk.yes(asked, by=NIA).outcome is Outcome.DENIED
    assert desk.yes(asked, by=ABE).outcome is Outcome.DONE


def test_a_task_that_repeats_goes_on_to_its_next_turn(desk: Desk) -> None:
    made = desk.ask(
        "task.create",
        {
            "title": "Bins out",
            "deadline": "2026-11-15T18:00:00-06:00",
            "rrule": "FREQ=WEEKLY;BYDAY=SU",
        },
    )
    assert made.result["deadline"] == "2026-11-15T18:00:00-06:00"
    done = desk.ask("task.complete", {"find_by": "bins"}, now=NOW + timedelta(days=4))
    assert done.result["deadline"] == "2026-11-22T18:00:00-06:00"
    assert done.result["status"] == "open"
    assert {task.status for task in tasks(desk)} == {TaskStatus.OPEN}


def test_a_rule_that_does_not_give_the_first_day_begins_on_the_next_it_gives(desk: Desk) -> None:
    made = desk.ask(
        "task.create",
        {
            "title": "Bins out",
            "deadline": "2026-11-12T18:00:00-06:00",
            "rrule": "FREQ=WEEKLY;BYDAY=SU",
        },
    )
    assert made.result["deadline"] == "2026-11-15T18:00:00-06:00"


def test_an_unknown_request_fails_in_words(desk: Desk) -> None:
    failed = desk.ask("task.paint", {})
    assert failed.status is ResultStatus.FAILED
    assert "task.paint" in (failed.error or "")


def test_nobody_sees_what_anothers_household_has_to_do(desk: Desk) -> None:
    desk.ask("task.create", {"title": "Buy stamps"})
    other = Desk(desk.store, replace(FAMILY, id="other"))
    assert other.ask("task.list", {"status": "all", "who": []}).result == {"tasks": [], "others": 0}
    assert other.ask("task.complete", {"find_by": "stamps"}).status is ResultStatus.FAILED
    assert RUTH in other.household.members
