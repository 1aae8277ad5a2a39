"""Database addresses, and engines set up as durability and purging need them."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, PoolProxiedConnection, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from kinkeeper.core.addresses import without_password
from kinkeeper.core.errors import InputError, KinkeeperError, StoreBusyError, UnavailableError
from kinkeeper.core.extras import missing_extra
from kinkeeper.store.schema import json_text, json_value
from kinkeeper.store.sqlite_library import check_library, dbapi2

_SQLITE_REMEDIES = {
    "SQLITE_FULL": "the disk is full; free some space",
    "SQLITE_IOERR": "the disk reports an error; check it and its mount",
    "SQLITE_READONLY": "the database file is read-only; make it and its folder writable",
    "SQLITE_CANTOPEN": "the database file cannot be opened; check that it exists and is yours",
    "SQLITE_CORRUPT": "the database file is damaged; restore the last backup",
    "SQLITE_NOTADB": "the file is not a database; choose another path",
    "SQLITE_NOMEM": "the machine is out of memory",
}
_SERVER_REFUSES_TEXT = {"22021", "22P05"}
# A serialization failure and a deadlock: the transaction would succeed if it were run again.
_LOST = {"40001", "40P01"}
_WAITED_TOO_LONG = {"55P03"}
# Of two transactions that both looked and then inserted the same, the server refuses one by this.
_TAKEN = {"23505"}
_SERVER_REMEDIES = {
    "53": "the database server is out of disk, memory or connections",
    "57": "the database server is shutting down or cancelled the statement",
    "58": "the database server reports a system error",
    "08": "the connection to the database server was lost",
    "28": "the database server rejected the user name or password",
    "3D": "the database does not exist on the server; create it",
}


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's own errors inside the block into ours, where they say the store is unwell.

    Errors of a statement itself (a broken constraint, a wrong type) pass unchanged.

    Raises:
        UnavailableError: Disk full, file or server not reachable; the message says what to do.
        InputError: A text that a server cannot hold.
    """
    try:
        yield
    except (DBAPIError, dbapi2.Error) as error:
        known = translation(error)
        if known is None:
            raise
        raise known from error
    except PoolTimeoutError as error:
        raise StoreBusyError("all database connections are in use; try again") from error


def translation(error: Exception) -> KinkeeperError | None:
    """Return our error for one of SQLAlchemy or of SQLite's driver, or None where it means no more."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", None)
    if name is not None:
        return _sqlite_translation(str(name))
    state = getattr(cause, "sqlstate", None)
    if state in _SERVER_REFUSES_TEXT or (isinstance(error, DataError) and "NUL" in str(cause)):
        return InputError("text contains a null character, which the database cannot store")
    if state in _LOST | _WAITED_TOO_LONG:
        return StoreBusyError("other writers changed the same rows at the same time; try again")
    remedy = _SERVER_REMEDIES.get(str(state)[:2])
    if remedy is None and state is None and isinstance(error, OperationalError):
        remedy = "the database server cannot be reached; check its address and that it is running"
    return None if remedy is None else UnavailableError(remedy)


def is_conflict(error: DBAPIError) -> bool:
    """Whether a transaction lost against a concurrent one, or may have, and would succeed if run again."""
    return getattr(error.orig, "sqlstate", None) in _LOST | _TAKEN


def _sqlite_translation(name: str) -> UnavailableError | None:
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusyError(
            "another process has been writing to the database for too long; try again"
        )
    family = next((prefix for prefix in _SQLITE_REMEDIES if name.startswith(prefix)), None)
    return None if family is None else UnavailableError(_SQLITE_REMEDIES[family])


BUSY_TIMEOUT_SECONDS = 30
_ASK_AGAIN_SECONDS = 0.02
_LOG_LIMIT_BYTES = 64 * 1024 * 1024

# Every connection answers with the second value after the pragma was set, or is refused.
_PRAGMAS: tuple[tuple[str, str, object], ...] = (
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "FULL", 2),
    ("foreign_keys", "ON", 1),
    ("secure_delete", "ON", 1),
    ("journal_size_limit", str(_LOG_LIMIT_BYTES), _LOG_LIMIT_BYTES),
)


def parse_address(address: str) -> URL:
    """Return the URL of a database given as a path or as a URL.

    Args:
        address: A file path, "sqlite:///path", "postgresql://..." or "postgresql+psycopg://...".

    Raises:
        InputError: Not a database this program can use.
    """
    if "://" not in address:
        return URL.create("sqlite", database=str(Path(address).expanduser().resolve()))
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        shown = without_password(address)
        raise InputError(f"{shown!r} is not a database address; write sqlite:///path") from error
    if url.get_backend_name() == "postgresql":
        if (missing := missing_extra("postgres")) is not None:
            raise InputError(f"{without_password(address)!r} {missing}")
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}:
        return url.set(database=str(Path(str(url.database)).expanduser().resolve()))
    raise InputError(
        f"{without_password(address)!r} cannot be used; use a file path or a postgresql:// URL"
    )


def is_sqlite(url: URL) -> bool:
    """Whether the database is a SQLite file."""
    return url.get_backend_name() == "sqlite"


def create_file(url: URL) -> None:
    """Create the SQLite file, readable by its owner only, where it does not exist yet."""
    path = Path(str(url.database))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Never open an existing database here: closing the descriptor would drop SQLite's locks.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise UnavailableError(
            f"cannot create the database {str(path)!r} ({error.strerror}); "
            "choose a folder you may write to"
        ) from error


def writer_engine(url: URL) -> Engine:
    """Return the engine of the one writing connection to a SQLite file: BEGIN IMMEDIATE."""
    return _sqlite_engine(url, begin="BEGIN IMMEDIATE", pool_size=1)


def reader_engine(url: URL, *, connections: int) -> Engine:
    """Return an engine whose connections read one snapshot a transaction and cannot write."""
    if is_sqlite(url):
        return _sqlite_engine(url, begin="BEGIN", pool_size=connections, query_only=True)
    return _server_engine(url, connections).execution_options(
        isolation_level="REPEATABLE READ", postgresql_readonly=True
    )


def server_writer_engine(url: URL, *, connections: int) -> Engine:
    """Return an engine for a database server whose writers take locks of their own (see `locks`).

    READ COMMITTED, whatever the server's default: a unit must see what was committed before it got its lock.
    """
    return _server_engine(
        url,
        connections,
        isolation_level="READ COMMITTED",
        connect_args={"options": f"-c lock_timeout={BUSY_TIMEOUT_SECONDS}s"},
    )


def library_engine(url: URL, *, connections: int) -> Engine:
    """Return an engine for a library that begins and ends its transactions by itself.

    Args:
        url: As `parse_address` returns it.
        connections: Size of the pool, > 0.
    """
    if not is_sqlite(url):
        return _server_engine(url, connections, pool_pre_ping=True)
    return _sqlite_engine(url, begin=None, pool_size=connections)


def close_engine(engine: Engine) -> None:
    """Close an engine's connections: those that are idle now, the others as soon as their threads give them back.

    Args:
        engine: Not to be used any more.
    """
    # Disposing alone leaves the latter open in a pool that nobody has any more, until the collector finds it.
    event.listen(engine, "checkin", _close_connection)
    engine.dispose()


def _close_connection(_connection: object, record: ConnectionPoolEntry) -> None:
    record.invalidate()


def _server_engine(url: URL, connections: int, **further: Any) -> Engine:
    return create_engine(url, pool_size=connections, max_overflow=16, **further)


def _sqlite_engine(
    url: URL, *, begin: str | None, pool_size: int, query_only: bool = False
) -> Engine:
    check_library()
    engine = create_engine(
        url,
        module=dbapi2,
        pool_size=pool_size,
        max_overflow=16,
        json_serializer=json_text,
        json_deserializer=json_value,
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
    )

    def set_up(dbapi_connection: Any, _record: object) -> None:
        dbapi_connection.isolation_level = None if begin else "IMMEDIATE"
        _apply_pragmas(dbapi_connection, str(url.database))
        if query_only:
            dbapi_connection.execute("PRAGMA query_only=ON")

    event.listen(engine, "connect", set_up)
    if begin:

        def start(dbapi_connection: PoolProxiedConnection) -> None:
            # The driver's own connection: a statement through SQLAlchemy costs ten times as much.
            dbapi_connection.driver_connection.execute(begin)  # type: ignore[union-attr]  # open here

        # Not the event "begin": with one listener, an engine looks for listeners at every statement.
        engine.dialect.do_begin = start  # type: ignore[method-assign]
    return engine


def _apply_pragmas(dbapi_connection: Any, path: str) -> None:
    for name, value, expected in _PRAGMAS:
        _set_pragma(dbapi_connection, f"PRAGMA {name}={value}")
        (found,) = dbapi_connection.execute(f"PRAGMA {name}").fetchone()
        if found != expected:
            raise UnavailableError(
                f"SQLite did not accept {name}={value} for {path!r} (it says {found!r}); "
                "keep the file on a local disk, not on a network share"
            )


def _set_pragma(dbapi_connection: Any, statement: str) -> None:
    # Changing to a write-ahead log needs the file alone for a moment, and SQLite does not wait for
    # that: of several processes that start at once, some would fail without asking again.
    patience = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            dbapi_connection.execute(statement).fetchall()
        except dbapi2.OperationalError as error:
            busy = error.sqlite_errorname.startswith("SQLITE_BUSY")
            if not busy or time.monotonic() > patience:
                raise
            time.sleep(_ASK_AGAIN_SECONDS)  # noqa: TID251 - a store is opened before any loop
        else:
            return
