"""kill -9 while a calendar is written to its server: every event stands there once, as it is here, and nobody is asked."""

import asyncio
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, update

from calendar_server import calendar_server
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.calendar.repository import insert_event, list_events, replace_event
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.kinds import Events
from kinkeeper.connectors.caldav.rounds import CalendarSync
from kinkeeper.connectors.caldav.sync_records import calendars
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import SystemClock, VirtualClock
from kinkeeper.household.viewers import Viewer
from live_household import HOUSEHOLD, MONDAY, live_system
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).with_name("calendar_sync_process.py"))
EVENTS = 12


def event(number: int, household: str) -> Event:
    start = SystemClock().now().replace(microsecond=0) + timedelta(days=number + 1)
    return Event(
        id=stable_id("crash", number),
        household=household,
        kind=EventKind.BOOKING,
        summary=f"Errand {number}",
        start=start,
        duration=timedelta(hours=1),
        tz="UTC",
        provenance=Provenance(source_type=SourceType.CLI, source_id=str(number)),
    )


def killed_after(dots: int, *words: str) -> None:
    with Started([SCRIPT, *words], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        for _ in range(dots):
            if not started.stdout.readline():
                break
        started.kill()


def test_every_event_stands_there_once_however_often_the_process_is_killed(tmp_path: Path):
    path = tmp_path / "home.db"
    with calendar_server(tmp_path / "radicale") as server, live_system(path) as system:
        household, store = system.household, system.store

        def add(conn: Connection) -> None:
            for number in range(EVENTS):
                insert_event(conn, event(number, household.id))

        def let_go(conn: Connection) -> None:
            # The dead process's right lapses by the clock; the clock is not waited for here.
            conn.execute(update(calendars).values(claimed_until=None))

        def change(conn: Connection) -> None:
            for each in list_events(conn, Viewer.whole(household.id))[::2]:
                replace_event(conn, replace(each, summary=f"{each.summary} again"))

        store.write_now(add)
        for dots in (1, 2, 3, 4, 7):
            killed_after(dots, str(path), str(HOUSEHOLD), server.setting)
            store.write_now(let_go)
            store.write_now(change)
        clock = VirtualClock(max(MONDAY, datetime.now(MONDAY.tzinfo)))
        syncing = CalendarSync(
            store=store,
            household=household,
            kinds=(Events(household),),
            connect=lambda: CalDavClient(server.address),
            clock=clock,
        )
        asyncio.run(syncing.run_once())
        asyncio.run(syncing.run_once())
        events = store.read_now(lambda conn: list_events(conn, Viewer.whole(household.id)))
        there = server.objects()
        asked = store.read_now(
            lambda conn: list_actions(
                conn, Viewer.whole(household.id), statuses=frozenset(ActionStatus), now=clock.now()
            )
        )
    wanted = {each.id: each for each in events if each.provenance.source_type is SourceType.CLI}
    assert len(wanted) == EVENTS
    for event_id, each in wanted.items():
        assert f"SUMMARY:{each.summary}" in there[f"{event_id}.ics"].replace("\n ", "").replace(
            "\r", ""
        )
    uids = [text.split("UID:", 1)[1].split(None, 1)[0] for text in there.values()]
    assert len(uids) == len(set(uids))
    assert asked == []
