"""What a database's error means for the program: busy, not available, or an error of the statement."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from kinkeeper.core.errors import (
    InputError,
    KinkeeperError,
    StoreBusyError,
    UnavailableError,
)
from kinkeeper.store.sqlite_library import dbapi2

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
        StoreBusyError: Another writer held the database longer than the busy timeout.
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
