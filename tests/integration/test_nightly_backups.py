"""Backups that are made at night and let go of in time, on real files and a clock that is moved."""

import asyncio
import stat
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.bootstrap import Houses
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.store.backups import NightlyBackups, nightly_backups, set_aside
from kinkeeper.store.store import Store
from live_household import MONDAY, live_system

ZONE = ZoneInfo("Pacific/Auckland")
KEEP = timedelta(days=3)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(datetime(2026, 3, 4, 1, tzinfo=ZONE))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.sqlite")) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "backups"


def keeper(store: Store, folder: Path | None, clock: VirtualClock) -> NightlyBackups:
    return NightlyBackups(store, folder, zone=ZONE, keep=KEEP, clock=clock)


def test_one_backup_a_local_night(store: Store, folder: Path, clock: VirtualClock) -> None:
    backups = keeper(store, folder, clock)
    assert backups.run_once() is None  # not night enough
    clock.advance_to(datetime(2026, 3, 4, 3, tzinfo=ZONE))
    made = backups.run_once()
    assert made == folder / "family-2026-03-04.sqlite"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with Store.open(str(made)):
        pass
    clock.advance_to(datetime(2026, 3, 4, 23, 59, tzinfo=ZONE))
    assert backups.run_once() is None
    assert keeper(store, folder, clock).run_once() is None  # nor after a restart


def test_a_night_that_was_slept_through_is_made_up_for(
    store: Store, folder: Path, clock: VirtualClock
) -> None:
    clock.advance_to(datetime(2026, 3, 4, 17, tzinfo=ZONE))
    assert keeper(store, folder, clock).run_once() is not None


def test_old_backups_go_and_other_files_stay(
    store: Store, folder: Path, clock: VirtualClock
) -> None:
    folder.mkdir(parents=True)
    others = [
        folder / name
        for name in ("family.sqlite", "other-2020-01-01.sqlite", "family-2020-13-01.sqlite")
    ]
    for other in others:
        other.write_text("mine")
    backups = keeper(store, folder, clock)
    for day in range(4, 12):
        clock.advance_to(datetime(2026, 3, day, 4, tzinfo=ZONE))
        assert backups.run_once() is not None
    days = sorted(nightly_backups(folder, Path(str(store.url.database))).values())
    assert days == [date(2026, 3, day) for day in range(8, 12)]
    assert all(other.read_text() == "mine" for other in others)


def test_what_restoring_set_aside_goes_too_with_its_log(
    store: Store, clock: VirtualClock, tmp_path: Path
) -> None:
    database = Path(str(store.url.database))
    old = tmp_path / "family.sqlite.before-restore-20260228-101112-000000"
    log, young = (
        Path(f"{old}-wal"),
        tmp_path / "family.sqlite.before-restore-20260303-101112-000000",
    )
    for path in (old, log, young):
        path.write_text("x")
    assert keeper(store, None, clock).run_once() is None
    assert list(set_aside(database)) == [young]
    assert database.exists()


def test_a_backup_that_was_interrupted_is_no_backup_and_is_made_again(
    store: Store, folder: Path, clock: VirtualClock
) -> None:
    folder.mkdir(parents=True)
    half = folder / "family-2026-03-04.sqlite.partial"
    half.write_bytes(b"SQLite format 3\x00")
    assert nightly_backups(folder, Path(str(store.url.database))) == {}
    clock.advance_to(datetime(2026, 3, 4, 3, tzinfo=ZONE))
    assert keeper(store, folder, clock).run_once() is not None
    assert not half.exists()


def test_a_folder_that_cannot_be_made_is_told(
    store: Store, clock: VirtualClock, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    clock.advance_to(datetime(2026, 3, 4, 3, tzinfo=ZONE))
    with pytest.raises(UnavailableError, match="file"):
        keeper(store, tmp_path / "file" / "backups", clock).run_once()


def test_a_worker_makes_them(tmp_path: Path, folder: Path) -> None:
    async def working() -> None:
        async with asyncio.timeout(30), Houses.of(system).working(clock=VirtualClock(MONDAY)):
            while not (folder / f"live-{MONDAY:%Y-%m-%d}.sqlite").exists():
                await asyncio.sleep(0.02)

    with live_system(tmp_path / "live.sqlite", backup_dir=folder) as system:
        asyncio.run(working())
