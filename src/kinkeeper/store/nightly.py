"""A backup every night, and an end to those that are too old: they hold what was deleted here since."""

import asyncio
import re
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from kinkeeper.core.errors import KinkeeperError, UnavailableError
from kinkeeper.core.time import Clock, ForwardJumps, is_held_until
from kinkeeper.observability.failures import surviving
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.restore import SAFETY_INFIX
from kinkeeper.store.store import Store

log = structlog.get_logger()

_FIRST_HOUR = 3
_BETWEEN_LOOKS = timedelta(minutes=5)
_AFTER_FAILURE = timedelta(hours=1)


class NightlyBackups:
    """Keeps the backups of one SQLite database; a database on a server has its own ways.

    Args:
        store: The database.
        folder: Where backups lie; made where it does not exist. None makes none, and still lets go of
            what restoring has set aside.
        zone: Whose nights are meant.
        keep: Age up to which a backup is kept.
        clock: Tells the time.
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

        Raises:
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        now = self._clock.now()
        local = now.astimezone(self._zone)
        if not self._jumps.is_recent(now):
            self._prune(local.date())
        if self._folder is None or local.hour < _FIRST_HOUR:
            return None
        return self._make(self._folder, local.date())

    def _make(self, folder: Path, day: date) -> Path | None:
        path = folder / f"{self._database.stem}-{day}.sqlite"
        if path.exists():
            return None
        partial = path.with_name(f"{path.name}.partial")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial.unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(f"cannot write {str(folder)!r}: {error.strerror}") from error
        self._store.backup_to(partial)
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
        database: The SQLite file.
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
