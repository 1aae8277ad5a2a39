"""Finds work that nobody works on, and dispatches it again: after crashes, lost or refused dispatches."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Stranded, WorkState
from kinkeeper.jobs.queue import JobQueue, dispatch_id
from kinkeeper.jobs.retry import RetryLadder
from kinkeeper.store.store import Store

log = structlog.get_logger()

_PATIENCE = timedelta(minutes=5)


class Reconciler:
    """Compares the rows of work with the queue.

    Args:
        store: Where the rows are.
        queue: Where their dispatches are.
        jobs: The kinds of work to look after.
        clock: Tells which leases ran out.
        ladder: How many dispatches a row may have.
    """

    def __init__(
        self,
        store: Store,
        queue: JobQueue,
        jobs: Sequence[Job],
        *,
        clock: Clock,
        ladder: RetryLadder,
    ) -> None:
        self._store = store
        self._queue = queue
        self._jobs = jobs
        self._clock = clock
        self._ladder = ladder

    async def run_once(self) -> int:
        """Dispatch again every row that is due, under no lease, and not waiting in the queue.

        Several processes may do this at once; each row is moved on by one of them.

        Returns:
            How many rows got a new dispatch or were handed to a person.
        """
        return sum([await self._look_after(job) for job in self._jobs])

    async def end_leases(self) -> None:
        """Treat every running row as stranded: for a runner that knows that it is the only one."""
        now = self._clock.now()

        def end_all(conn: Connection) -> None:
            for job in self._jobs:
                leases.end_leases(conn, job.table, now=now)

        await self._store.write(end_all)

    async def _look_after(self, job: Job) -> int:
        now = self._clock.now()
        rows = await self._store.read(lambda conn: leases.stranded(conn, job.table, now=now))
        if not rows:
            return 0
        ids = [dispatch_id(job.name, row.key, row.attempt) for row in rows]
        waiting = await asyncio.to_thread(self._queue.waiting, ids)
        patient = [
            row for row, id_ in zip(rows, ids, strict=True) if _is_waiting(row, waiting.get(id_))
        ]
        lost = [row for row in rows if row not in patient]

        def settle(conn: Connection) -> int:
            for row in patient:
                leases.postpone(conn, job.table, row, until=now + _PATIENCE)
            return sum(self._dispatch(conn, job, row, now) for row in lost)

        moved = await self._store.write(settle)
        if moved:
            log.warning("jobs.reconciler.dispatched", job=job.name, rows=moved)
        return moved

    def _dispatch(self, conn: Connection, job: Job, row: Stranded, now: datetime) -> bool:
        step = leases.dispatch_again(
            conn, job.table, row, until=now + _PATIENCE, ladder=self._ladder
        )
        if step is not None and step.state is WorkState.QUEUED:
            self._queue.enqueue(conn, job.name, row.key, attempt=step.attempt)
        return step is not None


def _is_waiting(row: Stranded, status: str | None) -> bool:
    """Whether the queue still holds the row's dispatch; a taken one would have claimed the row."""
    return row.state is WorkState.QUEUED and status in {"ENQUEUED", "DELAYED"}
