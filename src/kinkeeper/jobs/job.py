"""What a kind of work is, and the worker that looks at its rows itself. Loads no engine."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

import structlog
from sqlalchemy import Connection, Table

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import Key, LeaseLostError, RetryLadder, Stranded, WorkState
from kinkeeper.jobs.runners import WORK_LEFT
from kinkeeper.observability.failures import repeat, surviving
from kinkeeper.observability.log import without_message_text
from kinkeeper.store.commits import AFTERWARDS, Touch
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store

Handler = Callable[[Key, int], Awaitable[None]]
"""Does the work of a claimed row, given its key and the epoch to finish it under."""

Line = Callable[[Connection, Key, datetime], Key | None]
"""Finds the first row, due by now and unfinished, of the line that a row stands in; None: no such row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One kind of work.

    Attributes:
        name: Stored in the queue with every dispatch: never change it.
        table: Where its rows are; has `leases.work_columns`.
        handler: Does the work. It calls `leases.finish` in the transaction that writes the effect,
            and raises where the work failed.
        lease: Longest time one run may take; it is cancelled then, and another worker may claim
            the row.
        household: Whose rows it works on; those of others in the table are left alone.
        line: Where rows have an order: rows of one line are worked on one at a time, the first of
            them first, whichever was dispatched.
        is_awaited: Whether somebody waits for it: it does not queue for a free worker behind other work.
    """

    name: str
    table: Table
    handler: Handler
    lease: timedelta = timedelta(minutes=5)
    household: str | None = None
    line: Line | None = None
    is_awaited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a process that runs jobs looks for something to do.

    Attributes:
        ladder: When failed work is tried again.
        poll_every: Looks into the queue for what other processes have left, each for about three
            milliseconds of CPU; what the process itself leaves there it takes at once.
        reconcile_every: Looks for stranded work.
        upkeep_every: Looks for what only the clock makes due.
    """

    ladder: RetryLadder = field(default_factory=RetryLadder)
    poll_every: timedelta = timedelta(seconds=5)
    reconcile_every: timedelta = timedelta(seconds=60)
    upkeep_every: timedelta = timedelta(seconds=5)


class Enqueuer(Protocol):
    """Enqueues dispatches in the caller's transaction; `queue.JobQueue` is the one that does."""

    def enqueue(
        self,
        conn: Connection,
        job: str,
        key: Key,
        *,
        attempt: int = 1,
        delay: timedelta = timedelta(0),
    ) -> None:
        """Enqueue one dispatch of a row's work, to be run once the transaction commits."""
        ...


log = structlog.get_logger()


class RowWorker:
    """Works for one household, a row at a time."""

    def __init__(self, store: Store, job: Job, *, topic: Touch, clock: Clock, pace: Pace) -> None:
        self._store = store.locking(job.household or "")
        self._job = job
        self._topic = topic
        self._clock = clock
        self._pace = pace

    async def run(self) -> None:
        """Work until cancelled."""
        await self.take_over()
        with self._store.watch(self._topic, WORK_LEFT, after=AFTERWARDS) as watch:
            rest = partial(watch.wait, self._pace.reconcile_every.total_seconds())
            await repeat(self.run_once, rest, name=self._job.name)

    async def take_over(self) -> None:
        """Take over what another process had begun, where this one alone works for the database."""
        if is_sqlite(self._store.url):
            now, table = self._clock.now(), self._job.table
            with surviving(self._job.name):
                await self._store.write(lambda conn: leases.end_leases(conn, table, now=now))

    async def run_once(self) -> int:
        """Do what is due by now; returns how many rows were worked on.

        Raises:
            UnavailableError: The database cannot be reached; the rest stays as it is.
        """
        job, now = self._job, self._clock.now()
        rows = await self._store.read(
            lambda conn: leases.stranded(conn, job.table, now=now, household=job.household)
        )
        return sum([await self._work_off(row) for row in rows])

    async def _work_off(self, row: Stranded) -> bool:
        epoch = await self._store.write(partial(self._claim, row=row))
        if epoch is None:
            return False
        job, key = self._job, row.key
        try:
            async with asyncio.timeout(job.lease.total_seconds()):
                await job.handler(key, epoch)
        except (asyncio.CancelledError, UnavailableError):
            # The work is not to blame.
            until = self._clock.now()
            await self._store.write(
                lambda conn: leases.release(conn, job.table, key, epoch, until=until)
            )
            raise
        except LeaseLostError:
            log.warning("jobs.lease.lost", job=job.name)
        except Exception as error:  # noqa: BLE001 - the boundary of the worker: recorded on the row
            await self._failed(row, epoch, without_message_text(error))
        return True

    def _claim(self, conn: Connection, row: Stranded) -> int | None:
        """Take a row that is the first of its line; one that was begun too often goes to a person."""
        job, now = self._job, self._clock.now()
        if job.line is not None and job.line(conn, row.key, now) != row.key:
            return None
        if row.begun:
            step = leases.dispatch_again(
                conn, job.table, row, until=now + job.lease, ladder=self._pace.ladder
            )
            if step is None or step.state is not WorkState.QUEUED:
                return None
        return leases.claim(conn, job.table, row.key, now=now, lease=job.lease)

    async def _failed(self, row: Stranded, epoch: int, reason: str) -> None:
        job, now = self._job, self._clock.now()
        step = await self._store.write(
            lambda conn: leases.fail(
                conn, job.table, row.key, epoch, error=reason, now=now, ladder=self._pace.ladder
            )
        )
        if step is not None and step.state is WorkState.MANUAL_REVIEW:
            log.error("jobs.job.gave_up", job=job.name, attempt=step.attempt, reason=reason)
        else:
            log.warning("jobs.job.failed", job=job.name, reason=reason)
