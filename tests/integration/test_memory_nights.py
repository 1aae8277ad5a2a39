"""When a night of memory begins: once a night by the household's own clock, in a process of its own."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.nights import Nights, is_due, upkeep_findings
from kinkeeper.core.time import VirtualClock
from kinkeeper.memory.upkeep.runs import RunState, approve, latest_runs
from kinkeeper.observability.findings import Health
from live_household import ZONE, live_system
from memory_nights import Memory, day, unlike

NIGHT = datetime(2026, 3, 9, 4, 30, tzinfo=ZONE)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with live_system(tmp_path / "family.db", embedder="none") as opened:
        yield opened


def due(system: System, now: datetime) -> bool:
    return system.store.read_now(lambda conn: is_due(conn, system.household, now=now))


def test_a_memory_without_anything_in_it_needs_no_nights(system: System) -> None:
    assert not due(system, NIGHT)


def test_a_night_is_due_once_by_the_household_s_clock(system: System) -> None:
    memory = Memory(system.store, household=system.household.id)
    memory.say("Leo loves football", day(0))
    memory.night(NIGHT - timedelta(days=1))
    assert not due(system, NIGHT.replace(hour=3))
    assert due(system, NIGHT)
    memory.night(NIGHT)
    for later in (timedelta(minutes=1), timedelta(hours=12), timedelta(hours=23)):
        assert not due(system, NIGHT + later)
    assert due(system, NIGHT + timedelta(days=1))


def test_what_a_person_agreed_to_is_done_at_once(system: System) -> None:
    memory = Memory(system.store, household=system.household.id)
    for text in unlike(8):
        memory.say(f"{text} lately", day(0))
    asking = memory.night(day(150))
    soon = day(150) + timedelta(minutes=5)
    assert asking.state is RunState.ASKS
    (finding,) = upkeep_findings([system.household], system.store, now=soon)
    assert finding.health is Health.WARNING
    assert not due(system, soon)
    system.store.write_now(lambda conn: approve(conn, system.household.id, asking.id))
    assert due(system, soon)


@pytest.mark.slow
def test_a_night_runs_in_a_process_of_its_own(system: System) -> None:
    memory = Memory(system.store, household=system.household.id)
    memory.say("Leo loves football", day(0))
    nights = Nights(system.settings, system.household, system.store, VirtualClock(NIGHT))
    assert asyncio.run(nights.run_once())
    (run,) = system.store.read_now(lambda conn: latest_runs(conn, system.household.id))
    assert run.state is RunState.DONE
    (finding,) = upkeep_findings([system.household], system.store, now=run.started_at)
    assert (finding.health, finding.household) == (Health.OK, system.household.id)
