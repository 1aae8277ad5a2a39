"""The one door to the database: units of work in, results out after the commit; or rehearsed and never kept."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn, Protocol, Self, TypeVar, cast

from sqlalchemy import URL, Connection, text

from kinkeeper.core.errors import (
    ConflictError,
    InputError,
    InvariantError,
    StoreBusyError,
    UnavailableError,
)
from kinkeeper.store import engines
from kinkeeper.store.commits import CommitSignal, CommitWatch, Touch
from kinkeeper.store.engines import translated
from kinkeeper.store.migrate import migrate
from kinkeeper.store.transactions import GroupCommitWriter, ServerWriter, TransactionPool

# Transactions that are never kept: they show what would happen.

T = TypeVar("T")

_MARK = "kinkeeper.rehearsal"


class RehearsedError(Exception):
    """Ends a rehearsal: carries its result out of the transaction, which its raising undoes.

    Attributes:
        result: What the work returned.
    """

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result


def rehearsed(work: Callable[[Connection], T]) -> Callable[[Connection], NoReturn]:
    """Return the work as one that always ends with `RehearsedError`, so that nothing of it stays.

    Args:
        work: Runs in a writing transaction.
    """

    def run(conn: Connection) -> NoReturn:
        with _marked(conn):
            raise RehearsedError(work(conn))

    return run


def require_rehearsal(conn: Connection) -> None:
    """Refuse to go on in a transaction that could be kept.

    Raises:
        InvariantError: It is one.
    """
    if not conn.info.get(_MARK):
        raise InvariantError(
            "this may only run where it is rolled back; use the store's `rehearse`"
        )


@contextmanager
def _marked(conn: Connection) -> Iterator[None]:
    conn.info[_MARK] = True
    try:
        yield
    finally:
        del conn.info[_MARK]


class _Reader(Protocol):
    """Runs units of work; a unit sees a transaction and never ends it."""

    async def run(self, work: Callable[[Connection], T]) -> T: ...

    def run_now(self, work: Callable[[Connection], T]) -> T: ...

    def close(self) -> None: ...


class _Writer(Protocol):
    """Runs units of work, those of one name one after another."""

    async def run(self, work: Callable[[Connection], T], name: str) -> T: ...

    def run_now(self, work: Callable[[Connection], T], name: str) -> T: ...

    def close(self) -> None: ...


class _Abandonable:
    """A unit of work that its caller may give up until it has begun."""

    def __init__(self, work: Callable[[Connection], Any]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._has_begun = self._is_abandoned = False

    def __call__(self, conn: Connection) -> Any:
        """Do the work, unless it was given up."""
        with self._lock:
            if self._is_abandoned:
                return None
            self._has_begun = True
        return self._work(conn)

    def abandon(self) -> bool:
        """Give the work up; False where it has begun."""
        with self._lock:
            self._is_abandoned = not self._has_begun
            return self._is_abandoned


class Store:
    """A database, open.

    Make one with `Store.open`, and close it at the end (or use it in a `with` block).
    """

    def __init__(
        self,
        url: URL,
        *,
        writer: _Writer,
        readers: _Reader,
        commits: CommitSignal,
        patience: timedelta | None = None,
        lock_name: str = "",
    ) -> None:
        self.url = url
        self._commits = commits
        self._patience = patience
        self._lock_name = lock_name
        self._writer = writer
        self._readers = readers

    @classmethod
    def open(cls, address: str, *, readers: int = 4) -> Self:
        """Open a database, create it where it does not exist, and bring its tables up to date.

        Blocks: call it before the event loop runs, or in a thread.

        Args:
            address: A file path, "sqlite:///path" or "postgresql://...".
            readers: Threads for reads awaited from event loops, > 0.

        Raises:
            StoreVersionError: Written by a newer program, or this SQLite is unsafe.
            UnavailableError: It cannot be created, reached, or made durable.
        """
        url = engines.parse_address(address)
        commits = CommitSignal()
        open_writer = _file_writer if engines.is_sqlite(url) else _server_writer
        with translated():
            writer = open_writer(url, commits, readers)
        reading = TransactionPool(engines.reader_engine(url, connections=readers), threads=readers)
        return cls(url, writer=writer, readers=reading, commits=commits)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a writing transaction and return its result once it is durable.

        On SQLite one unit runs at a time, in the order of the calls. On a server one unit of this store's
        lock runs at a time (see `locking`), in whatever process. A unit may be run again: on SQLite
        after one that waited beside it failed, on a server after it lost against a concurrent one. So
        `work` does nothing but statements.

        Args:
            work: Gets the connection; neither commits nor rolls back. What it raises undoes it,
                and is raised here.

        Raises:
            UnavailableError: Nothing was written; the message says what to do.
        """
        if self._patience is None:
            return await self._writer.run(work, self._lock_name)
        unit = _Abandonable(work)
        running = asyncio.ensure_future(self._writer.run(unit, self._lock_name))
        try:
            await asyncio.wait({running}, timeout=self._patience.total_seconds())
            # "Try again" would be wrong of work that goes on: once it has begun, its end is waited for.
            if not running.done() and unit.abandon():
                raise StoreBusyError("the database is busy; try again")
            return cast("T", await running)
        finally:
            running.cancel()

    def impatient(self, patience: timedelta) -> Self:
        """Return the same store for callers who would rather hear that it is busy than wait.

        A write that was given up is not made later, and one that has begun is not given up.

        Args:
            patience: Longest time that an awaited write may wait for its turn, > 0.
        """
        return self._with(patience=patience, lock_name=self._lock_name)

    def locking(self, name: str) -> Self:
        """Return the same database, whose units of work run one at a time with all others of this lock.

        Whatever works for one household gets the store that locks its id. The store as it was opened locks the
        empty name, for what belongs to no household.

        Args:
            name: A household's id, or any other text for what belongs to no household.
        """
        return self._with(patience=self._patience, lock_name=name)

    def _with(self, *, patience: timedelta | None, lock_name: str) -> Self:
        return type(self)(
            self.url,
            writer=self._writer,
            readers=self._readers,
            commits=self._commits,
            patience=patience,
            lock_name=lock_name,
        )

    async def rehearse(self, work: Callable[[Connection], T]) -> T:
        """Run work in a writing transaction that is always undone, and return its result.

        Args:
            work: Its plain values are what it returns; rows it made do not exist afterwards.
        """
        try:
            await self.write(rehearsed(work))
        except RehearsedError as ended:
            return cast("T", ended.result)
        raise InvariantError("a rehearsal was committed")

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one snapshot of the database, beside any writer; it cannot write."""
        return await self._readers.run(work)

    def write_now(self, work: Callable[[Connection], T]) -> T:
        """Run `work` as `write` does, on the calling thread. Never call it on an event loop."""
        return self._writer.run_now(work, self._lock_name)

    def read_now(self, work: Callable[[Connection], T]) -> T:
        """Run `work` as `read` does, on the calling thread. Never call it on an event loop."""
        return self._readers.run_now(work)

    @property
    def is_on_server(self) -> bool:
        """Whether the database is a server's, which several processes may work for."""
        return not engines.is_sqlite(self.url)

    def act_as(self, runner: str | None) -> None:
        """Let all that is claimed through this database from now on name a runner of this process, or none.

        Args:
            runner: Id of the runner, which beats.
        """
        if isinstance(self._writer, ServerWriter):
            self._writer.runner = runner

    @property
    def runner(self) -> str | None:
        """Which runner this process is, if it is one."""
        return self._writer.runner if isinstance(self._writer, ServerWriter) else None

    def watch(self, *topics: Touch, after: timedelta = timedelta(0)) -> CommitWatch:
        """Return a watch on what this process commits, to be used in a `with` block on an event loop.

        Args:
            topics: Pairs of a topic and a household, as `commits.touch` names them.
            after: How long it lets a commit rest before it wakes its waiter, >= 0; `commits.AFTERWARDS` for work
                that nobody waits for.
        """
        return self._commits.watch(*topics, after=after)

    def wake(self, touches: Iterable[Touch]) -> None:
        """Wake who watches these, as a commit of this process would: another one is known to have changed them."""
        self._commits.notify(frozenset(touches))

    def fold_log(self) -> None:
        """Move the write-ahead log into the file and empty it, so that deleted text is gone.

        Deleting overwrites the rows in the file, but the log keeps old pages until it is folded in.
        Blocks; a server does this on its own.

        Raises:
            StoreBusyError: A reader or another process kept the log in use.
        """
        if not engines.is_sqlite(self.url):
            return
        engine = engines.library_engine(self.url, connections=1)
        try:
            with translated(), engine.connect() as connection:
                row = connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).one()
        finally:
            engine.dispose()
        if row[0]:
            raise UnavailableError("the database's log is in use; try again")

    def backup_to(self, path: Path) -> None:
        """Write a consistent, complete, defragmented copy while others read and write. Blocks.

        Args:
            path: A file that does not exist yet; created readable by its owner only.

        Raises:
            ConflictError: The file exists.
            InputError: The database is on a server.
        """
        if not engines.is_sqlite(self.url):
            raise InputError("a PostgreSQL database is backed up with pg_dump")
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError as error:
            raise ConflictError(
                f"{str(path)!r} already exists; a backup never overwrites a file"
            ) from error
        except OSError as error:
            raise UnavailableError(f"cannot write {str(path)!r}: {error.strerror}") from error
        engine = engines.library_engine(self.url, connections=1)
        try:
            with translated(), engine.connect() as connection:
                connection.execute(text("VACUUM INTO :path"), {"path": str(path)})
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            engine.dispose()

    def close(self) -> None:
        """Finish what waits and let go of the database; harmless to repeat. Blocks."""
        self._writer.close()
        self._readers.close()

    def __enter__(self) -> Self:
        """Return the open store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()


def _file_writer(url: URL, commits: CommitSignal, _connections: int) -> _Writer:
    engines.create_file(url)
    writer = GroupCommitWriter(engines.writer_engine(url), commits)
    try:
        writer.run_now(migrate)
    except BaseException:
        writer.close()
        raise
    return writer


def _server_writer(url: URL, commits: CommitSignal, connections: int) -> _Writer:
    # What the migration sees must not date from before it got its lock: no snapshot here.
    plain = engines.library_engine(url, connections=1)
    try:
        with plain.begin() as connection:
            migrate(connection)
    finally:
        plain.dispose()
    engine = engines.server_writer_engine(url, connections=connections)
    return ServerWriter(engine, threads=connections, commits=commits)
