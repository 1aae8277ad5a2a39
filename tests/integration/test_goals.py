"""Goals: worked on in cycles, told to whose they are, and nobody else; paused, stopped, over."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from asking import ABE, FAMILY, NIA, NOW, RUTH, event
from goal_home import PLAN, GoalHome
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.background.cycles import goal_cycles, pause_after
from kinkeeper.background.home_search import HomeSearch
from kinkeeper.bootstrap.table_erasure import erase
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.conversation.tables import turns
from kinkeeper.core.time import VirtualClock
from kinkeeper.goals.model import GoalStatus, Source, StepState
from kinkeeper.goals.repository import goals, list_goals, purge_goals
from kinkeeper.household.viewers import Viewer, viewer_for
from kinkeeper.memory.finding.search import Finder
from kinkeeper.messaging.addresses import remember_private_chat
from kinkeeper.messaging.tables import outbox

COURSE = "a swimming course for Nia"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[GoalHome]:
    home = GoalHome(tmp_path / "family.db")
    home.thread("thread-1")
    yield home
    home.store.close()


def test_a_goal_without_a_plan_is_one_step_and_told_at_once(home: GoalHome) -> None:
    home.told_runner.finds["swimming"] = ["The pool has courses."]
    goal = home.want(COURSE)
    assert home.run() == 1
    assert home.said == [
        (
            "thread-1",
            f"About “{COURSE}”, this is what I came to:\n• The pool has courses.\nI looked nowhere else.",
        )
    ]
    done = home.goal(goal)
    assert (done.status, done.progress.coverage) == (GoalStatus.COMPLETED, 100)
    assert [(each.sources, each.answer) for each in done.progress.steps] == [
        ((Source(kind="note", id="The pool has courses."),), "")
    ]
    home.until("2026-12-30T12:00")
    assert len(home.said) == 1
    assert home.told_runner.did == [COURSE]


def test_that_nothing_was_found_is_said(home: GoalHome) -> None:
    home.want(COURSE)
    home.run()
    (_, text) = home.said[0]
    assert "I found nothing about it in the attic or the cellar." in text
    assert text.endswith("I looked nowhere else.")


def test_a_plan_is_worked_off_three_steps_a_cycle_in_its_order(home: GoalHome) -> None:
    goal = home.want("a week at the sea", steps=PLAN, confidence=0.8)
    home.run()
    assert home.told_runner.did == [each["description"] for each in PLAN[:3]]
    assert home.goal(goal).progress.coverage == 60
    assert "3 of 5 steps are done" in home.said[0][1]
    assert f"{PLAN[0]['description']}:\nI found nothing" in home.said[0][1]
    began = home.clock.now()
    home.run()
    assert len(home.told_runner.did) == 3
    wait = pause_after(FAMILY.id, "00000001")
    assert timedelta(minutes=21) <= wait <= timedelta(minutes=39)
    home.clock.advance_to(began + wait - timedelta(seconds=1))
    assert home.run() == 0
    home.clock.advance_to(began + wait)
    assert home.run() == 1
    assert home.told_runner.did == [each["description"] for each in PLAN]
    assert home.goal(goal).status is GoalStatus.COMPLETED
    assert [text.splitlines()[0] for _, text in home.said][1:] == [
        "About “a week at the sea”, this is what I came to:"
    ]


@pytest.mark.parametrize("changed", [{"confidence": 0.5}, {"steps": PLAN[:1]}, {"steps": PLAN[1:]}])
def test_a_plan_that_cannot_be_taken_leaves_one_step(
    home: GoalHome, changed: dict[str, Any]
) -> None:
    goal = home.want("a week at the sea", **{"steps": PLAN, "confidence": 0.8} | changed)
    assert [each.description for each in home.goal(goal).progress.steps] == ["a week at the sea"]


def test_a_step_that_cannot_be_done_is_tried_five_times_and_no_other_twice(home: GoalHome) -> None:
    home.told_runner.breaks.add("hotel")
    goal = home.want("a week at the sea", steps=PLAN, confidence=0.8)
    home.until("2026-11-12T12:00")
    did = home.told_runner.did
    assert did.count(PLAN[2]["description"]) == 5
    assert [did.count(PLAN[at]["description"]) for at in (0, 1, 3, 4)] == [1, 1, 0, 0]
    assert home.goal(goal).status is GoalStatus.FAILED
    assert "2 of 5 steps could be done" in home.said[-1][1]
    assert len(home.said) == 2


def test_the_rest_is_not_held_up_by_what_breaks(home: GoalHome) -> None:
    home.told_runner.breaks.add("sea")
    home.want("a week at the sea", is_urgent=True)
    other = home.want(COURSE)
    home.until("2026-11-11T15:00")
    assert home.goal(other).status is GoalStatus.COMPLETED


def test_five_at_a_time_and_none_twice(home: GoalHome) -> None:
    for each in ("a kennel", "guitar lessons", "new curtains", "cheap flights", "a plumber"):
        home.want(each)
    assert "5 things" in (home.ask("create", text="a gardener").error or "")
    assert "already on that" in (home.ask("create", text="the kennel").error or "")
    home.want("a gardener", by=ABE)
    assert home.ask("pause", find_by="curtains").status is ResultStatus.DONE
    home.want("a gardener")


def test_nothing_is_done_or_told_in_quiet_hours(home: GoalHome) -> None:
    home.clock.advance_to(NOW.replace(hour=21, minute=50))
    home.want("a week at the sea", steps=PLAN, confidence=0.8)
    home.run()
    home.until("2026-11-12T06:59")
    assert len(home.told_runner.did) == 3
    home.until("2026-11-12T07:00")
    assert len(home.told_runner.did) == 5
    assert len(home.said) == 2


def test_quiet_that_was_asked_for_holds_work_and_words_back(home: GoalHome) -> None:
    home.is_quiet = True
    home.want(COURSE)
    home.until("2026-11-11T11:30")
    assert (home.told_runner.did, home.said) == ([], [])
    count = home.store.read_now(lambda conn: conn.execute(select(goal_cycles)).all())
    assert len(count) <= 6
    home.is_quiet = False
    home.until("2026-11-11T12:30")
    assert len(home.said) == 1


@pytest.mark.parametrize(
    ("at", "asked_at"),
    [
        ("2026-11-13", "2026-11-13T09:00"),
        ("2026-11-13T16:30", "2026-11-13T16:30"),
        ("2026-11-13T23:15", "2026-11-13T23:15"),
        ("2026-11-12T06:00", "2026-11-12T06:00"),
    ],
)
def test_a_question_is_asked_again_at_its_time(home: GoalHome, at: str, asked_at: str) -> None:
    home.want("shall we book the camp?", kind="ask", at=at)
    home.want("a week at the sea", steps=PLAN, confidence=0.8)
    home.until(f"{asked_at[:-1]}{int(asked_at[-1])}")
    asked = [text for _, text in home.said if "come back" in text]
    assert asked == ["You wanted me to come back to this: shall we book the camp?"]


def test_a_question_is_not_asked_before_its_time_and_late_ones_wait_for_the_morning(
    home: GoalHome,
) -> None:
    home.want("shall we book the camp?", kind="ask", at="2026-11-13T23:15")
    home.until("2026-11-13T23:14")
    assert home.said == []
    home.restart()
    home.clock.advance_to(NOW.replace(day=14, hour=3))
    home.run()
    assert home.said == []
    home.until("2026-11-14T07:00")
    assert len(home.said) == 1


@pytest.mark.parametrize(
    ("at", "question"),
    [
        (None, "When shall I"),
        ("2026-11-10", "already passed"),
        ("2026-11-11T09:00", "already passed"),
    ],
)
def test_a_question_needs_a_time_to_come(home: GoalHome, at: str | None, question: str) -> None:
    made = home.ask("create", text="the camp", kind="ask", at=at)
    assert made.status is ResultStatus.UNCLEAR
    assert question in (made.error or "")


def test_what_is_watched_is_told_when_it_changes_until_its_time_is_over(home: GoalHome) -> None:
    home.told_runner.finds["museum"] = ["It opens at 9."]
    goal = home.want("the museum's hours", kind="watch")
    home.until("2026-11-13T12:00")
    assert len(home.said) == 1
    home.told_runner.finds["museum"] = ["It opens at 9.", "Closed in December."]
    home.until("2026-11-15T12:00")
    (first, news) = (text for _, text in home.said)
    assert first.splitlines() == [
        "I keep an eye on “the museum's hours”:",
        "• It opens at 9.",
        "I looked nowhere else.",
    ]
    assert news.splitlines() == [
        "Something new about “the museum's hours”:",
        "• Closed in December.",
    ]
    home.until("2026-11-26T12:00")
    assert home.goal(goal).status is GoalStatus.EXPIRED
    assert home.said[2][1].startswith("I've been on “the museum's hours” for 14 days")
    assert len(home.said) == 3
    assert 14 <= len(home.told_runner.did) <= 20


def test_what_rests_is_not_worked_on_and_what_was_stopped_never_again(home: GoalHome) -> None:
    goal = home.want("a week at the sea", steps=PLAN, confidence=0.8)
    home.run()
    assert home.ask("pause", find_by="the sea").status is ResultStatus.DONE
    home.until("2026-11-11T18:00")
    assert len(home.told_runner.did) == 3
    assert home.ask("resume", find_by="the sea").status is ResultStatus.DONE
    assert home.goal(goal).status is GoalStatus.PENDING
    assert home.ask("cancel", find_by="the sea").status is ResultStatus.DONE
    home.until("2026-11-12T12:00")
    assert len(home.told_runner.did) == 3
    for key in ("resume", "pause", "cancel"):
        assert "not working on anything" in (home.ask(key, find_by="the sea").error or "")


@pytest.mark.parametrize("key", ["create", "pause", "resume"])
def test_what_a_person_did_with_a_goal_can_be_taken_back(home: GoalHome, key: str) -> None:
    done = home.ask("create", text="a week at the sea")
    for each in ("pause", "resume"):
        if key != "create" and (each == "pause" or key == "resume"):
            done = home.ask(each, find_by="the sea")
    assert home.desk.undo(done, now=home.clock.now()).outcome is Outcome.UNDONE
    wanted = {
        "create": GoalStatus.CANCELLED,
        "pause": GoalStatus.PENDING,
        "resume": GoalStatus.PAUSED,
    }
    assert home.goals[0].status is wanted[key]


@pytest.mark.parametrize("was", [GoalStatus.PENDING, GoalStatus.PAUSED])
def test_what_was_stopped_can_be_taken_up_again(home: GoalHome, was: GoalStatus) -> None:
    home.want(COURSE)
    if was is GoalStatus.PAUSED:
        home.ask("pause", find_by="swimming")
    stopped = home.ask("cancel", find_by="swimming")
    assert home.goals[0].status is GoalStatus.CANCELLED
    assert home.desk.undo(stopped, now=home.clock.now()).outcome is Outcome.UNDONE
    assert home.goals[0].status is was


def test_what_was_stopped_stays_so_where_its_place_was_taken(home: GoalHome) -> None:
    home.want(COURSE)
    stopped = home.ask("cancel", find_by="swimming")
    home.want(COURSE)
    assert home.desk.undo(stopped, now=home.clock.now()).outcome is not Outcome.UNDONE
    assert len([each for each in home.goals if each.status is GoalStatus.CANCELLED]) == 1


def test_a_goal_is_nobody_elses(home: GoalHome) -> None:
    home.want(COURSE)
    home.want("a present for mum", by=NIA)
    for member, seen in ((RUTH, [COURSE]), (NIA, ["a present for mum"]), (ABE, [])):
        listed = home.ask("list", by=member).result["goals"]
        assert [each["title"] for each in listed] == seen
        viewer = viewer_for(FAMILY, member, now=NOW)
        found = home.store.read_now(lambda conn, viewer=viewer: list_goals(conn, viewer))  # type: ignore[misc]
        assert [each.text for each in found] == seen
    assert "not working" in (home.ask("cancel", find_by="present", by=ABE).error or "")
    home.desk.sits_in("group", channel="telegram", is_shared=True)
    assert home.ask("list").result["goals"] == []
    assert home.store.read_now(lambda conn: list_goals(conn, Viewer.of("other", "ruth"))) == []


@pytest.mark.parametrize("asked_in", ["group", "others", "nowhere", "own"])
def test_only_whose_goal_it_is_reads_how_it_stands(home: GoalHome, asked_in: str) -> None:
    home.thread("own-1", member="nia")
    home.thread("others-1", member="ruth")
    home.desk.sits_in({"own": "own-1", "others": "others-1"}.get(asked_in, ""))
    home.want(COURSE, by=NIA)
    home.run()
    (thread, _) = home.said[0]
    assert (thread == "own-1") is (asked_in == "own")
    assert thread != "others-1"


def test_in_a_private_chat_it_is_told_without_an_alarm(home: GoalHome) -> None:
    home.store.write_now(
        lambda conn: remember_private_chat(
            conn, FAMILY.id, "telegram", chat_id="7", member="abe", now=NOW
        )
    )
    home.desk.sits_in("")
    home.want(COURSE, by=ABE)
    home.run()
    sent = home.store.read_now(
        lambda conn: conn.execute(
            select(outbox.c.chat_id, outbox.c.is_alarm, outbox.c.is_unprompted)
        ).all()
    )
    assert [tuple(each) for each in sent] == [("7", False, False)]


def test_a_cycle_that_broke_off_goes_on_after_the_last_step(home: GoalHome) -> None:
    goal = home.want("a week at the sea", steps=PLAN, confidence=0.8)
    done = home.told_runner.run

    class Killed(BaseException):
        pass

    async def run(a_goal: Any, step: Any) -> Any:
        if step.id == "b" and len(home.told_runner.did) == 1:
            home.told_runner.did.append("killed")
            raise Killed
        return await done(a_goal, step)

    home.told_runner.run = run  # type: ignore[method-assign]
    with pytest.raises(Killed):
        home.run()
    assert [each.state for each in home.goal(goal).progress.steps[:2]] == [
        StepState.DONE,
        StepState.WAITING,
    ]
    assert home.said == []
    home.clock.advance_to(home.clock.now() + timedelta(hours=1))
    home.until("2026-11-11T13:00")
    did = [each for each in home.told_runner.did if each != "killed"]
    assert did == [each["description"] for each in PLAN]
    assert home.goal(goal).status is GoalStatus.COMPLETED
    assert len(home.said) == 2


def test_what_is_over_is_forgotten_in_time(home: GoalHome) -> None:
    home.want(COURSE)
    home.want("a kennel", kind="watch")
    home.until("2026-11-11T12:00")
    later = home.clock.now() + timedelta(days=31)
    assert home.store.write_now(lambda conn: purge_goals(conn, FAMILY.id, before=later)) == 1
    assert [each.text for each in home.goals] == ["a kennel"]


def searching(home: GoalHome) -> HomeSearch:
    finder = Finder(home.store, FAMILY.id, zone=FAMILY.zone, embedder=None, locale=FAMILY.locale)
    clock = VirtualClock(NOW)
    return HomeSearch(HouseholdBrain(home.store, FAMILY, finder, clock), clock)


@pytest.mark.parametrize(("by", "sees_it"), [(RUTH, True), (ABE, False), (NIA, False)])
def test_at_home_is_looked_for_what_its_person_may_see(
    tmp_path: Path, by: Any, sees_it: bool
) -> None:
    home = GoalHome(tmp_path / "family.db")
    home.work._runner = searching(home)
    home.thread("thread-1")
    home.desk.put(event("Swimming course", "2026-11-14T10:00"))
    home.desk.ask(
        "notes.create",
        {"title": "Swimming", "body": "- the swimming course costs 80", "private": True},
    )
    home.want(COURSE, by=by)
    home.run()
    (_, text) = home.said[0]
    assert "Swimming course" in text
    assert ("costs 80" in text) is sees_it
    (used,) = home.store.read_now(lambda conn: conn.execute(select(turns.c.used)).scalars().all())
    assert {each["kind"] for each in used} == ({"event", "note"} if sees_it else {"event"})
    assert all(each["text"] in text for each in used)
    kept = home.store.read_now(lambda conn: conn.execute(select(goals.c.progress)).scalar_one())
    assert not any(source["text"] for step in kept["steps"] for source in step["sources"])
    assert text.endswith("No web search is set up here, so I looked only at what we have at home.")
    home.store.close()


def test_at_home_nothing_is_made_up(tmp_path: Path) -> None:
    home = GoalHome(tmp_path / "family.db")
    home.work._runner = searching(home)
    home.want("a ballet school with trial lessons")
    home.run()
    (_, text) = home.said[0]
    assert "I found nothing about it in the calendar, notes or memory." in text
    home.store.close()


def cycles(home: GoalHome) -> int:
    return len(home.store.read_now(lambda conn: conn.execute(select(goal_cycles)).all()))


def test_while_nothing_is_due_next_to_nothing_is_done(home: GoalHome) -> None:
    home.run()
    assert cycles(home) == 0
    home.want("shall we book the camp?", kind="ask", at="2026-11-21")
    for _ in range(5):
        home.run()
    assert cycles(home) == 1
    home.until("2026-11-20T20:00")
    assert home.said == []
    assert cycles(home) <= 2 * 10 + 1
    home.until("2026-11-21T09:00")
    assert len(home.said) == 1
    before = cycles(home)
    home.until("2027-01-21T09:00")
    assert cycles(home) == before


@pytest.mark.parametrize("days", [400, 3])
def test_a_clock_that_was_far_ahead_neither_ends_nor_stops_the_work(
    home: GoalHome, days: int
) -> None:
    home.told_runner.finds["museum"] = ["It opens at 9."]
    goal = home.want("the museum's hours", kind="watch")
    home.run()
    home.clock.advance_to(NOW + timedelta(days=days))
    home.run()
    home.clock = VirtualClock(NOW + timedelta(hours=1))
    home.restart()
    for hours in range(1, 72):
        home.clock.advance_to(NOW + timedelta(hours=hours))
        home.run()
    assert home.goal(goal).status is GoalStatus.RUNNING
    assert len(home.told_runner.did) >= 3


def test_what_is_a_persons_goes_with_them(home: GoalHome) -> None:
    home.want(COURSE)
    home.want("a guitar", by=NIA)
    home.run()
    home.store.write_now(lambda conn: erase(conn, FAMILY.id, "ruth", at=home.clock.now()))
    assert [each.text for each in home.goals] == ["a guitar"]
    home.until("2026-11-11T12:00")
    assert home.goals[0].status is GoalStatus.COMPLETED
