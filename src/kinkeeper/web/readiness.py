"""Whether the database takes writes and has the tables this program knows."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from kinkeeper.core.errors import KinkeeperError
from kinkeeper.core.time import Clock
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.store import Store

# Each look costs a durable write; who asks more often gets the last answer.
_BELIEVED = timedelta(seconds=2)


class DatabaseCheck:
    """Writes to the database to see that it can be written.

    Args:
        store: The database.
        clock: Tells how old the last answer is.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
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
        try:
            version = await self._store.write(_touch)
        except KinkeeperError as error:
            return str(error)
        return None if version == SCHEMA_VERSION else "its tables are not those of this program"


def _touch(conn: Connection) -> str | None:
    conn.execute(text("UPDATE alembic_version SET version_num = version_num"))
    return current_version(conn)
