"""Advisory locks of a database server: one writer at a time for each household, and none for all of them.

A unit of work begins by taking the lock of its household, so it reads and writes as if it were alone there, as on
a SQLite file. Units of different households share no lock and do not wait for each other.
"""

from sqlalchemy import Connection

_RUNNER = "kinkeeper.runner"

# The server hashes the name, so that SQL written by hand can take the same lock.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def lock(conn: Connection, name: str) -> None:
    """Wait until no other transaction holds the lock of this name, and hold it until this one ends.

    Does nothing on SQLite, where there is one writer anyway.

    Args:
        conn: In a write transaction.
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
