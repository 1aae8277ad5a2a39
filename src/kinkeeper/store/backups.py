"""Backups: checked, and put in the place of a SQLite database."""

import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, func, inspect, select, table, text
from sqlalchemy.exc import DatabaseError

from kinkeeper.core.errors import ConflictError, InputError, StoreVersionError, UnavailableError
from kinkeeper.store.engines import is_sqlite, parse_address
from kinkeeper.store.locks import runner_lock
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.sqlite_library import check_library, dbapi2

# Tells whether a file is a backup that this program can work with, before it takes a database's
# place.

_SQLITE_HEADER = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupContents:
    """What a sound backup holds.

    Attributes:
        schema: Revision of its tables.
        rows: Rows by table, of the tables that were asked for and that this revision has.
    """

    schema: str
    rows: Mapping[str, int]


def check_backup(path: Path, *, tables: Collection[str]) -> BackupContents:
    """Read a backup from its first to its last page and return what it holds. Changes nothing.

    Args:
        tables: Names of the program's tables; a backup of the present schema has all of them.

    Raises:
        InputError: It is not a file, not a database, not ours, or not the whole database.
        StoreVersionError: It was written by a newer program.
    """
    _check_kind(path)
    engine = _frozen_engine(path)
    try:
        with engine.connect() as connection:
            _check_pages(connection, path)
            return _contents(connection, path, tables)
    except DatabaseError as error:
        raise UnavailableError(
            f"{str(path)!r} is damaged ({error.orig}); use another backup"
        ) from error
    finally:
        engine.dispose()


def _check_kind(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(len(_SQLITE_HEADER))
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}") from error
    except IsADirectoryError as error:
        raise InputError(f"{str(path)!r} is a folder; specify the backup file in it") from error
    except OSError as error:
        raise UnavailableError(f"cannot read {str(path)!r}: {error.strerror}") from error
    if header != _SQLITE_HEADER:
        raise InputError(f"{str(path)!r} is not a SQLite database, so it is not a backup")
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        raise InputError(
            f"{str(path)!r} has a log file beside it, so it is a database in use and incomplete; make a backup of it with `kinkeeper backup`"
        )


def _frozen_engine(path: Path) -> Engine:
    """Return an engine that neither locks nor writes, and makes no files beside."""
    check_library()
    uri = path.resolve().as_uri()
    return create_engine(
        URL.create("sqlite", database=uri, query={"mode": "ro", "immutable": "1", "uri": "true"}),
        module=dbapi2,
    )


def _check_pages(connection: Connection, path: Path) -> None:
    found = str(connection.execute(text("PRAGMA integrity_check(1)")).scalar_one())
    if found != "ok":
        raise UnavailableError(f"{str(path)!r} is damaged ({found}); use another backup")
    orphan = connection.execute(text("PRAGMA foreign_key_check")).first()
    if orphan is not None:
        found = f"rows of {orphan[0]!r} refer to missing ones"
        raise UnavailableError(f"{str(path)!r} is damaged ({found}); use another backup")


def _contents(connection: Connection, path: Path, tables: Collection[str]) -> BackupContents:
    schema = current_version(connection)
    if schema is None or not schema.isdecimal():
        raise InputError(f"{str(path)!r} belongs to another program")
    if schema > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{str(path)!r} has schema {schema}, but this program only supports {SCHEMA_VERSION}: install a newer version, or use an older backup"
        )
    present = set(inspect(connection).get_table_names())
    missing = sorted(set(tables) - present)
    if not set(tables) & present or (missing and schema == SCHEMA_VERSION):
        raise InputError(
            f"{str(path)!r} belongs to another program: it has no {', '.join(missing[:3])}"
        )
    rows = {
        name: connection.execute(select(func.count()).select_from(table(name))).scalar_one()
        for name in sorted(set(tables) & present)
    }
    return BackupContents(schema=schema, rows=rows)


# Puts a backup in the place of a SQLite database: checked first, swapped at once, the old one kept.
#
# Whenever it is killed, the database's name leads to the old database or to the new one, each
# whole.

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
