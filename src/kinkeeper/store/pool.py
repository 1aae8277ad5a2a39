"""Transactions on pooled connections: readers of either database, writers of a database server."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from kinkeeper.core.errors import UnavailableError
from kinkeeper.store.commits import CommitSignal, touched
from kinkeeper.store.faults import is_conflict, translated

T = TypeVar("T")


class TransactionPool:
    """Runs each unit of work in a transaction on a connection of its own.

    Args:
        engine: Where the connections come from.
        threads: How many units awaited from event loops may run at once, > 0.
        tries: How often a unit that lost against a concurrent transaction is run, >= 1.
        commits: Told what was committed; None where nothing is written.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        threads: int,
        tries: int = 1,
        commits: CommitSignal | None = None,
    ) -> None:
        self._engine = engine
        self._commits = commits
        self._tries = tries
        self._closed = False
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="store-pool")

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one of the pool's threads; return after its transaction ended.

        Raises:
            StoreBusyError: Still lost against concurrent transactions after the last try.
            UnavailableError: The database cannot be reached, or the store is closed.
        """
        if self._closed:
            raise UnavailableError("the store is closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.run_now, work)

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on the calling thread; return after its transaction ended.

        Raises:
            StoreBusyError: Still lost against concurrent transactions after the last try.
            UnavailableError: The database cannot be reached, or the store is closed.
        """
        if self._closed:
            raise UnavailableError("the store is closed")
        with translated():
            for _ in range(self._tries - 1):
                try:
                    return self._once(work)
                except DBAPIError as error:
                    if not is_conflict(error):
                        raise
            return self._once(work)

    def close(self) -> None:
        """Finish what runs, then end the threads and close the connections."""
        self._closed = True
        self._executor.shutdown(wait=True)
        self._engine.dispose()

    def _once(self, work: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection:
            touched(connection)  # an undone unit before this one may have left some
            with connection.begin():
                value = work(connection)
            if self._commits is not None:
                self._commits.notify(touched(connection))
        return value
