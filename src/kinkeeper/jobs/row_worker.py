"""Works off rows of one kind by looking at them, without the engine's queue.

For work that comes with every turn of a conversation, takes a millisecond and is awaited by nobody: a dispatch
through the queue costs several times as much, a part of it before the answer. Claims, tries and handing over to
a person are those of `leases`.
"""

import asyncio
from functools import partial

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job, Pace
from kinkeeper.jobs.leases import LeaseLostError, Stranded, WorkState
from kinkeeper.jobs.runners import WORK_LEFT
from kinkeeper.observability.failures import repeat, surviving
from kinkeeper.observability.log import without_message_text
from kinkeeper.store.commits import AFTERWARDS, Touch
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store

log = structlog.get_logger()


class RowWorker:
    """Works for one household, a row at a time.

    Args:
        topic: What commits touch that leave such rows.
        pace: When failed work is tried again, and how often to look for what is due or left by others.
    """

    def __init__(self, store: Store, job: Job, *, topic: Touch, clock: Clock, pace: Pace) -> None:
        self._store = store.locking(job.household or "")
        self._job = job
        self._topic = topic
        self._clock = clock
        self._pace = pace

    async def run(self) -> None:
        """Work until cancelled.

        Where this process alone works for the database, what another had begun is taken over at once.
        """
        if is_sqlite(self._store.url):
            now, table = self._clock.now(), self._job.table
            with surviving(self._job.name):
                await self._store.write(lambda conn: leases.end_leases(conn, table, now=now))
        with self._store.watch(self._topic, WORK_LEFT, after=AFTERWARDS) as watch:
            rest = partial(watch.wait, self._pace.reconcile_every.total_seconds())
            await repeat(self.run_once, rest, name=self._job.name)

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
