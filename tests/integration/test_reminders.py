"""Reminders: said once, on time, where they were asked for; across restarts, clock changes and quiet hours."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from asking import ABE, FAMILY, NOW, RUTH, ZONE, Desk
from kinkeeper.bootstrap.reminders import reminding
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.threads import Thread, load_thread, open_thread, usual_thread_id
from kinkeeper.conversation.turn import PROGRAMS
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.time import VirtualClock
from kinkeeper.messaging.addresses import remember_private_chat
from kinkeeper.messaging.tables import outbox
from kinkeeper.observability.failures import FAILURES
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Reminder
from kinkeeper.tasks.reminders import Reminding
from kinkeeper.tasks.repository import due_ids

HOUSEHOLD = replace(FAMILY, chats=("-100",))


class Home:
    """One household with its clock; `restart` opens the same file anew."""

    def __init__(self, file: Path, start: datetime = NOW) -> None:
        self._file = file
        self.clock = VirtualClock(start)
        self.open()

    def open(self) -> None:
        self.store = Store.open(str(self._file))
        self.desk = Desk(self.store, HOUSEHOLD)
        self.reminding = reminding(self.store, HOUSEHOLD, self.clock)

    def restart(self) -> None:
        self.store.close()
        self.open()

    def restart_at(self, now: datetime) -> None:
        """Open the file anew with a clock that is set to a time, also one of the past."""
        self.clock = VirtualClock(now)
        self.restart()

    def thread(
        self, name: str, *, channel: str = "web", chat: str | None = None, member: str = "ruth"
    ) -> None:
        thread = Thread(
            household=HOUSEHOLD.id,
            id=name,
            member=member,
            channel=channel,
            chat_id=chat,
            created_at=NOW,
            last_at=NOW,
        )
        self.store.write_now(lambda conn: open_thread(conn, thread))

    def remind(self, title: str, at: str, **more: Any) -> None:
        made = self.desk.ask(
            "task.create",
            {"title": title, "remind_at": at, **more},
            now=self.clock.now().astimezone(ZONE),
        )
        assert made.error is None

    def until(self, moment: str) -> int:
        self.clock.advance_to(datetime.fromisoformat(moment).replace(tzinfo=ZONE))
        return asyncio.run(self.reminding.run_once())

    @property
    def said(self) -> list[tuple[str, str]]:
        """Thread and text of everything said, in order."""

        def read(conn: Connection) -> list[tuple[str, str]]:
            query = select(turns.c.thread, turns.c.answer).order_by(
                turns.c.received_at, turns.c.position
            )
            return [(row.thread, row.answer) for row in conn.execute(query)]

        return self.store.read_now(read)

    @property
    def sent(self) -> list[tuple[str, str, int]]:
        """Chat, text and whether it may ring at night of everything put out for the chat service."""
        query = select(outbox.c.chat_id, outbox.c.body, outbox.c.is_alarm).order_by(outbox.c.id)
        return self.store.read_now(lambda conn: [tuple(row) for row in conn.execute(query)])  # type: ignore[misc]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "family.db")
    home.thread("thread-1")
    yield home
    home.store.close()


def test_a_reminder_is_said_once_when_it_is_due(home: Home) -> None:
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    assert home.until("2026-11-12T16:59:59") == 0
    assert home.until("2026-11-12T17:00:00") == 1
    assert home.until("2026-11-12T17:00:01") == 0
    assert home.until("2026-12-01T00:00:00") == 0
    assert home.said == [("thread-1", "Reminder: Call mom")]


def test_what_fell_due_while_nothing_ran_is_said_late_and_once(home: Home) -> None:
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.restart()
    assert home.until("2026-11-12T19:30:00") == 1
    home.restart()
    assert home.until("2026-11-12T19:31:00") == 0
    assert home.said == [("thread-1", "Reminder: Call mom (late: it was due today 5pm)")]


def test_of_several_missed_turns_the_last_is_said(home: Home) -> None:
    home.remind("Bins out", "2026-11-12T18:00:00-06:00", rrule="FREQ=DAILY")
    home.restart()
    assert home.until("2026-11-15T19:00:00") == 1
    assert home.said == [
        ("thread-1", "Reminder: Bins out (late: it was due today 6pm, and 3 before)")
    ]
    assert home.until("2026-11-16T18:00:00") == 1


def test_a_weekly_reminder_keeps_its_hour_when_the_clocks_change(tmp_path: Path) -> None:
    home = Home(tmp_path / "dst.db", datetime(2027, 3, 1, 12, tzinfo=ZONE))
    home.thread("thread-1")
    home.remind("Bins out", "2027-03-07T18:00:00-06:00", rrule="FREQ=WEEKLY;BYDAY=SU")
    assert home.until("2027-03-07T17:59:59") == 0
    assert home.until("2027-03-07T18:00:00") == 1
    assert home.until("2027-03-14T17:59:59") == 0
    assert home.until("2027-03-14T18:00:00") == 1
    assert [text for _, text in home.said] == ["Reminder: Bins out"] * 2


def test_an_hour_that_does_not_exist_is_said_after_the_gap_and_is_back_the_day_after(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "gap.db", datetime(2027, 3, 13, 1, tzinfo=ZONE))
    home.thread("thread-1")
    home.remind("Check the oven", "2027-03-13T02:30:00-06:00", rrule="FREQ=DAILY")
    assert home.until("2027-03-13T02:30:00") == 1
    assert home.until("2027-03-14T03:29:59") == 0
    assert home.until("2027-03-14T03:30:00") == 1
    done = home.desk.ask(
        "task.complete", {"find_by": "oven"}, now=home.clock.now().astimezone(ZONE)
    )
    assert done.result["remind_at"] == "2027-03-15T02:30:00-05:00"
    assert home.until("2027-03-15T02:30:00") == 1


def test_doing_it_before_the_reminder_spares_it(home: Home) -> None:
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.desk.ask("task.complete", {"find_by": "mom"})
    assert home.until("2026-11-12T18:00:00") == 0


def test_what_repeats_is_not_said_for_a_turn_that_was_done_ahead(home: Home) -> None:
    home.remind("Bins out", "2026-11-15T18:00:00-06:00", rrule="FREQ=WEEKLY;BYDAY=SU")
    home.desk.ask("task.complete", {"find_by": "bins"})
    assert home.until("2026-11-15T18:00:00") == 0
    assert home.until("2026-11-22T18:00:00") == 1
    # Done after it was said: the turn after that is the next.
    home.desk.ask("task.complete", {"find_by": "bins"}, now=home.clock.now().astimezone(ZONE))
    assert home.until("2026-11-29T17:59:00") == 0
    assert home.until("2026-11-29T18:00:00") == 1


def test_putting_it_off_says_it_again(home: Home) -> None:
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.until("2026-11-12T17:00:00")
    home.desk.ask(
        "task.update",
        {"find_by": "mom", "changes": {"remind_at": "17:30"}},
        now=home.clock.now().astimezone(ZONE),
    )
    assert home.until("2026-11-12T17:30:00") == 1
    assert len(home.said) == 2


def test_taking_a_task_back_takes_its_reminder_back_and_bringing_it_back_says_nothing_twice(
    home: Home,
) -> None:
    made = home.desk.ask(
        "task.create", {"title": "Call mom", "remind_at": "2026-11-12T17:00:00-06:00"}
    )
    home.desk.undo(made)
    assert home.until("2026-11-12T17:00:00") == 0
    home.remind("Call dad", "2026-11-12T18:00:00-06:00")
    home.until("2026-11-12T18:00:00")
    removed = home.desk.ask(
        "task.delete", {"find_by": "dad"}, now=home.clock.now().astimezone(ZONE)
    )
    home.desk.yes(removed, now=home.clock.now())
    home.desk.undo(removed, now=home.clock.now())
    assert home.until("2026-11-12T19:00:00") == 0


def test_in_the_familys_group_it_names_whom_it_is_for_and_rings_at_night(home: Home) -> None:
    home.thread("thread-1-group", channel="telegram", chat="-100")
    home.desk.sits_in("thread-1-group", channel="telegram")
    home.remind("Fetch Nia", "2026-11-12T23:00:00-06:00", who=["abe"])
    home.until("2026-11-12T23:00:00")
    assert home.sent == [("-100", "Reminder for Abe: Fetch Nia", 1)]


def test_somebody_elses_reminder_reaches_them_and_who_asked(home: Home) -> None:
    home.store.write_now(
        lambda conn: remember_private_chat(
            conn, HOUSEHOLD.id, "telegram", member="abe", chat_id="77", now=NOW
        )
    )
    home.remind("Fix the bike", "2026-11-12T17:00:00-06:00", who="Abe")
    home.until("2026-11-12T17:00:00")
    assert home.sent == [("77", "Reminder: Fix the bike", 1)]
    assert ("thread-1", "Reminder for Abe: Fix the bike") in home.said


def test_what_comes_from_no_conversation_is_said_in_the_persons_own(home: Home) -> None:
    home.desk.sits_in("gone")
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.until("2026-11-12T17:00:00")
    own = usual_thread_id(HOUSEHOLD.id, RUTH.id, "web", None)
    assert home.said == [(own, "Reminder: Call mom")]
    assert home.sent == []


def test_what_was_asked_for_through_a_program_is_said_where_its_person_reads(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "family.db")
    home.thread("thread-1", channel=PROGRAMS, chat="a program's")
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    assert home.until("2026-11-12T17:00:00") == 1
    own = usual_thread_id(HOUSEHOLD.id, "ruth", "web", None)
    assert home.said == [(own, "Reminder: Call mom")]
    home.store.close()


def test_one_reminder_that_cannot_be_said_is_tried_again_and_keeps_nobody_elses_waiting(
    home: Home,
) -> None:
    home.remind("Broken", "2026-11-12T16:00:00-06:00")
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    told: list[str] = []

    def deliver(_conn: Connection, reminder: Reminder) -> list[Exception]:
        if reminder.task.title == "Broken" and not told.count("Call mom"):
            raise ValueError("no way there")
        told.append(reminder.task.title)
        return []

    work = Reminding(home.store, HOUSEHOLD.id, deliver=deliver, clock=home.clock)
    home.clock.advance_to(datetime(2026, 11, 12, 17, tzinfo=ZONE))
    assert asyncio.run(work.run_once()) == 1
    assert asyncio.run(work.run_once()) == 0
    home.clock.advance_to(datetime(2026, 11, 12, 17, 1, tzinfo=ZONE))
    assert asyncio.run(work.run_once()) == 1
    assert told == ["Call mom", "Broken"]


@pytest.mark.parametrize("rrule", [None, "FREQ=DAILY"])
@pytest.mark.parametrize("names", ["ruth", "abe", "ruth abe"])
def test_who_cannot_be_told_keeps_nobody_else_waiting_and_is_given_up_in_the_end(
    home: Home, monkeypatch: pytest.MonkeyPatch, names: str, rrule: str | None
) -> None:
    out_of_reach = set(names.split())

    def post(conn: Connection, household: str, thread_id: str, *more: Any, **others: Any) -> bool:
        thread = load_thread(conn, household, thread_id)
        if thread is not None and thread.member in out_of_reach:
            conn.execute(insert(turns).values(household=household, id="half written"))
        return post_to_thread(conn, household, thread_id, *more, **others)

    monkeypatch.setattr("kinkeeper.bootstrap.reminders.post_to_thread", post)
    before = FAILURES.get("tasks.reminders.unsaid", 0)
    home.desk.sits_in("gone")
    home.remind("Fix the bike", "2026-11-12T17:00:00-06:00", who=["Ruth", "Abe"], rrule=rrule)
    reached = {"ruth", "abe"} - out_of_reach
    for minutes in range(0, 60 * 8, 5):
        home.clock.advance_to(datetime(2026, 11, 12, 17, tzinfo=ZONE) + timedelta(minutes=minutes))
        asyncio.run(home.reminding.run_once())
    assert FAILURES["tasks.reminders.unsaid"] == before + 1
    own = {name: usual_thread_id(HOUSEHOLD.id, name, "web", None) for name in reached}
    assert sorted(thread for thread, _ in home.said) == sorted(own.values()), "once each"
    out_of_reach.clear()
    assert home.until("2026-11-13T16:59:00") == 0
    assert home.until("2026-11-13T17:00:00") == (rrule is not None)


def test_it_waits_until_what_is_due_and_hears_of_new_tasks(home: Home) -> None:
    async def scenario() -> None:
        running = asyncio.create_task(home.reminding.run(timedelta(seconds=30)))
        try:
            await asyncio.sleep(0)
            home.clock.advance_to(datetime(2026, 11, 12, 17, tzinfo=ZONE))
            await asyncio.to_thread(home.remind, "Soon", "2026-11-12T17:00:00.100000-06:00")
            home.clock.advance_to(datetime(2026, 11, 12, 17, 0, 1, tzinfo=ZONE))
            async with asyncio.timeout(10):
                while not home.said:
                    await asyncio.sleep(0.01)
        finally:
            running.cancel()

    asyncio.run(scenario())
    assert home.said == [("thread-1", "Reminder: Soon")]


def test_two_households_hear_their_own_only(home: Home) -> None:
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.clock.advance_to(datetime(2026, 11, 12, 17, tzinfo=ZONE))
    other = reminding(home.store, replace(HOUSEHOLD, id="other"), home.clock)
    assert asyncio.run(other.run_once()) == 0
    assert home.said == []
    assert ABE in HOUSEHOLD.members


@pytest.mark.parametrize("chat", [None, "78"], ids=["a conversation on the web", "a private chat"])
def test_who_left_the_household_hears_no_more_of_it(home: Home, chat: str | None) -> None:
    home.thread("theirs", member="uma", channel="telegram" if chat else "web", chat=chat)
    home.desk.sits_in("theirs")
    home.store.write_now(
        lambda conn: remember_private_chat(
            conn, HOUSEHOLD.id, "telegram", member="uma", chat_id="78", now=NOW
        )
    )
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.until("2026-11-12T17:00:00")
    assert home.said == [
        (usual_thread_id(HOUSEHOLD.id, RUTH.id, "web", None), "Reminder: Call mom")
    ]
    assert home.sent == []


def test_a_group_that_is_the_familys_no_more_hears_no_more_of_it(home: Home) -> None:
    home.thread("former", channel="telegram", chat="-99")
    home.desk.sits_in("former", channel="telegram")
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.until("2026-11-12T17:00:00")
    assert home.sent == []
    assert [text for _, text in home.said] == ["Reminder: Call mom"]


def test_what_is_private_is_said_to_its_person_alone_wherever_it_was_asked_for(home: Home) -> None:
    home.store.write_now(
        lambda conn: remember_private_chat(
            conn, HOUSEHOLD.id, "telegram", member="ruth", chat_id="77", now=NOW
        )
    )
    home.thread("thread-1-group", channel="telegram", chat="-100")
    home.desk.sits_in("thread-1-group", channel="telegram")
    home.remind("Buy the ring", "2026-11-12T17:00:00-06:00")
    hidden = home.desk.ask("task.set_audience", {"find_by": "Buy the ring", "private": True})
    assert hidden.error is None
    home.until("2026-11-12T17:00:00")
    assert home.sent == [("77", "Reminder: Buy the ring", 1)]
    assert [thread for thread, _ in home.said if thread == "thread-1-group"] == []


@pytest.mark.parametrize("ahead", [timedelta(hours=3), timedelta(days=3), timedelta(days=400)])
def test_what_a_clock_that_was_ahead_has_said_is_said_again_when_it_is_due_and_never_twice(
    home: Home, ahead: timedelta
) -> None:
    home.remind("Call mom", "2026-11-12T17:00:00-06:00")
    home.remind("Bins out", "2026-11-12T18:00:00-06:00", rrule="FREQ=DAILY")
    right = home.clock.now()
    home.clock.advance_to(right + ahead)
    asyncio.run(home.reminding.run_once())
    asyncio.run(home.reminding.run_once())
    early = Counter(text.partition(" (")[0] for _, text in home.said)
    home.restart_at(right)
    assert asyncio.run(home.reminding.run_once()) == 0
    due = [datetime(2026, 11, 12 + day, 18, tzinfo=ZONE) for day in range(10)]
    told = {
        moment: home.until(moment.replace(tzinfo=None).isoformat())
        for moment in sorted([*due, *(each + timedelta(hours=5) for each in due)])
    }
    assert all(told[each + timedelta(hours=5)] == 0 for each in due)
    # What came less than a day too early is not repeated.
    is_repeated = ahead > timedelta(days=1)
    assert early or not is_repeated
    said = Counter(text.partition(" (")[0] for _, text in home.said) - early
    assert said == {"Reminder: Bins out": len(due), "Reminder: Call mom": 1}
    assert all(told[each] for each in due)


def test_a_clock_set_back_by_hours_repeats_nothing(home: Home) -> None:
    home.remind("Bins out", "2026-11-12T18:00:00-06:00", rrule="FREQ=DAILY")
    assert home.until("2026-11-12T18:00:00") == 1
    home.restart_at(home.clock.now() - timedelta(hours=5))
    assert home.until("2026-11-12T18:00:00") == 0
    assert home.until("2026-11-13T18:00:00") == 1


def test_a_task_that_was_reminded_of_by_a_wrong_clock_and_removed_is_looked_at_once(
    home: Home,
) -> None:
    right = home.clock.now()
    home.remind("Bins out", "2026-11-12T18:00:00-06:00", rrule="FREQ=DAILY")
    home.until("2027-11-12T18:00:00")
    removed = home.desk.ask("task.delete", {"find_by": "bins"}, now=right.astimezone(ZONE))
    home.desk.yes(removed, now=right)
    home.restart_at(right)
    home.until("2026-11-12T12:00:00")
    now = home.clock.now()
    household = HOUSEHOLD.id
    assert not home.store.read_now(lambda conn: due_ids(conn, household, now=now, most=9))
