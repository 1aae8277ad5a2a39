"""What tasks, notes and reminders promise on either database."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection, func, select

from asking import FAMILY, NOW, ZONE
from kinkeeper.bootstrap.reminders import ReminderPost
from kinkeeper.conversation.tables import turns
from kinkeeper.core.errors import NotFoundError, UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes import note_changes
from kinkeeper.notes.model import Note
from kinkeeper.notes.repository import list_notes
from kinkeeper.store.row_changes import purge
from kinkeeper.store.store import Store
from kinkeeper.tasks import task_changes
from kinkeeper.tasks.model import Place, Task
from kinkeeper.tasks.reminders import Reminding
from kinkeeper.tasks.repository import due_ids, list_tasks, next_due

DUE = datetime(2026, 11, 12, 17, tzinfo=ZONE)


def task(name: str = "a", **fields: object) -> Task:
    plain = Task(
        id=name,
        household=FAMILY.id,
        title=f"Task {name}",
        tz=ZONE.key,
        place=Place(channel="web"),
        created_at=NOW,
        remind_at=DUE,
        who=("ruth",),
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def test_tasks_come_back_as_they_were_and_every_change_is_taken_back(store: Store) -> None:
    first = task(description="…", deadline=DUE, rrule="FREQ=WEEKLY;BYDAY=TH")
    store.write_now(lambda conn: task_changes.add_task(conn, first, change_id="1", at=NOW))
    assert store.read_now(lambda conn: list_tasks(conn, Viewer.whole(FAMILY.id))) == [first]
    store.write_now(
        lambda conn: task_changes.complete_task(
            conn, FAMILY.id, first.id, by="ruth", change_id="2", at=NOW
        )
    )
    (done,) = store.read_now(lambda conn: list_tasks(conn, Viewer.whole(FAMILY.id)))
    assert done.deadline == DUE + timedelta(days=7)
    store.write_now(
        lambda conn: task_changes.delete_task(conn, FAMILY.id, first.id, change_id="3", at=NOW)
    )
    assert store.read_now(lambda conn: next_due(conn, FAMILY.id)) is None
    for change in ("3", "2"):
        store.write_now(lambda conn, c=change: task_changes.undo_change(conn, FAMILY.id, c, at=NOW))
    assert store.read_now(lambda conn: list_tasks(conn, Viewer.whole(FAMILY.id))) == [first]
    store.write_now(lambda conn: task_changes.undo_change(conn, FAMILY.id, "1", at=NOW))
    assert store.read_now(lambda conn: list_tasks(conn, Viewer.whole(FAMILY.id))) == []


def test_notes_come_back_as_they_were(store: Store) -> None:
    note = Note(id="n", household=FAMILY.id, title="Wifi", body="1234 🔑", created_at=NOW)
    store.write_now(lambda conn: note_changes.add_note(conn, note, change_id="1", at=NOW))
    store.write_now(
        lambda conn: note_changes.change_note(conn, FAMILY.id, "n", "99", change_id="2", at=NOW)
    )
    store.write_now(lambda conn: note_changes.undo_change(conn, FAMILY.id, "2", at=NOW))
    assert store.read_now(lambda conn: list_notes(conn, Viewer.whole(FAMILY.id))) == [note]


def test_old_changes_are_forgotten_and_young_ones_can_be_taken_back(store: Store) -> None:
    def write(conn: Connection) -> None:
        task_changes.add_task(conn, task("old"), change_id="old", at=NOW - timedelta(days=31))
        task_changes.add_task(conn, task("young"), change_id="young", at=NOW)

    store.write_now(write)
    before = NOW - timedelta(days=30)
    assert store.write_now(lambda conn: purge(conn, "another", before=before)) == 0
    assert store.write_now(lambda conn: purge(conn, FAMILY.id, before=before)) == 1
    store.write_now(lambda conn: task_changes.undo_change(conn, FAMILY.id, "young", at=NOW))
    with pytest.raises(NotFoundError):
        store.write_now(lambda conn: task_changes.undo_change(conn, FAMILY.id, "old", at=NOW))
    assert store.read_now(lambda conn: list_tasks(conn, Viewer.whole(FAMILY.id))) == [task("old")]


def test_what_is_due_is_found_in_order(store: Store) -> None:
    def write(conn: Connection) -> None:
        for number, name in enumerate("cab"):
            later = task(name, remind_at=DUE + timedelta(minutes=number))
            task_changes.add_task(conn, later, change_id=name, at=NOW)

    store.write_now(write)
    assert store.read_now(lambda conn: next_due(conn, FAMILY.id)) == DUE
    then = DUE + timedelta(minutes=1)
    assert store.read_now(lambda conn: due_ids(conn, FAMILY.id, now=then, most=9)) == ["c", "a"]


def test_however_many_processes_look_a_reminder_is_said_once(store: Store, address: str) -> None:
    def write(conn: Connection) -> None:
        for number in range(6):
            task_changes.add_task(conn, task(f"t{number}"), change_id=f"t{number}", at=NOW)

    store.write_now(write)
    clock = VirtualClock(DUE)

    async def look(own: Store) -> int:
        work = Reminding(own, FAMILY.id, deliver=ReminderPost(FAMILY, clock), clock=clock)
        for _ in range(20):
            try:
                return await work.run_once()
            except UnavailableError:
                continue
        raise AssertionError("the database stayed busy")

    def process(_number: int) -> int:
        with Store.open(address, readers=1) as own:
            return asyncio.run(look(own))

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(process, range(4)))
    told = store.read_now(
        lambda conn: conn.execute(select(func.count()).select_from(turns)).scalar()
    )
    assert (sum(said), told) == (6, 6)
