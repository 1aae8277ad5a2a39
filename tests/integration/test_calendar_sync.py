"""A household's calendar and a real calendar server: both ways, with a person's yes, whatever goes wrong."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from calendar_server import CalendarServer, calendar_server
from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    CancelEvent,
    MoveOccurrence,
    SetEventScope,
    event_to_json,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.tasks import AddTask, CompleteTask, DeleteTask
from kinkeeper.actions.model import ActionStatus, ActionType, PendingAction, Proposal
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.reversal import undo
from kinkeeper.calendar.model import Event, EventKind, EventState, Provenance, SourceType
from kinkeeper.calendar.repository import find_event, list_events, list_overrides, load_event
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.incoming_changes import KEEP_OURS
from kinkeeper.connectors.caldav.kinds import Events, Todos
from kinkeeper.connectors.caldav.rounds import CalendarSync, Tally
from kinkeeper.connectors.caldav.sync_records import (
    calendars,
    find_calendar,
    forget_objects,
    list_objects,
)
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Place, Priority, Task, TaskStatus
from kinkeeper.tasks.repository import find_task, list_tasks, load_task
from live_household import MONDAY, live_system

pytestmark = pytest.mark.slow

HOUR = timedelta(hours=1)


@dataclass(slots=True)
class Home:
    """The sample household with its calendar server."""

    store: Store
    household: Household
    clock: VirtualClock
    server: CalendarServer

    @property
    def adult(self) -> Member:
        return self.household.adults[0]

    def sync(self) -> Tally:
        return asyncio.run(self.syncing().run_once())

    def syncing(self) -> CalendarSync:
        return CalendarSync(
            store=self.store,
            household=self.household,
            kinds=(Events(self.household), Todos(self.household)),
            connect=lambda: CalDavClient(self.server.address),
            clock=self.clock,
        )

    def said(self, *effects: Effect, source: str) -> PendingAction:
        """Let an adult ask for something and say yes to it."""
        proposal = Proposal(
            household=self.household.id,
            type=ActionType.EVENT_CREATE,
            source_type="CHAT",
            source_id=source,
            slot="0",
            chat_id=None,
            extraction={},
            extraction_confidence=1.0,
            summary=source,
            effects=tuple(each.frozen() for each in effects),
            choices=(),
            merge_key=None,
            origin=Origin.SAID,
        )

        def write(conn: Connection) -> PendingAction:
            press = {"member": self.adult, "household": self.household, "now": self.clock.now()}
            asked = approvals.request(conn, proposal, **press)
            if asked.action.status is ActionStatus.PENDING:
                asked = approvals.confirm(conn, asked.action.id, **press)
            assert asked.action.status is ActionStatus.DONE, asked
            return asked.action

        return self.store.write_now(write)

    def open_actions(self) -> list[PendingAction]:
        return self.store.read_now(
            lambda conn: list_actions(
                conn,
                Viewer.whole(self.household.id),
                statuses={ActionStatus.PENDING},
                now=self.clock.now(),
            )
        )

    def decide(self, how: str, choice: str = "") -> None:
        """Decide about the only open action."""
        (action,) = self.open_actions()
        press: dict[str, Any] = {
            "member": self.adult,
            "household": self.household,
            "now": self.clock.now(),
        }

        def write(conn: Connection) -> None:
            if how == "choose":
                approvals.resolve(conn, action.id, choice, **press)
            else:
                getattr(approvals, how)(conn, action.id, **press)

        self.store.write_now(write)

    def event(self, event_id: str) -> Event:
        return self.store.read_now(
            lambda conn: load_event(conn, Viewer.whole(self.household.id), event_id)
        )

    def task(self, task_id: str) -> Task:
        return self.store.read_now(
            lambda conn: load_task(conn, Viewer.whole(self.household.id), task_id)
        )

    def add_stamps(self) -> Task:
        task = Task(
            id=stable_id("test", "stamps"),
            household=self.household.id,
            title="Buy stamps",
            tz=self.household.zone.key,
            place=Place(channel="web"),
            created_at=MONDAY,
            priority=Priority.HIGH,
            deadline=MONDAY + timedelta(days=2),
            who=("leo",),
        )
        self.said(AddTask(task=task), source="stamps")
        return self.task(task.id)

    def add_dentist(self) -> Event:
        event = Event(
            id=stable_id("test", "dentist"),
            household=self.household.id,
            kind=EventKind.BOOKING,
            summary="Dentist",
            start=datetime(2026, 3, 5, 15, tzinfo=self.household.zone),
            duration=HOUR,
            tz=self.household.zone.key,
            who=("leo",),
            place="Main Street",
            provenance=Provenance(source_type=SourceType.CHAT, source_id="t"),
        )
        self.said(AddEvent.model_validate({"event": event_to_json(event)}), source="dentist")
        return event


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CalendarServer]:
    with calendar_server(tmp_path_factory.mktemp("radicale")) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, server: CalendarServer) -> Iterator[Home]:
    for name in server.objects():
        server.remove(name)
    with live_system(tmp_path / "home.db") as system:
        yield Home(system.store, system.household, VirtualClock(MONDAY), server)


def text_of(home: Home, event: Event) -> str:
    return home.server.objects()[f"{event.id}.ics"]


def test_what_is_in_the_graph_reaches_the_server_once(home: Home):
    dentist = home.add_dentist()
    first, second = home.sync(), home.sync()
    events = home.store.read_now(lambda conn: list_events(conn, Viewer.whole(home.household.id)))
    assert first.written == len(events) == len(home.server.objects())
    assert second == Tally()
    text = text_of(home, dentist)
    assert f"UID:{dentist.id}@kinkeeper" in text
    assert "X-KINKEEPER-ACTION:" in text
    assert home.open_actions() == []


def test_a_change_here_keeps_what_others_added_there(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.server.edit(
        f"{dentist.id}.ics",
        (
            "SUMMARY:Dentist\r\n"
            if "SUMMARY:Dentist\r\n" in text_of(home, dentist)
            else "SUMMARY:Dentist\n",
            "SUMMARY:Dentist\r\nDESCRIPTION:Bring the card\r\nCATEGORIES:HEALTH\r\n",
        ),
        (
            "END:VEVENT",
            "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\nEND:VEVENT",
        ),
    )
    assert home.sync().asked == 0
    move = {
        "event_id": dentist.id,
        "original_start": dentist.start,
        "new_start": dentist.start + HOUR,
    }
    home.said(MoveOccurrence.model_validate(move), source="later")
    assert home.sync().written == 1
    text = text_of(home, dentist)
    assert "T160000" in text
    for kept in ("Bring the card", "HEALTH", "TRIGGER:-PT15M"):
        assert kept in text
    assert home.sync() == Tally()


def test_a_cancelled_event_stays_there_marked_as_such(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.said(CancelEvent.model_validate({"event_id": dentist.id}), source="cancel")
    home.sync()
    assert "STATUS:CANCELLED" in text_of(home, dentist)


def test_new_events_there_become_one_pending_action(home: Home):
    home.sync()
    for number in range(3):
        home.server.put(
            f"choir-{number}.ics",
            f"UID:choir-{number}@phone",
            f"SUMMARY:Choir {number}",
            f"DTSTART;TZID=America/Chicago:2026030{number + 5}T180000",
            f"DTEND;TZID=America/Chicago:2026030{number + 5}T190000",
        )
    assert home.sync().asked == 1
    (action,) = home.open_actions()
    assert action.proposal.origin is Origin.IMPORTED
    assert action.proposal.summary == "Add 3 events from Family: Choir 0, Choir 1, Choir 2"
    assert home.sync() == Tally()  # asked once
    home.decide("confirm")
    ids = {
        event.id: event
        for event in home.store.read_now(lambda c: list_events(c, Viewer.whole(home.household.id)))
    }
    choir = ids[stable_id(home.household.id, "ics", "choir-1@phone")]
    assert choir.start == datetime(2026, 3, 6, 18, tzinfo=ZoneInfo("America/Chicago"))
    before = home.server.objects()
    assert home.sync() == Tally()
    assert home.server.objects() == before


def test_declined_events_are_left_out_for_good(home: Home):
    home.sync()
    home.server.put("x.ics", "UID:x", "SUMMARY:Work thing", "DTSTART:20260306T100000Z")
    home.sync()
    home.decide("reject")
    assert home.sync() == home.sync() == Tally()
    assert "x.ics" in home.server.objects()


def test_a_move_there_asks_first_and_changes_only_what_was_moved(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.server.edit(f"{dentist.id}.ics", ("T150000", "T170000"), ("T160000", "T180000"))
    assert home.sync().asked == 1
    (action,) = home.open_actions()
    assert action.proposal.summary == "Change to Dentist, Thu Mar 5 5pm (changed in Family)"
    assert action.proposal.effects[0]["effect"] == "calendar.move_occurrence"
    assert home.event(dentist.id).start == dentist.start
    home.decide("confirm")
    (override,) = home.store.read_now(
        lambda conn: list_overrides(conn, home.household.id, dentist.id)
    )
    assert override.start == dentist.start + 2 * HOUR
    assert home.event(dentist.id).who == ("leo",)
    assert home.sync() == Tally()


def test_a_declined_move_is_put_back_there(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.server.edit(f"{dentist.id}.ics", ("T150000", "T170000"), ("T160000", "T180000"))
    home.sync()
    home.decide("reject")
    assert home.sync().written == 1
    assert "T150000" in text_of(home, dentist)
    assert home.sync() == Tally()


def test_taking_back_a_confirmed_move_reaches_the_server(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.server.edit(f"{dentist.id}.ics", ("T150000", "T170000"), ("T160000", "T180000"))
    home.sync()
    (action,) = home.open_actions()
    home.decide("confirm")
    home.sync()
    press: dict[str, Any] = {
        "member": home.adult,
        "household": home.household,
        "now": home.clock.now(),
    }
    home.store.write_now(lambda conn: undo(conn, action.id, **press))
    assert home.sync().written == 1
    assert "T150000" in text_of(home, dentist)


def test_a_deletion_there_asks_first(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.server.remove(f"{dentist.id}.ics")
    assert home.sync().asked == 1
    assert home.event(dentist.id).state is EventState.CONFIRMED
    home.decide("confirm")
    assert home.event(dentist.id).state is EventState.CANCELLED
    assert home.sync() == Tally()
    assert "Eye test" not in "".join(home.server.objects().values())


def test_a_declined_deletion_is_put_back_there(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.server.remove(f"{dentist.id}.ics")
    home.sync()
    home.decide("reject")
    assert home.sync().written == 1
    assert "SUMMARY:Dentist" in text_of(home, dentist)


def test_what_the_household_file_says_is_not_deleted_from_there(home: Home):
    home.sync()
    events = home.store.read_now(lambda conn: list_events(conn, Viewer.whole(home.household.id)))
    seed = next(each for each in events if each.provenance.source_type is SourceType.SEED)
    home.server.remove(f"{seed.id}.ics")
    home.sync()
    assert home.event(seed.id).state is EventState.CONFIRMED
    (action,) = home.open_actions()
    assert seed.summary in action.proposal.summary


@pytest.mark.parametrize("choice", ["Use the calendar's version", KEEP_OURS])
def test_when_both_sides_changed_a_person_chooses(home: Home, choice: str):
    dentist = home.add_dentist()
    home.sync()
    home.server.edit(f"{dentist.id}.ics", ("T150000", "T170000"), ("T160000", "T180000"))
    there = text_of(home, dentist)
    move = {
        "event_id": dentist.id,
        "original_start": dentist.start,
        "new_start": dentist.start - HOUR,
    }
    home.said(MoveOccurrence.model_validate(move), source="earlier")
    assert home.sync().asked == 1
    assert text_of(home, dentist) == there  # never overwritten unasked
    (action,) = home.open_actions()
    assert [each.label for each in action.proposal.choices] == [
        "Use the calendar's version",
        KEEP_OURS,
    ]
    home.decide("choose", choice)
    home.sync()
    is_ours = choice == KEEP_OURS
    assert ("T140000" if is_ours else "T170000") in text_of(home, dentist)
    (override,) = home.store.read_now(
        lambda conn: list_overrides(conn, home.household.id, dentist.id)
    )
    assert override.start == dentist.start + (-HOUR if is_ours else 2 * HOUR)
    assert home.sync() == Tally()


def test_a_change_that_comes_between_reading_and_writing_is_not_overwritten(home: Home):
    """The server refuses the write by its version; what stands there is asked about."""
    dentist = home.add_dentist()
    home.sync()
    move = {
        "event_id": dentist.id,
        "original_start": dentist.start,
        "new_start": dentist.start - HOUR,
    }
    home.said(MoveOccurrence.model_validate(move), source="earlier")

    class Late(CalDavClient):
        async def replace(self, *parts: Any, **named: Any) -> str | None:
            home.server.edit(f"{dentist.id}.ics", ("T150000", "T170000"), ("T160000", "T180000"))
            return await super().replace(*parts, **named)

    syncing = replace(home.syncing(), connect=lambda: Late(home.server.address))
    assert asyncio.run(syncing.run_once()).asked == 1
    assert "T170000" in text_of(home, dentist)
    (action,) = home.open_actions()
    assert action.proposal.choices


def test_one_occurrence_of_a_series_is_moved_and_another_cancelled(home: Home):
    home.sync()
    events = home.store.read_now(lambda conn: list_events(conn, Viewer.whole(home.household.id)))
    soccer = next(each for each in events if each.rrule and not each.all_day)
    zone, start = soccer.tz, soccer.start
    local = start.astimezone(ZoneInfo(zone))
    stamp = f"{local:%Y%m%dT%H%M%S}"
    changed = "\r\n".join(
        [
            "BEGIN:VEVENT",
            f"UID:{soccer.id}@kinkeeper",
            "DTSTAMP:20260101T000000Z",
            f"RECURRENCE-ID;TZID={zone}:{stamp}",
            f"DTSTART;TZID={zone}:{local + HOUR:%Y%m%dT%H%M%S}",
            f"DTEND;TZID={zone}:{local + 2 * HOUR:%Y%m%dT%H%M%S}",
            f"SUMMARY:{soccer.summary}",
            "END:VEVENT",
            "END:VCALENDAR",
        ]
    )
    home.server.edit(f"{soccer.id}.ics", ("END:VCALENDAR", changed))
    assert home.sync().asked == 1
    (action,) = home.open_actions()
    assert [each["effect"] for each in action.proposal.effects] == ["calendar.move_occurrence"]
    home.decide("confirm")
    (override,) = home.store.read_now(
        lambda conn: list_overrides(conn, home.household.id, soccer.id)
    )
    assert (override.original_start, override.start) == (start, start + HOUR)
    assert home.sync() == Tally()


def test_a_server_that_is_away_is_told_later(home: Home):
    dentist = home.add_dentist()
    home.server.stop()
    with pytest.raises(UnavailableError):
        home.sync()
    row = home.store.read_now(lambda conn: find_calendar(conn, home.household.id))
    assert row is not None
    assert row.failing_since == MONDAY
    assert row.waiting > 0
    home.server.start()
    home.clock.advance_to(MONDAY + HOUR)
    assert home.sync().written > 0
    row = home.store.read_now(lambda conn: find_calendar(conn, home.household.id))
    assert row is not None
    assert (row.failing_since, row.waiting) == (None, 0)
    assert "SUMMARY:Dentist" in text_of(home, dentist)


def test_a_write_whose_answer_was_lost_is_not_made_twice(home: Home):
    dentist = home.add_dentist()

    class Lost(CalDavClient):
        async def create(self, *parts: Any, **named: Any) -> str | None:
            await super().create(*parts, **named)
            raise UnavailableError("the answer was lost")

    syncing = replace(home.syncing(), connect=lambda: Lost(home.server.address))
    with pytest.raises(UnavailableError):
        asyncio.run(syncing.run_once())
    move = {
        "event_id": dentist.id,
        "original_start": dentist.start,
        "new_start": dentist.start - HOUR,
    }
    home.said(MoveOccurrence.model_validate(move), source="meanwhile")
    home.sync()
    home.sync()
    assert home.open_actions() == []
    events = home.store.read_now(lambda conn: list_events(conn, Viewer.whole(home.household.id)))
    assert set(home.server.objects()) == {f"{each.id}.ics" for each in events}
    assert "T140000" in text_of(home, dentist)


def test_a_lost_database_of_the_server_state_finds_its_own_again(home: Home):
    home.add_dentist()
    home.sync()
    before = home.server.objects()

    def forget(conn: Connection) -> None:
        forget_objects(
            conn, home.household.id, [o.path for o in list_objects(conn, home.household.id)]
        )
        conn.execute(calendars.delete())

    home.store.write_now(forget)
    assert home.sync() == Tally()
    assert home.server.objects() == before
    assert home.open_actions() == []


def test_nobody_deciding_leaves_both_sides_alone(home: Home):
    dentist = home.add_dentist()
    home.sync()
    home.server.edit(f"{dentist.id}.ics", ("T150000", "T170000"), ("T160000", "T180000"))
    home.sync()
    home.clock.advance_to(MONDAY + timedelta(hours=49))
    there = text_of(home, dentist)
    assert home.sync() == Tally()
    assert text_of(home, dentist) == there
    assert (
        home.store.read_now(
            lambda conn: find_event(conn, Viewer.whole(home.household.id), dentist.id)
        )
        is not None
    )


def test_a_task_goes_there_and_a_tick_there_waits_for_a_yes(home: Home):
    stamps = home.add_stamps()
    home.sync()
    text = home.server.objects()[f"{stamps.id}.ics"]
    assert "BEGIN:VTODO" in text
    assert "PRIORITY:1" in text
    assert home.sync() == Tally()
    home.server.edit(
        f"{stamps.id}.ics",
        ("STATUS:NEEDS-ACTION", "STATUS:COMPLETED\r\nCOMPLETED:20260303T090000Z\r\nX-PHONE:kept"),
    )
    assert home.sync().asked == 1
    (action,) = home.open_actions()
    assert action.proposal.summary.startswith("Change to done: Buy stamps")
    assert home.task(stamps.id).status is TaskStatus.OPEN
    home.decide("confirm")
    done = home.task(stamps.id)
    assert (done.status, done.who) == (TaskStatus.DONE, ("leo",))
    assert home.sync() == Tally()


def test_a_task_done_here_is_ticked_there_and_keeps_what_is_theirs(home: Home):
    stamps = home.add_stamps()
    home.sync()
    home.server.edit(
        f"{stamps.id}.ics", ("SUMMARY:Buy stamps", "SUMMARY:Buy stamps\r\nURL:http://post.example")
    )
    home.sync()
    home.said(CompleteTask(task=home.task(stamps.id)), source="done")
    assert home.sync().written == 1
    text = home.server.objects()[f"{stamps.id}.ics"]
    assert "STATUS:COMPLETED" in text
    assert "post.example" in text


def test_a_task_removed_here_is_removed_there_and_comes_back_when_that_is_undone(home: Home):
    stamps = home.add_stamps()
    home.sync()
    action = home.said(DeleteTask(task=stamps), source="delete")
    home.sync()
    assert f"{stamps.id}.ics" not in home.server.objects()
    press: dict[str, Any] = {
        "member": home.adult,
        "household": home.household,
        "now": home.clock.now(),
    }
    home.store.write_now(lambda conn: undo(conn, action.id, **press))
    home.sync()
    assert f"{stamps.id}.ics" in home.server.objects()


def test_a_task_removed_there_asks_first(home: Home):
    stamps = home.add_stamps()
    home.sync()
    home.server.remove(f"{stamps.id}.ics")
    home.sync()
    home.decide("confirm")
    assert (
        home.store.read_now(
            lambda conn: find_task(conn, Viewer.whole(home.household.id), stamps.id)
        )
        is None
    )
    assert home.sync() == home.sync() == Tally()


def test_new_tasks_there_become_one_pending_action_and_done_ones_none(home: Home):
    home.sync()
    for number, status in enumerate(("NEEDS-ACTION", "IN-PROCESS", "COMPLETED")):
        home.server.put(
            f"todo-{number}.ics",
            f"UID:todo-{number}@phone",
            f"SUMMARY:Chore {number}",
            f"STATUS:{status}",
            "DUE;VALUE=DATE:20260306",
            component="VTODO",
        )
    assert home.sync().asked == 1
    (action,) = home.open_actions()
    assert action.proposal.summary == "Add 2 tasks from Family: Chore 0, Chore 1"
    shown = action.proposal.request["shown"]["on the calendar server"]
    assert shown == "Chore 0, by Fri Mar 6\nChore 1, by Fri Mar 6"
    home.decide("confirm")
    assert home.sync() == Tally()
    tasks = home.store.read_now(lambda conn: list_tasks(conn, Viewer.whole(home.household.id)))
    assert {(each.title, each.is_all_day) for each in tasks} == {
        ("Chore 0", True),
        ("Chore 1", True),
    }


def test_what_is_private_here_is_not_taken_there_and_is_taken_back_from_there(home: Home):
    dentist = home.add_dentist()
    own, shared = stable_id("test", "own"), stable_id("test", "eye test")
    eyes = replace(dentist, id=shared, summary="Eye test", who=(home.adult.id,))
    home.said(AddEvent(event=eyes), source="eyes")
    home.said(
        AddEvent(event=replace(dentist, id=own, summary="Therapy", scope=scope_of(home))),
        AddTask(task=replace(home.add_stamps(), id=own, title="Ring", scope=scope_of(home))),
        source="therapy",
    )
    home.sync()
    assert "SUMMARY:Eye test" in "".join(home.server.objects().values())
    assert not re.search("Therapy|Ring", "".join(home.server.objects().values()))

    home.said(SetEventScope(event_id=shared, new_scope=scope_of(home)), source="private")
    home.sync()
    assert "Eye test" not in "".join(home.server.objects().values())
    assert home.open_actions() == []
    assert home.sync() == Tally()


@pytest.mark.parametrize("kept_close", ["PRIVATE", "CONFIDENTIAL"])
def test_what_the_server_keeps_close_is_its_owners_here_and_stays_so_there(
    home: Home, kept_close: str
):
    home.sync()
    home.server.put("a.ics", "UID:a", "SUMMARY:Chess", "DTSTART:20260306T100000Z")
    home.server.put(
        "b.ics", "UID:b", "SUMMARY:Oncology", "DTSTART:20260306T120000Z", f"CLASS:{kept_close}"
    )
    assert home.sync().asked == 2
    by_scope = {each.proposal.scope: each for each in home.open_actions()}
    assert set(by_scope) == {HOUSEHOLD_SCOPE, person_scope(home.household.owner or "")}
    assert "Oncology" not in by_scope[HOUSEHOLD_SCOPE].proposal.summary

    def confirm(conn: Connection) -> None:
        for each in by_scope.values():
            approvals.confirm(
                conn, each.id, member=home.adult, household=home.household, now=home.clock.now()
            )

    home.store.write_now(confirm)
    own = home.event(stable_id(home.household.id, "ics", "b"))
    assert own.scope == person_scope(home.adult.id)
    move = {"event_id": own.id, "original_start": own.start, "new_start": own.start + HOUR}
    home.said(MoveOccurrence.model_validate(move), source="later")
    home.sync()
    assert f"CLASS:{kept_close}" in home.server.objects()["b.ics"]
    assert home.sync() == Tally()

    home.said(SetEventScope(event_id=own.id, new_scope=HOUSEHOLD_SCOPE), source="shared")
    home.sync()
    assert "CLASS:" not in home.server.objects()["b.ics"]
    assert home.sync() == Tally()


def scope_of(home: Home) -> str:
    return person_scope(home.adult.id)
