"""Which processes are alive: each writes a heartbeat; claims of one that stopped may be taken by anyone.

Only on a database server. A SQLite file has one job runner, elected by a lock that the system frees at its death.
All times are the server's, so clocks of different machines need not agree.
"""

import threading
from contextlib import suppress
from datetime import timedelta
from importlib.metadata import version
from secrets import token_hex
from typing import Any

import structlog
from sqlalchemy import Boolean, Column, ColumnElement, Connection, String, Table
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from kinkeeper.core.errors import UnavailableError
from kinkeeper.observability.log import without_message_text
from kinkeeper.store.engines import close_engine, library_engine
from kinkeeper.store.locks import runner_of
from kinkeeper.store.schema import Instant, metadata
from kinkeeper.store.store import Store

# Which processes work on a database server.

runners = Table(
    "runners",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("version", String(32), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("beat_at", Instant, nullable=False),
)


log = structlog.get_logger()

WORK_LEFT = ("runners", "")
"""What is woken (see `Store.watch`) when another process has ended, stopped beating, or handed work back."""

BEAT_EVERY = timedelta(seconds=5)
DEAD_AFTER = timedelta(seconds=20)
_AGAIN_SECONDS = 1.0
_CHANNEL = "kinkeeper_runners"


def _server_time(ago: timedelta = timedelta(0)) -> str:
    """Return the SQL of an instant of the server's clock, as the column type `Instant` stores it."""
    instant = f"statement_timestamp() - interval '{ago.total_seconds()} seconds'"
    return f"""to_char(({instant}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


_IS_ALIVE = f"beat_at > {_server_time(DEAD_AFTER)}"
_ENTER = f"""
INSERT INTO runners (id, role, version, started_at, beat_at)
VALUES (%s, %s, %s, {_server_time()}, {_server_time()})
ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at
"""  # noqa: S608 - constants
_BEAT = f"UPDATE runners SET beat_at = {_server_time()} WHERE id = %s"  # noqa: S608 - constants
_FORGET_DEAD = f"DELETE FROM runners WHERE NOT ({_IS_ALIVE})"  # noqa: S608 - constants
_OTHERS = """
SELECT id, extract(epoch FROM statement_timestamp() - beat_at::timestamptz)
FROM runners WHERE id <> %s
"""
_LEAVE = "DELETE FROM runners WHERE id = %s"
_ALIVE = f"SELECT id FROM runners WHERE {_IS_ALIVE}"  # noqa: S608 - constants


def is_dead(runner: Column[Any]) -> ColumnElement[bool]:
    """Return the condition that the process which a column names no longer beats; never true on SQLite.

    Args:
        runner: Column with the id of a runner, or NULL where no runner is known.
    """
    return _IsDead(runner)


def living(conn: Connection) -> frozenset[str]:
    """Return the ids of the runners that are alive; none on SQLite."""
    if conn.dialect.name != "postgresql":
        return frozenset()
    return frozenset(conn.exec_driver_sql(_ALIVE).scalars())


def beat(conn: Connection) -> bool:
    """Write a heartbeat of the process whose transaction this is; returns False where it is no runner."""
    runner = runner_of(conn)
    return runner is not None and conn.exec_driver_sql(_BEAT, (runner,)).rowcount == 1


def announce_work(conn: Connection) -> None:
    """Tell the runners of all other processes, once this transaction is committed, that it leaves work for them.

    For the end of a process only: a notification takes a lock of the whole database at its commit.
    """
    if conn.dialect.name == "postgresql":
        conn.exec_driver_sql("SELECT pg_notify(%s, %s)", (_CHANNEL, runner_of(conn) or ""))


class Heartbeat:
    """Says from its beginning to its end that this process is alive, and hears of others that no longer are.

    It beats on a thread and a connection of its own, so that a busy event loop or pool does not look dead. Claims
    made through the store meanwhile name this runner. Does nothing on SQLite.

    Args:
        store: The database; one heartbeat at a time.
        role: What the process is: "serve", "worker", "talk".
    """

    def __init__(self, store: Store, *, role: str) -> None:
        self._store = store
        self._own = (token_hex(16), role, version("kinkeeper"))
        self._known: frozenset[str] = frozenset()
        self._listening = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="runner-heartbeat", daemon=True)

    @property
    def _id(self) -> str:
        return self._own[0]

    def begin(self) -> None:
        """Begin to beat."""
        if not self._store.is_on_server:
            return
        self._store.write_now(self._enter)
        self._store.act_as(self._id)
        self._thread.start()
        self._listening.wait(BEAT_EVERY.total_seconds())

    def end(self) -> None:
        """Stop beating; what this process still has claimed is free at once."""
        if not self._store.is_on_server:
            return
        self._ending.set()
        with suppress(UnavailableError):
            self._store.write_now(self._leave)
            # The notification ends the thread's wait, too.
            self._thread.join(BEAT_EVERY.total_seconds())
        self._store.act_as(None)

    def _enter(self, conn: Connection) -> None:
        conn.exec_driver_sql(_ENTER, self._own)

    def _leave(self, conn: Connection) -> None:
        conn.exec_driver_sql(_LEAVE, (self._id,))
        announce_work(conn)

    def _run(self) -> None:
        engine = library_engine(self._store.url, connections=1)
        while not self._ending.is_set():
            try:
                with engine.connect() as connection:
                    self._beat_on(connection.execution_options(isolation_level="AUTOCOMMIT"))
            except DBAPIError as error:
                log.warning("jobs.runner.silent", reason=without_message_text(error))
                self._ending.wait(_AGAIN_SECONDS)
        close_engine(engine)

    def _beat_on(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"LISTEN {_CHANNEL}")
        driver: Any = connection.connection.driver_connection
        while not self._ending.is_set():
            pause = self._beat(connection)
            self._listening.set()
            heard = [each.payload for each in driver.notifies(timeout=pause, stop_after=1)]
            if any(runner != self._id for runner in heard):
                self._store.wake([WORK_LEFT])

    def _beat(self, connection: Connection) -> float:
        """Beat, and look who else does; return after how many seconds to do so again."""
        self._enter(connection)
        others = connection.exec_driver_sql(_OTHERS, (self._id,))
        ages = {str(id_): float(age) for id_, age in others}
        limit = DEAD_AFTER.total_seconds()
        alive = frozenset(id_ for id_, age in ages.items() if age < limit)
        if gone := self._known - alive:
            log.warning("jobs.runner.gone", runners=len(gone))
            self._store.wake([WORK_LEFT])
        if len(alive) < len(ages):
            connection.exec_driver_sql(_FORGET_DEAD)
        self._known = alive
        # Who is about to be dead is looked at just then.
        next_death = min((limit - ages[id_] for id_ in alive), default=limit)
        return min(BEAT_EVERY.total_seconds(), next_death + 0.05)


class _IsDead(ColumnElement[bool]):
    inherit_cache = False
    type = Boolean()

    def __init__(self, runner: Column[Any]) -> None:
        self.runner = runner


@compiles(_IsDead)
def _never(_element: _IsDead, _compiler: SQLCompiler, **_: Any) -> str:
    return "1 = 0"


@compiles(_IsDead, "postgresql")
def _without_beat(element: _IsDead, compiler: SQLCompiler, **kw: Any) -> str:
    runner = compiler.process(element.runner, **kw)
    beats = f"SELECT 1 FROM runners WHERE runners.id = {runner} AND runners.{_IS_ALIVE}"  # noqa: S608 - columns
    return f"({runner} IS NOT NULL AND NOT EXISTS ({beats}))"
