"""Tells whether a file is a backup that this program can work with, before it takes a database's place."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, func, inspect, select, table, text
from sqlalchemy.exc import DatabaseError

from kinkeeper.core.errors import InputError, StoreVersionError, UnavailableError
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.sqlite_library import check_library, dbapi2

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
        path: The file.
        tables: Names of the program's tables; a backup of the present schema has all of them.

    Raises:
        InputError: It is not a file, not a database, not ours, or not the whole database.
        UnavailableError: It is damaged, or cannot be read.
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
