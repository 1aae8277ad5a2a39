"""A backup every night, tried before it counts, and an end to those that are too old: they hold what was deleted since.

A copy that reads well from its first to its last page may still lack rows. So each is restored into a scratch database,
and rows are counted, and some of each table read, before and after it is made: what has not changed meanwhile must be
the same in the restored one.
"""

import asyncio
import hashlib
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Integer,
    String,
    Table,
    Text,
    column,
    delete,
    func,
    insert,
    select,
    table,
)

from kinkeeper.core.errors import KinkeeperError, UnavailableError
from kinkeeper.core.time import Clock, ForwardJumps, is_held_until
from kinkeeper.observability.failures import surviving
from kinkeeper.store.backups import SAFETY_INFIX, check_backup, restore
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.schema import Instant, metadata
from kinkeeper.store.store import Store

log = structlog.get_logger()

# What trying a backup shows.

_SAMPLE: Final = 100
"""Rows read of each end of a table."""

backup_trials = Table(
    "backup_trials",
    metadata,
    Column("file", String(255), primary_key=True),
    Column("at", Instant, primary_key=True),
    Column("tables", Integer, nullable=False),
    Column("compared", Integer, nullable=False),
    Column("row_count", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    # Whether the backup was restored and read; where not, the problem says why.
    Column("is_tried", Boolean, nullable=False),
    # Empty where the backup is good.
    Column("problem", Text, nullable=False),
)

_trials = backup_trials.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What trying a backup has shown.

    Attributes:
        file: Name of the backup, without its folder.
        at: Aware.
        tables: How many it has.
        compared: How many of them had not changed while it was made, and were compared.
        row_count: Rows of all tables.
        digest: Checksum of the sample of all tables.
        is_tried: Whether that could be found out.
        problem: What is wrong with it, or why that could not be found out; empty where it is good.
    """

    file: str
    at: datetime
    tables: int = 0
    compared: int = 0
    row_count: int = 0
    digest: str = ""
    is_tried: bool = True
    problem: str = ""

    @property
    def is_good_enough(self) -> bool:
        """Whether nothing wrong was found with it."""
        return not self.problem or not self.is_tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How many rows a table has, and a checksum of those at its ends."""

    rows: int
    digest: str


def extents(conn: Connection, tables: Collection[str]) -> Mapping[str, Extent]:
    """Return the extents of tables, by name."""
    return {name: _extent(conn, metadata.tables[name]) for name in sorted(tables)}


def _extent(conn: Connection, of: Table) -> Extent:
    # As it is stored: a value that could not be read as what it should be is still the same value.
    raw = table(of.name, *(column(each.name) for each in of.columns))
    keys = [raw.c[each.name] for each in of.primary_key]
    digest = hashlib.sha256()
    for order in (keys, [key.desc() for key in keys]):
        for row in conn.execute(select(raw).order_by(*order).limit(_SAMPLE)):
            digest.update(repr(tuple(row)).encode())
    count = conn.execute(select(func.count()).select_from(raw)).scalar_one()
    return Extent(rows=int(count), digest=digest.hexdigest())


def _tried(
    backup: Path,
    file: str,
    before: Mapping[str, Extent],
    after: Mapping[str, Extent],
    *,
    at: datetime,
) -> Trial:
    """Restore a backup into a scratch database beside it, and compare that with the database it is of. Blocks.

    Args:
        file: What it is to be called.
        before: The extents of the database's tables before it was made.
        after: The same after that.
        at: Present time, aware.
    """
    tables = before.keys()
    try:
        check_backup(backup, tables=tables)
    except KinkeeperError as error:
        return Trial(file=file, at=at, problem=str(error))
    try:
        with TemporaryDirectory(dir=backup.parent, prefix=".trial-") as folder:
            scratch = str(Path(folder) / "scratch.sqlite")
            restore(scratch, backup, tables=tables, at=at, on_checked=lambda _: None)
            with Store.open(scratch) as store:
                found = store.read_now(lambda conn: extents(conn, tables))
    except (KinkeeperError, OSError) as error:
        return Trial(file=file, at=at, is_tried=False, problem=f"it couldn't be tried: {error}")
    return compared(found, before=before, after=after, file=file, at=at)


def compared(
    found: Mapping[str, Extent],
    *,
    before: Mapping[str, Extent],
    after: Mapping[str, Extent],
    file: str,
    at: datetime,
) -> Trial:
    """Return what a restored backup shows beside the database as it stood before and after it was made."""
    still = [name for name, extent in before.items() if after.get(name) == extent]
    lacking = {name: before[name].rows - found[name].rows for name in still}
    wrong = [name for name in still if found[name] != before[name]]
    told = (
        f"{name} ({lacking[name]} rows missing)" if lacking[name] > 0 else f"{name} (other rows)"
        for name in wrong
    )
    digest = hashlib.sha256("".join(each.digest for each in found.values()).encode())
    return Trial(
        file=file,
        at=at,
        tables=len(found),
        compared=len(still),
        row_count=sum(each.rows for each in found.values()),
        digest=digest.hexdigest(),
        problem=f"it differs from the database in {', '.join(told)}" if wrong else "",
    )


def insert_trial(conn: Connection, trial: Trial, *, oldest: datetime) -> None:
    """Write what trying a backup has shown, and remove what was shown before `oldest`."""
    conn.execute(delete(backup_trials).where(_trials.at < oldest))
    conn.execute(insert(backup_trials).values(asdict(trial)))


def latest_trial(conn: Connection) -> Trial | None:
    """Return what trying the latest backup has shown, if one was tried."""
    row = (
        conn.execute(select(backup_trials).order_by(_trials.at.desc()).limit(1)).mappings().first()
    )
    return None if row is None else Trial(**row)


def trial_record(trial: Trial) -> dict[str, Any]:
    """Return what trying a backup has shown, as JSON."""
    return {**asdict(trial), "at": trial.at.isoformat(), "is_good": not trial.problem}


# Made at night, and kept for a while.

_FIRST_HOUR = 3
_BETWEEN_LOOKS = timedelta(minutes=5)
_AFTER_FAILURE = timedelta(hours=1)


class NightlyBackups:
    """Keeps the backups of one SQLite database; a database on a server has its own ways.

    Args:
        folder: Where backups lie; made where it does not exist. None makes none, and still lets go of
            what restoring has set aside.
        keep: Age up to which a backup is kept.
    """

    def __init__(
        self, store: Store, folder: Path | None, *, zone: ZoneInfo, keep: timedelta, clock: Clock
    ) -> None:
        self._store = store
        self._database = Path(str(store.url.database))
        self._folder = folder
        self._zone = zone
        self._keep = keep
        self._clock = clock
        self._not_before = clock.now()
        self._jumps = ForwardJumps()

    async def run(self) -> None:
        """Do what is due, again and again, until cancelled; returns at once where nothing ever will be."""
        if not is_sqlite(self._store.url):
            return
        while True:
            if not is_held_until(self._not_before, self._clock.now(), _AFTER_FAILURE):
                with surviving("store.backup", foreseen=(KinkeeperError, OSError)) as night:
                    await asyncio.to_thread(self.run_once)
                if night.error is not None:
                    self._not_before = self._clock.now() + _AFTER_FAILURE
            await asyncio.sleep(_BETWEEN_LOOKS.total_seconds())

    def run_once(self) -> Path | None:
        """Make the backup of this night if it is not there yet, and delete what is too old. Blocks.

        Returns:
            The backup made now, if any.
        """
        now = self._clock.now()
        local = now.astimezone(self._zone)
        if not self._jumps.is_recent(now):
            self._prune(local.date())
        if self._folder is None or local.hour < _FIRST_HOUR:
            return None
        return self._make(self._folder, local.date())

    def _make(self, folder: Path, day: date) -> Path | None:
        """Make a backup and try it; it gets its name unless it is found to be bad.

        Raises:
            UnavailableError: It could not be made, or is bad.
        """
        path = folder / f"{self._database.stem}-{day}.sqlite"
        if path.exists():
            return None
        partial = path.with_name(f"{path.name}.partial")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial.unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(f"cannot write {str(folder)!r}: {error.strerror}") from error
        tables = metadata.tables.keys()
        before = self._store.read_now(lambda conn: extents(conn, tables))
        self._store.backup_to(partial)
        after = self._store.read_now(lambda conn: extents(conn, tables))
        trial = _tried(partial, path.name, before, after, at=self._clock.now())
        oldest = self._clock.now() - self._keep
        self._store.write_now(lambda conn: insert_trial(conn, trial, oldest=oldest))
        if trial.problem:
            log.warning("backup.bad", file=str(path), problem=trial.problem)
        if not trial.is_good_enough:
            raise UnavailableError(f"the backup {str(path)!r} is bad: {trial.problem}")
        partial.replace(path)
        log.info("backup.made", file=str(path))
        return path

    def _prune(self, today: date) -> None:
        kept = set_aside(self._database)
        if self._folder is not None:
            kept |= nightly_backups(self._folder, self._database)
        for path, day in kept.items():
            if today - day > self._keep:
                path.unlink(missing_ok=True)
                log.info("backup.deleted", file=str(path))


def nightly_backups(folder: Path, database: Path) -> dict[Path, date]:
    """Return the nightly backups of a database that lie in a folder, with their days.

    Args:
        folder: Need not exist.
    """
    return _dated(folder, rf"{re.escape(database.stem)}-(\d{{4}}-\d{{2}}-\d{{2}})\.sqlite")


def set_aside(database: Path) -> dict[Path, date]:
    """Return the files that restoring has set aside beside a SQLite file, with their days."""
    return _dated(database.parent, rf"{re.escape(database.name + SAFETY_INFIX)}(\d{{8}})-.*")


def _dated(folder: Path, pattern: str) -> dict[Path, date]:
    if not folder.is_dir():
        return {}
    found = {}
    for path in sorted(folder.iterdir()):
        if match := re.fullmatch(pattern, path.name):
            with suppress(ValueError):
                found[path] = date.fromisoformat(match[1])
    return found
