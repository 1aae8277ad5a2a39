"""Whether the database takes writes and has the tables this program knows."""

import shutil
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex

from sqlalchemy import Connection, text

from kinkeeper.core.errors import KinkeeperError
from kinkeeper.core.time import Clock
from kinkeeper.jobs.runners import beat
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.store import Store

# Each look costs a durable write; who asks more often gets the last answer.
_BELIEVED = timedelta(seconds=2)

_LEAST_FREE = 8 * 1024 * 1024
"""Bytes that must be free on the disk of the database: about what its log grows by between two checkpoints."""


class DatabaseCheck:
    """Writes to the database to see that it can be written.

    Args:
        store: The database.
        clock: Tells how old the last answer is.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        # A lock of its own: probes of several servers do not wait for each other.
        self._store = store.locking(f"readiness/{token_hex(8)}")
        self._clock = clock
        self._looked_at: datetime | None = None
        self._missing: str | None = None

    async def __call__(self) -> str | None:
        """Return what is wrong, or None."""
        now, last = self._clock.now(), self._looked_at
        # A clock that was set back makes the last look one of the future, which says nothing.
        if last is None or not last <= now < last + _BELIEVED:
            self._looked_at = now
            self._missing = await self._look()
        return self._missing

    async def _look(self) -> str | None:
        if is_sqlite(self._store.url) and (full := _full(Path(str(self._store.url.database)))):
            return full
        try:
            version = await self._store.write(_touch)
        except KinkeeperError as error:
            return str(error)
        return None if version == SCHEMA_VERSION else "its tables do not belong to this program"


def _full(file: Path) -> str | None:
    """Return a message where the disk of a database file has no room left.

    A write that changes no page fits on a full disk, so the free space is what tells.
    """
    try:
        free = shutil.disk_usage(file.absolute().parent).free
    except OSError as error:
        return f"the folder of the database cannot be read ({error.strerror})"
    return None if free >= _LEAST_FREE else "the disk is full"


def _touch(conn: Connection) -> str | None:
    if not beat(conn):
        conn.execute(text("UPDATE alembic_version SET version_num = version_num"))
    return current_version(conn)
