"""How units of work run: in groups on one connection of a file, or each on a pooled one of a server."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from random import uniform  # noqa: TID251 - spreads retries; nothing that is stored depends on it
from threading import Lock
from typing import Any, Protocol, TypeVar

import structlog
from sqlalchemy import Connection, Engine, Transaction
from sqlalchemy.exc import DBAPIError

from kinkeeper.core.errors import InvariantError, KinkeeperError, UnavailableError
from kinkeeper.store.commits import CommitSignal, touched
from kinkeeper.store.engines import close_engine, is_conflict, translated
from kinkeeper.store.locks import act_as, lock

# Transactions on pooled connections, each unit of work in one of its own.

T = TypeVar("T")


class TransactionPool:
    """Runs each unit of work in a transaction on a connection of its own.

    Args:
        threads: How many units awaited from event loops may run at once, > 0.
        commits: Told what was committed; None where nothing is written.
    """

    def __init__(
        self, engine: Engine, *, threads: int, commits: CommitSignal | None = None
    ) -> None:
        self._engine = engine
        self._commits = commits
        self._closed = False
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="store-pool")

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one of the pool's threads; return after its transaction ended."""
        self._check_open()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.run_now, work)

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on the calling thread, again where its connection was lost; return after its transaction ended."""
        self._check_open()
        with translated():
            try:
                return self._fresh(work)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            # A pooled connection was closed while nobody used it; asking first would cost every unit a round trip.
            return self._fresh(work)

    def close(self) -> None:
        """Finish what runs, then end the threads and close the connections."""
        self._closed = True
        self._executor.shutdown(wait=True)
        close_engine(self._engine)

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError("the store is closed")

    def _fresh(self, work: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection:
            return self._once(connection, work)

    def _once(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        touched(connection)  # an undone unit before this one may have left some
        with connection.begin():
            value = work(connection)
        if self._commits is not None:
            self._commits.notify(touched(connection))
        return value


# Writing to a database server: units of one household one after another, those of different
# households in parallel.
#
# Every unit runs in a READ COMMITTED transaction whose first statement takes the advisory lock of
# its household (see `locks`), in whatever process it runs. Within one process the units of a
# household also queue up on one thread, so that a household with many writes, or one whose lock is
# held elsewhere for long, does not use up the connections.

log = structlog.get_logger()

# A unit can still lose: against one that locked another name, or against the job engine's own transactions.
_TRIES = 5
_FIRST_PAUSE_SECONDS = 0.01


class ServerWriter(TransactionPool):
    """Runs each unit of work under the lock of its name, on a connection of its own.

    Args:
        engine: Makes READ COMMITTED transactions.
        threads: How many units awaited from event loops may run at once, > 0.
        commits: Told what was committed.

    Attributes:
        runner: Which runner the process is, if it is one; see `locks.runner_of`.
    """

    def __init__(self, engine: Engine, *, threads: int, commits: CommitSignal) -> None:
        super().__init__(engine, threads=threads, commits=commits)
        self.runner: str | None = None
        self._gate = Lock()
        self._queued: dict[str, deque[Callable[[], None]]] = {}

    async def run(self, work: Callable[[Connection], T], name: str = "") -> T:
        """Run `work` on one of the pool's threads, after the earlier units of this name; return after the commit.

        A unit whose caller was cancelled before it began is skipped.

        Args:
            work: Gets the connection, the lock held.
            name: Of the lock: a household's id, or anything else for what belongs to none.

        Raises:
            StoreBusyError: Lost against concurrent transactions again and again.
        """
        self._check_open()
        future: Future[T] = Future()
        self._queue(name, partial(self._resolve, future, work, name))
        return await asyncio.wrap_future(future)

    def run_now(self, work: Callable[[Connection], T], name: str = "") -> T:
        """Run `work` as `run` does, on the calling thread.

        Args:
            work: Gets the connection, the lock held.

        Raises:
            StoreBusyError: Lost against concurrent transactions again and again.
        """
        self._check_open()
        return self._locked(work, name)

    def _locked(self, work: Callable[[Connection], T], name: str) -> T:
        has_begun = False

        def unit(connection: Connection) -> T:
            nonlocal has_begun
            act_as(connection, self.runner)
            lock(connection, name)
            has_begun = True
            return work(connection)

        with translated():
            for tries in range(1, _TRIES):
                try:
                    return self._fresh(unit)
                except DBAPIError as error:
                    # A pooled connection may have been closed while nobody used it.
                    is_unused = error.connection_invalidated and not has_begun
                    if not (is_unused or is_conflict(error)):
                        raise
                    log.info("store.unit.retried", tries=tries, reason=type(error.orig).__name__)
                _pause(tries)
            return self._fresh(unit)

    def _resolve(self, future: Future[T], work: Callable[[Connection], T], name: str) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(self._locked(work, name))
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
            future.set_exception(error)

    def _queue(self, name: str, unit: Callable[[], None]) -> None:
        with self._gate:
            if name in self._queued:
                self._queued[name].append(unit)
                return
            try:
                self._executor.submit(self._run_first, name)
            except RuntimeError as error:
                raise UnavailableError("the store is closed") from error
            self._queued[name] = deque([unit])

    def _run_first(self, name: str) -> None:
        """Run the first unit of a name; the next one goes to the end of the pool's queue, behind other names."""
        while True:
            with self._gate:
                unit = self._queued[name][0]
            unit()
            with self._gate:
                self._queued[name].popleft()
                if not self._queued[name]:
                    del self._queued[name]
                    return
                with suppress(RuntimeError):  # the pool is closing: what still waits is run here
                    self._executor.submit(self._run_first, name)
                    return


def _pause(tries: int) -> None:
    time.sleep(_FIRST_PAUSE_SECONDS * 2**tries * uniform(0.5, 1.5))  # noqa: S311, TID251 - on a thread of the pool


# Group commit: one connection writes, and what waits together is made durable together.
#
# A commit that survives a power cut costs a sync of the disk. So the writer thread takes everything
# that waits, runs it in one transaction, and answers every caller only after the commit. Where a
# unit fails all of it is undone and run again, each unit in its own savepoint, so that only the
# failing one is lost: savepoints cost every unit something, and few fail. A commit that fails is a
# failure for all.

_LARGEST_GROUP = 256


class _DriverConnection(Protocol):
    """The part of a SQLite connection used past SQLAlchemy."""

    in_transaction: bool

    def execute(self, sql: str) -> object:
        """Run one statement."""
        ...

    def rollback(self) -> None:
        """End the transaction, undoing it."""
        ...


@dataclass(slots=True, kw_only=True)
class _Unit:
    """One caller's work, and what became of it."""

    work: Callable[[Connection], Any]
    future: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop
    value: Any = field(default=None)
    error: BaseException | None = field(default=None)

    def __call__(self, conn: Connection) -> Any:
        """Do the work, unless its caller has given up meanwhile."""
        return None if self.future.cancelled() else self.work(conn)


class GroupCommitWriter:
    """Runs units of work on the one writing connection of a SQLite file, one at a time whatever their lock's name.

    Args:
        engine: As `engines.writer_engine` makes it.
    """

    def __init__(self, engine: Engine, commits: CommitSignal) -> None:
        self._commits = commits
        with translated():
            self._connection = engine.connect()
        self._driver: _DriverConnection = self._connection.connection.driver_connection  # type: ignore[assignment]  # SQLite's, by construction
        self._engine = engine
        self._turn = threading.Lock()
        self._holder: int | None = None
        self._waiting: SimpleQueue[_Unit | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="store-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[Connection], T], _name: str = "") -> T:
        """Run `work` in a transaction shared with whatever else waits; return after the commit.

        A caller that is cancelled while waiting does not learn whether its work was committed.

        Raises:
            UnavailableError: The commit failed, or the store is closed: nothing was written.
        """
        loop = asyncio.get_running_loop()
        unit = _Unit(work=work, future=loop.create_future(), loop=loop)
        with self._gate:
            if self._closed:
                raise UnavailableError("the store is closed")
            self._waiting.put(unit)
        result: T = await unit.future
        return result

    def run_now(self, work: Callable[[Connection], T], _name: str = "") -> T:
        """Run `work` in a transaction of its own on the calling thread; return after the commit.

        Raises:
            UnavailableError: The commit failed, or the store is closed: nothing was written.
        """
        with self._my_turn():
            value = self._alone(work)
            self._commits.notify(touched(self._connection))
        return value

    def close(self) -> None:
        """Finish what waits, then end the thread and close the connection."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._waiting.put(None)
        self._thread.join()
        with self._turn:
            self._connection.close()
            self._engine.dispose()

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if self._holder == threading.get_ident():
            raise InvariantError(
                "a write was started inside another write; pass on the connection instead"
            )
        with self._turn:
            if self._connection.closed:
                raise UnavailableError("the store is closed")
            self._holder = threading.get_ident()
            try:
                with translated():
                    yield
            finally:
                self._holder = None
                # SQLite ends a transaction by itself on a full disk; SQLAlchemy must not linger in it.
                if self._connection.in_transaction() or self._driver.in_transaction:
                    self._connection.rollback()
                    self._driver.rollback()

    def _alone(self, work: Callable[[Connection], T]) -> T:
        with self._connection.begin() as transaction:
            value = work(self._connection)
            _require_open(transaction)
        return value

    def _serve(self) -> None:
        while (first := self._waiting.get()) is not None:
            units, last = self._drain(first)
            self._commit([unit for unit in units if not unit.future.cancelled()])
            _answer(units)
            if last:
                return

    def _drain(self, first: _Unit) -> tuple[list[_Unit], bool]:
        units = [first]
        with suppress(Empty):
            while len(units) < _LARGEST_GROUP:
                unit = self._waiting.get_nowait()
                if unit is None:
                    return units, True
                units.append(unit)
        return units, False

    def _commit(self, units: Sequence[_Unit]) -> None:
        try:
            with self._my_turn():
                if len(units) == 1:
                    units[0].value = self._alone(units[0])
                elif units:
                    self._together(units)
                self._commits.notify(touched(self._connection))
        except BaseException as error:  # noqa: BLE001 - handed to the callers, each of whom raises it
            for unit in units:
                unit.error = unit.error or error

    def _together(self, units: Sequence[_Unit]) -> None:
        if not self._as_one(units):
            self._each_apart(units)

    def _as_one(self, units: Sequence[_Unit]) -> bool:
        """Run units in one transaction; False, and nothing written, where one fails."""
        with self._connection.begin() as transaction:
            try:
                for unit in units:
                    unit.value = unit(self._connection)
            except BaseException:  # noqa: BLE001 - it is met again where each runs apart
                _require_open(transaction)
                transaction.rollback()
                return False
            _require_open(transaction)
        return True

    def _each_apart(self, units: Sequence[_Unit]) -> None:
        with self._connection.begin() as transaction:
            for unit in units:
                self._driver.execute("SAVEPOINT unit")
                try:
                    with translated():
                        unit.value = unit(self._connection)
                except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
                    unit.error = error
                if not (transaction.is_active and self._driver.in_transaction):
                    raise UnavailableError(
                        "the transaction was lost; nothing was written, try again"
                    )
                if unit.error is not None:
                    self._driver.execute("ROLLBACK TO unit")
                self._driver.execute("RELEASE unit")


def _require_open(transaction: Transaction) -> None:
    if not transaction.is_active:
        raise InvariantError("a unit of work ended the transaction it was given")


def _answer(units: Sequence[_Unit]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Unit]] = {}
    for unit in units:
        by_loop.setdefault(unit.loop, []).append(unit)
    for loop, group in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, group)


def _settle(units: Sequence[_Unit]) -> None:
    for unit in units:
        if unit.future.done():
            continue
        if unit.error is None:
            unit.future.set_result(unit.value)
        else:
            unit.future.set_exception(_own_copy(unit.error))


def _own_copy(error: BaseException) -> BaseException:
    """Return an error that one caller may raise without growing the traceback of another's."""
    if not isinstance(error, KinkeeperError):
        return error
    copy = type(error).__new__(type(error), *error.args)
    copy.__dict__.update(error.__dict__)
    copy.args = error.args
    copy.__cause__ = error.__cause__
    return copy
