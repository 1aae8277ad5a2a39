"""Puts a backup in the place of a SQLite database: checked first, swapped at once, the old one kept.

Whenever it is killed, the database's name leads to the old database or to the new one, each whole.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from kinkeeper.core.errors import ConflictError, InputError, UnavailableError
from kinkeeper.store.backup_check import BackupContents, check_backup
from kinkeeper.store.engines import is_sqlite, parse_address
from kinkeeper.store.runner_lock import runner_lock
from kinkeeper.store.sqlite_library import dbapi2

SAFETY_INFIX = ".before-restore-"
_SIDE_FILES = ("-wal", "-shm", "-journal")

# Where SQLite's own locks lie in the file: pending byte, reserved byte, 510 shared bytes.
_LOCK_START, _LOCK_LENGTH = 0x40000000, 512


def restore(
    address: str,
    backup: Path,
    *,
    tables: Collection[str],
    at: datetime,
    on_checked: Callable[[BackupContents], None],
) -> Path | None:
    """Replace a database by a backup, and keep what is replaced beside it. Blocks.

    Args:
        address: The database, as `Store.open` takes it; it need not exist.
        backup: The backup; left as it is.
        tables: Names of the program's tables.
        at: Present time, for the name of the safety copy; aware.
        on_checked: Called with what the backup holds, before anything is replaced.

    Returns:
        The safety copy of what was replaced; None where there was no database.

    Raises:
        ConflictError: Another process has the database open or runs its jobs.
        InputError: The database is on a server, or the file is no backup of ours.
        UnavailableError: The backup is damaged, or the disk full or not writable.
        StoreVersionError: The backup was written by a newer program.
    """
    database = restorable(address)
    if database.exists() and backup.exists() and database.samefile(backup):
        raise InputError(f"{str(backup)!r} is the database itself; specify a backup instead")
    check_backup(backup, tables=tables)
    database.parent.mkdir(parents=True, exist_ok=True)
    with runner_lock(address), _copied(backup, database) as copy:
        on_checked(check_backup(copy, tables=tables))
        with ExitStack() as held:
            safety = _set_aside(database, at, held) if database.exists() else None
            copy.replace(database)
            _sync(database.parent)
    return safety


def restorable(address: str) -> Path:
    """Return the file of a database that can be restored here.

    Raises:
        InputError: It is on a server.
    """
    url = parse_address(address)
    if not is_sqlite(url):
        raise InputError("a PostgreSQL database is restored with pg_restore, from a pg_dump backup")
    return Path(str(url.database))


@contextmanager
def _copied(backup: Path, database: Path) -> Iterator[Path]:
    """Yield a private copy in the database's folder; what is checked is then what is put in place."""
    copy = database.with_name(f"{database.name}.restoring")
    try:
        copy.unlink(missing_ok=True)
        with backup.open("rb") as source, open(copy, "xb", opener=_private) as target:
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        yield copy
    except OSError as error:
        place = error.filename or str(copy)
        raise UnavailableError(f"cannot restore to {place!r}: {error.strerror}") from error
    finally:
        copy.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _set_aside(database: Path, at: datetime, held: ExitStack) -> Path:
    """Give the present database a second name; nobody else can open it until `held` is closed."""
    _require_unused(database)
    # A file that SQLite cannot read keeps its log as it is: what can be saved of it is in there.
    is_folded = _fold_and_hold(database, held)
    safety = database.with_name(f"{database.name}{SAFETY_INFIX}{at:%Y%m%d-%H%M%S-%f}")
    os.link(database, safety)
    if not is_folded:
        for suffix in _SIDE_FILES:
            with suppress(FileNotFoundError):
                Path(f"{database}{suffix}").rename(f"{safety}{suffix}")
    return safety


def _require_unused(database: Path) -> None:
    """Refuse a file on which any other process holds one of SQLite's locks, as all that have it open do."""
    # Closing the file lets go of the lock again.
    with database.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCK_LENGTH, _LOCK_START)
        except (BlockingIOError, PermissionError) as error:
            raise ConflictError("another process has the database open; stop it first") from error


def _fold_and_hold(database: Path, held: ExitStack) -> bool:
    """Move the log into the file, and lock the file; returns False where SQLite cannot read it."""
    connection = held.enter_context(
        closing(dbapi2.connect(str(database), timeout=0, isolation_level=None))
    )
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        connection.execute("BEGIN EXCLUSIVE")
    except dbapi2.Error:
        connection.close()
        _require_unused(database)
        return False
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
