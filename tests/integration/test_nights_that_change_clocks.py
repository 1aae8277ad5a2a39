"""The nights in which clocks change, and the leap day: whatever the clock makes due happens once a local day."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, select

from asking import FAMILY, Desk
from kinkeeper.bootstrap.nights import is_due
from kinkeeper.core.time import VirtualClock, as_utc
from kinkeeper.digest.content import DigestRounds
from kinkeeper.digest.repository import Digest, digests, set_digest_time
from kinkeeper.household.model import Household, Member
from kinkeeper.memory.upkeep.runs import Report, Run, RunState, insert_run
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.reading.times import read
from kinkeeper.store.nightly_backups import NightlyBackups, nightly_backups
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Reminder
from kinkeeper.tasks.reminders import Reminding
from memory_nights import Memory

STEP = timedelta(minutes=15)
DAYS = 5
# A zone, and the local day on which its clocks change (or which comes every fourth year).
NIGHTS = [
    ("Europe/Berlin", date(2027, 3, 28)), ("Europe/Berlin", date(2026, 10, 25)),
    ("America/New_York", date(2027, 3, 14)), ("America/New_York", date(2026, 11, 1)),
    ("Australia/Lord_Howe", date(2026, 10, 4)), ("Australia/Lord_Howe", date(2027, 4, 4)),
    ("Europe/Berlin", date(2028, 2, 29)),
]  # fmt: skip
# In the hours that are skipped or come twice, somewhere, and outside of them.
TIMES = [
    time(0),
    time(1, 30),
    time(1, 45),
    time(2),
    time(2, 15),
    time(2, 30),
    time(3),
    time(3, 30),
    time(18),
]
NEVER = QuietHours(start=time(0), end=time(0), zone=ZoneInfo("UTC"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def household(zone: str) -> Household:
    return replace(FAMILY, zone=ZoneInfo(zone))


def instants(zone: str, day: date) -> Iterator[datetime]:
    """Yield the instants from two days before a day until two days after it."""
    first = datetime.combine(day - timedelta(days=2), time(), tzinfo=ZoneInfo(zone))
    last = datetime.combine(day + timedelta(days=DAYS - 2), time(), tzinfo=ZoneInfo(zone))
    now = as_utc(first)
    while now < as_utc(last):
        yield now
        now += STEP


def days_around(day: date) -> list[date]:
    return [day + timedelta(days=number) for number in range(-2, DAYS - 2)]


def expected(zone: str, day: date, at: time) -> datetime:
    """Return when a wall time of a day is: after the gap where it is skipped, the first where it comes twice."""
    return as_utc(datetime.combine(day, at, tzinfo=ZoneInfo(zone)))


@pytest.mark.parametrize(("zone", "day"), NIGHTS)
def test_a_daily_reminder_is_said_once_a_day_at_its_wall_time(
    store: Store, zone: str, day: date
) -> None:
    house, before = household(zone), day - timedelta(days=3)
    begun = datetime.combine(before, time(12), tzinfo=house.zone)
    desk, clock, said = Desk(store, house), VirtualClock(begun), Counter[tuple[str, datetime]]()

    def deliver(_conn: object, reminder: Reminder) -> None:
        assert not reminder.is_late
        said[reminder.task.title, as_utc(reminder.due_at)] += 1

    reminding = Reminding(store, house.id, deliver=deliver, clock=clock)
    for at in TIMES:
        first = datetime.combine(before + timedelta(days=1), at, tzinfo=house.zone)
        made = desk.ask(
            "task.create",
            {"title": f"{at:%H:%M}", "remind_at": first.isoformat(), "rrule": "FREQ=DAILY"},
            now=begun,
        )
        assert made.error is None
    for now in instants(zone, day):
        clock.advance_to(now)
        asyncio.run(reminding.run_once())
        for title, due in said:
            assert due <= now, title
    want = {(f"{at:%H:%M}", expected(zone, each, at)) for each in days_around(day) for at in TIMES}
    assert said == dict.fromkeys(want, 1)


@pytest.mark.parametrize(("zone", "day"), NIGHTS)
@pytest.mark.parametrize("at", [time(2), time(2, 30), time(18)])
def test_a_digest_is_dealt_with_once_a_day(store: Store, zone: str, day: date, at: time) -> None:
    house, sent = household(zone), Counter[tuple[str, date]]()
    clock = VirtualClock(next(instants(zone, day)))
    quiet = replace(NEVER, zone=house.zone)

    def deliver(_conn: object, member: Member, digest: Digest) -> None:
        sent[member.id, digest.day] += 1

    rounds = DigestRounds(
        store, house, quiet_hours=quiet, deliver=deliver, is_quiet=lambda *_: False, clock=clock
    )
    for member in house.adults:
        store.write_now(
            lambda conn, member=member: set_digest_time(  # type: ignore[misc]
                conn, house.id, member.id, at, now=clock.now() - timedelta(days=9)
            )
        )
    seen = Counter[date]()
    for now in instants(zone, day):
        clock.advance_to(now)
        dealt = store.read_now(noted)
        asyncio.run(rounds.run_once())
        for each in set(store.read_now(noted)) - set(dealt):
            seen[date.fromisoformat(each[1])] += 1
            assert now - expected(zone, date.fromisoformat(each[1]), at) < timedelta(days=1)
    wanted = {each: len(house.adults) for each in days_around(day)}
    assert {each: seen[each] for each in wanted} == wanted
    assert not sent  # there was nothing to tell


def noted(conn: Connection) -> list[tuple[str, str]]:
    query = select(digests.c.member, digests.c.day)
    return [(row.member, row.day) for row in conn.execute(query)]


@pytest.mark.parametrize(("zone", "day"), NIGHTS)
def test_memory_is_kept_and_backed_up_once_a_night(
    store: Store, tmp_path: Path, zone: str, day: date
) -> None:
    house = household(zone)
    clock = VirtualClock(next(instants(zone, day)))
    Memory(store, household=house.id).say("Ana loves tulips", clock.now())
    backups = NightlyBackups(
        store, tmp_path / "kept", zone=house.zone, keep=timedelta(days=90), clock=clock
    )
    made, nights = Counter[date](), Counter[date]()
    for now in instants(zone, day):
        clock.advance_to(now)
        local = now.astimezone(house.zone).date()
        made[local] += backups.run_once() is not None
        if store.read_now(lambda conn, now=now: is_due(conn, house, now=now)):  # type: ignore[misc]
            nights[local] += 1
            run = Run(
                household=house.id,
                id=now.isoformat(),
                state=RunState.DONE,
                from_seq=0,
                to_seq=0,
                report=Report(),
                started_at=now,
                ended_at=now,
            )
            store.write_now(lambda conn, run=run: insert_run(conn, run))  # type: ignore[misc]
    assert made == dict.fromkeys(days_around(day), 1)
    assert len(nightly_backups(tmp_path / "kept", tmp_path / "family.db")) == DAYS
    # The first look makes up for the night before it.
    first = days_around(day)[0]
    assert nights == {**dict.fromkeys(days_around(day), 1), first: 2}


@pytest.mark.parametrize(("zone", "day"), NIGHTS)
@pytest.mark.parametrize(("said", "hour", "minute"), [("2:30am", 2, 30), ("6pm", 18, 0)])
def test_tomorrow_at_an_hour_is_that_hour_or_after_the_gap(
    zone: str, day: date, said: str, hour: int, minute: int
) -> None:
    now = datetime.combine(day - timedelta(days=1), time(12), tzinfo=ZoneInfo(zone))
    (span,) = read(f"tomorrow at {said}", now)
    meant = expected(zone, day, time(hour, minute))
    assert as_utc(span.begin) == meant
    assert span.begin.astimezone(UTC).astimezone(ZoneInfo(zone)).date() == day
