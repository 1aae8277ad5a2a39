"""Checks of the database and of the machine it lives on; none of them changes anything."""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import URL

from kinkeeper.core.errors import KinkeeperError
from kinkeeper.observability.findings import Finding, Health, broken, ok, warning
from kinkeeper.store.engines import is_sqlite, reader_engine, translated
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.nightly_backups import Trial, latest_trial, nightly_backups
from kinkeeper.store.sqlite_library import check_library, sqlite
from kinkeeper.store.store import Store

_OLDEST_PYTHON = (3, 11)
_RELEASED = datetime(2026, 1, 1, tzinfo=UTC)
_LATEST_BACKUP = timedelta(days=2)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def database_findings(url: URL) -> Iterator[Finding]:
    """Check that a database can be used, and by this program. Blocks."""
    place = url.render_as_string(hide_password=True)
    if is_sqlite(url):
        file = Path(str(url.database))
        yield _folder(file)
        if not file.exists():
            yield ok("database", f"{file} will be created on first use")
            return
        place = str(file)
    try:
        engine = reader_engine(url, connections=1)
        try:
            with translated(), engine.connect() as connection:
                version = current_version(connection)
        finally:
            engine.dispose()
    except KinkeeperError as error:
        yield broken("database", f"{place}: {error}", "see the message")
        return
    yield _version(place, version)


def stored_findings(
    url: URL, name: str, look: Callable[[Store], Sequence[Finding]]
) -> Sequence[Finding]:
    """Return what a look into a database finds; one that is not there, or of another version, is left alone. Blocks.

    Args:
        name: Of the check that fails where the database cannot be read.
    """
    is_there = not is_sqlite(url) or Path(str(url.database)).exists()
    try:
        if not is_there or not _is_up_to_date(url):
            return ()
        with Store.open(url.render_as_string(hide_password=False)) as store:
            return look(store)
    except KinkeeperError as error:
        return [broken(name, str(error), "see the message")]


def _is_up_to_date(url: URL) -> bool:
    engine = reader_engine(url, connections=1)
    try:
        with translated(), engine.connect() as connection:
            return current_version(connection) == SCHEMA_VERSION
    finally:
        engine.dispose()


def machine_findings(now: datetime) -> list[Finding]:
    """Check Python, the SQLite library and the clock."""
    return [_python(), _library(), _clock(now)]


def _version(place: str, version: str | None) -> Finding:
    if version is None:
        return ok("database", f"{place} is empty; tables will be created on first use")
    if version > SCHEMA_VERSION:
        remedy = "install a newer version, or restore a backup made with this one"
        found = f"{place} has schema {version}, newer than {SCHEMA_VERSION}"
        return broken("database", found, remedy)
    if version < SCHEMA_VERSION:
        return ok("database", f"{place} has schema {version}; it will be upgraded on next use")
    return ok("database", f"{place}, schema {version}")


def _folder(file: Path) -> Finding:
    folder = file.parent
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        remedy = "choose another folder with --db or DB_PATH, or make this one writable"
        return broken("data folder", f"{existing} is not writable", remedy)
    if file.exists() and stat.S_IMODE(file.stat().st_mode) & _OTHERS:
        return Finding(
            check="data folder",
            health=Health.WARNING,
            found=f"{file} can be read by other users",
            remedy=f"chmod 600 {file}",
        )
    return ok("data folder", str(folder))


def backup_findings(url: URL, folder: Path | None, now: datetime) -> Iterator[Finding]:
    """Check that backups are made at night where a folder is named for them.

    Args:
        folder: Where they are kept, if anywhere.
    """
    if not is_sqlite(url):
        yield ok("backups", "use pg_dump and pg_restore on the database server")
        return
    if folder is None:
        yield ok("backups", "no nightly backups; set BACKUP_DIR to a folder to turn them on")
        return
    existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        yield broken("backups", f"{existing} is not writable", "choose another BACKUP_DIR")
        return
    days = sorted(nightly_backups(folder, Path(str(url.database))).values())
    if not days:
        yield ok("backups", f"{folder} is empty; the server or a worker will make the first one")
        return
    found = f"{len(days)} in {folder}, latest {days[-1]}"
    if now.date() - days[-1] > _LATEST_BACKUP:
        remedy = (
            "check that `kinkeeper serve` or `kinkeeper worker` is running, and look at its log"
        )
        yield warning("backups", found, remedy)
        return
    yield ok("backups", found)


def trial_findings(store: Store, folder: Path | None) -> Sequence[Finding]:
    """Tell what trying the latest nightly backup has shown; nothing where none was tried. Blocks.

    Args:
        folder: Where backups are kept, if anywhere.
    """
    trial = None if folder is None else store.read_now(latest_trial)
    return () if trial is None else (_trial(trial),)


def _trial(trial: Trial) -> Finding:
    check = "backup restore test"
    if trial.problem:
        remedy = (
            "free some disk space; the next backup is tested again"
            if trial.is_good_enough
            else "check the disk, and make a backup elsewhere with `kinkeeper backup FILE`; another one is tried every hour"
        )
        return warning(check, f"{trial.file}: {trial.problem}", remedy)
    rows = f"{trial.row_count:,} rows in {trial.tables} tables"
    return ok(check, f"{trial.file} was restored and compared: {rows}")


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return broken("Python", version, "install Python 3.11 or newer")
    return ok("Python", version)


def _library() -> Finding:
    try:
        check_library()
    except KinkeeperError as error:
        return broken("SQLite library", sqlite.sqlite_version, str(error))
    return ok("SQLite library", sqlite.sqlite_version)


def _clock(now: datetime) -> Finding:
    if now < _RELEASED:
        return broken("clock", f"{now:%Y-%m-%d %H:%M} UTC", "set the machine's date and time")
    return ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")
