"""Locks: one writer of a household at a database server, one process that runs the jobs of a SQLite file.

A unit of work begins by taking the lock of its household, so it reads and writes as if it were alone there, as on
a SQLite file. Units of different households share no lock and do not wait for each other.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.store.engines import is_sqlite, parse_address

_RUNNER = "kinkeeper.runner"

# The server hashes the name, so that SQL written by hand can take the same lock.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def lock(conn: Connection, name: str) -> None:
    """Wait until no other transaction holds the lock of this name, and hold it until this one ends.

    Does nothing on SQLite, where there is one writer anyway.

    Args:
        name: A household's id, or any other text for what belongs to no household. A unit that needs several
            takes that of no household first, then households in the order of their ids: this avoids deadlocks.
    """
    if conn.dialect.name == "postgresql":
        conn.exec_driver_sql(_LOCK, (name,))


def act_as(conn: Connection, runner: str | None) -> None:
    """Say which runner the process is whose transaction this is; for the store."""
    conn.info[_RUNNER] = runner


def runner_of(conn: Connection) -> str | None:
    """Return which runner the process is whose transaction this is; None where it is none, and always on SQLite."""
    runner: str | None = conn.info.get(_RUNNER)
    return runner


# Elects the one process that runs the jobs of a SQLite file; the system frees the lock on any
# death.


@contextmanager
def runner_lock(
    address: str, *, on_wait: Callable[[int | None], None] | None = None
) -> Iterator[None]:
    """Hold the right to run jobs on a SQLite file for the length of the block.

    The lock lies beside the database as "<file>.lock" and names its holder.

    Args:
        address: As `Store.open` takes it.
        on_wait: Where given, wait for the holder to end, after calling this with the holder's
            process id (None if unknown). Waiting blocks the thread.

    Raises:
        ConflictError: Another process holds it, and `on_wait` is not given.
        InputError: The database is on a server, where many may run jobs.
    """
    url = parse_address(address)
    if not is_sqlite(url):
        raise InputError(
            "only a SQLite file needs a single job runner; a database server allows many"
        )
    path = Path(f"{url.database}.lock")
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _acquire(descriptor, path, on_wait)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
        os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, on_wait: Callable[[int | None], None] | None) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _holder(descriptor)
        if on_wait is None:
            who = "another process" if holder is None else f"process {holder}"
            raise ConflictError(
                f"{who} is already running the jobs for this household's database (lock {str(path)!r}); "
                "stop it first",
                holder=holder,
            ) from error
        on_wait(holder)
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _holder(descriptor: int) -> int | None:
    written = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    return int(written) if written.isdecimal() else None
