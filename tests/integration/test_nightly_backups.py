"""Backups that are made at night, tried, and let go of in time, on real files and a clock that is moved."""

import asyncio
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, delete, func, insert, select, update

from asking import FAMILY
from kinkeeper.bootstrap import Houses
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.goals.model import GoalStatus
from kinkeeper.goals.repository import goals
from kinkeeper.observability.findings import Health
from kinkeeper.store.checks import trial_findings
from kinkeeper.store.nightly_backups import NightlyBackups, latest_trial, nightly_backups, set_aside
from kinkeeper.store.schema import metadata
from kinkeeper.store.sqlite_library import dbapi2
from kinkeeper.store.store import Store
from kinkeeper.web.workload import workload_record
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


# Whether a backup is good.


def fill(store: Store, count: int = 300) -> None:
    """Let there be rows: more than are read of a table's ends."""
    at = datetime(2026, 3, 1, tzinfo=ZONE)
    rows = [
        {
            "household": "family",
            "id": f"{number:04}",
            "scope": "person:ann",
            "member": "ann",
            "kind": "find",
            "text": f"lamp number {number}",
            "priority": 1,
            "status": GoalStatus.PAUSED.value,
            "created_at": at,
            "expires_at": at,
            "changed_at": at,
            "progress": {"steps": []},
        }
        for number in range(count)
    ]
    store.write_now(lambda conn: conn.execute(insert(goals), rows))


def night(store: Store, folder: Path, clock: VirtualClock, hour: int = 3) -> Path | None:
    clock.advance_to(datetime(2026, 3, 4, hour, tzinfo=ZONE))
    return keeper(store, folder, clock).run_once()


def test_a_backup_is_restored_and_compared(store: Store, folder: Path, clock: VirtualClock) -> None:
    fill(store)
    assert trial_findings(store, folder) == ()
    made = night(store, folder, clock)
    assert made is not None
    trial = store.read_now(latest_trial)
    assert trial is not None
    assert (trial.file, trial.at, trial.problem) == (made.name, clock.now(), "")
    assert trial.row_count == 300 + store.read_now(_rows_but_goals)
    assert trial.tables == trial.compared > 60
    (finding,) = trial_findings(store, folder)
    assert finding.health is Health.OK
    assert "restored and compared" in finding.found
    assert trial_findings(store, None) == ()
    work = store.read_now(lambda conn: workload_record(conn, FAMILY, 7, now=clock.now()))
    told = work["backup"]
    assert (told["file"], told["is_good"], told["row_count"]) == (made.name, True, trial.row_count)
    assert [each.name for each in folder.iterdir()] == [made.name], "nothing is left of the trial"


def _rows_but_goals(conn: Connection) -> int:
    tables = [
        each for each in metadata.sorted_tables if each.name not in {"goals", "backup_trials"}
    ]
    return sum(conn.execute(select(func.count()).select_from(each)).scalar_one() for each in tables)


def _damage_pages(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for at in range(8192, len(content), 4096):
        content[at : at + 64] = b"\xff" * 64
    file.write_bytes(content)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _sql(command: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with closing(dbapi2.connect(str(file))) as connection:
            connection.execute(command)
            connection.commit()

    return change


DAMAGES: dict[str, Callable[[Path], None]] = {
    "pages": _damage_pages,
    "cut": _cut,
    "empty": lambda file: file.write_bytes(b""),
    "another file": lambda file: file.write_bytes(b"SQLite format 3\x00" + b"x" * 5000),
    "no rows": _sql("DELETE FROM goals"),
    "a row less at the start": _sql("DELETE FROM goals WHERE id = '0000'"),
    "a row less in the middle": _sql("DELETE FROM goals WHERE id = '0150'"),
    "another word": _sql("UPDATE goals SET text = 'a lamb' WHERE id = '0299'"),
    "a row more": _sql(
        "INSERT INTO goals SELECT household, 'x', scope, member, kind, text, priority, status, thread_id,"
        " next_at, created_at, expires_at, changed_at, progress FROM goals WHERE id = '0001'"
    ),
    "a table less": _sql("DROP TABLE tasks"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_bad_backup_does_not_count_and_warns(
    store: Store, folder: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    fill(store)
    good = Store.backup_to

    def bad(self: Store, path: Path) -> None:
        good(self, path)
        DAMAGES[damage](path)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "backup_to", bad)
        with pytest.raises(UnavailableError, match="is bad"):
            night(store, folder, clock)
    assert nightly_backups(folder, Path(str(store.url.database))) == {}
    (finding,) = trial_findings(store, folder)
    assert finding.health is Health.WARNING
    assert "2026-03-04" in finding.found
    # The next one, an hour later, takes its place.
    assert night(store, folder, clock, hour=4) is not None
    (finding,) = trial_findings(store, folder)
    assert finding.health is Health.OK


def fill_more(store: Store) -> None:
    store.write_now(
        lambda conn: conn.execute(
            insert(goals).from_select(
                goals.c.keys(),
                select(
                    *(("z" + each).label("id") if each.name == "id" else each for each in goals.c)
                ),
            )
        )
    )


CHANGES: dict[str, Callable[[Store], object]] = {
    "more": fill_more,
    "fewer": lambda store: store.write_now(
        lambda conn: conn.execute(delete(goals).where(goals.c.id < "0020"))
    ),
    "others": lambda store: store.write_now(
        lambda conn: conn.execute(update(goals).values(text="a chair"))
    ),
}


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_written_while_a_backup_is_made_is_no_damage(
    store: Store,
    folder: Path,
    clock: VirtualClock,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
    is_before: bool,
) -> None:
    fill(store)
    plain = Store.backup_to

    def meanwhile(self: Store, path: Path) -> None:
        if is_before:
            CHANGES[change](store)
        plain(self, path)
        if not is_before:
            CHANGES[change](store)

    monkeypatch.setattr(Store, "backup_to", meanwhile)
    assert night(store, folder, clock) is not None
    trial = store.read_now(latest_trial)
    assert trial is not None
    assert (trial.problem, trial.tables - trial.compared) == ("", 1)


def test_a_backup_that_cannot_be_tried_counts_and_warns(
    store: Store, folder: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kinkeeper.store.nightly_backups.restore", full)
    assert night(store, folder, clock) is not None
    (finding,) = trial_findings(store, folder)
    assert finding.health is Health.WARNING
    assert "No space left" in finding.found
    assert "disk space" in finding.remedy
