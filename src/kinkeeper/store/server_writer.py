"""Writing to a database server: units of one household one after another, those of different households in parallel.

Every unit runs in a READ COMMITTED transaction whose first statement takes the advisory lock of its household (see
`locks`), in whatever process it runs. Within one process the units of a household also queue up on one thread, so
that a household with many writes, or one whose lock is held elsewhere for long, does not use up the connections.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from random import uniform  # noqa: TID251 - spreads retries; nothing that is stored depends on it
from threading import Lock
from typing import TypeVar

import structlog
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from kinkeeper.core.errors import UnavailableError
from kinkeeper.store.commits import CommitSignal
from kinkeeper.store.faults import is_conflict, translated
from kinkeeper.store.locks import act_as, lock
from kinkeeper.store.pool import TransactionPool

T = TypeVar("T")

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
            UnavailableError: The database cannot be reached, or the store is closed.
        """
        self._check_open()
        future: Future[T] = Future()
        self._queue(name, partial(self._resolve, future, work, name))
        return await asyncio.wrap_future(future)

    def run_now(self, work: Callable[[Connection], T], name: str = "") -> T:
        """Run `work` as `run` does, on the calling thread.

        Args:
            work: Gets the connection, the lock held.
            name: Of the lock.

        Raises:
            StoreBusyError: Lost against concurrent transactions again and again.
            UnavailableError: The database cannot be reached, or the store is closed.
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
