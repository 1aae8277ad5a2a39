"""Transactions on pooled connections, each unit of work in one of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from kinkeeper.core.errors import UnavailableError
from kinkeeper.store.commits import CommitSignal, touched
from kinkeeper.store.engines import close_engine
from kinkeeper.store.faults import translated

T = TypeVar("T")


class TransactionPool:
    """Runs each unit of work in a transaction on a connection of its own.

    Args:
        engine: Where the connections come from.
        threads: How many units awaited from event loops may run at once, > 0.
        commits: Told what was committed; None where nothing is written.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        threads: int,
        commits: CommitSignal | None = None,
    ) -> None:
        self._engine = engine
        self._commits = commits
        self._closed = False
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="store-pool")

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one of the pool's threads; return after its transaction ended.

        Raises:
            UnavailableError: The database cannot be reached, or the store is closed.
        """
        self._check_open()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.run_now, work)

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on the calling thread, again where its connection was lost; return after its transaction ended.

        Raises:
            UnavailableError: The database cannot be reached, or the store is closed.
        """
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
