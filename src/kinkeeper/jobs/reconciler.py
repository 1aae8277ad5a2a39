"""Finds work that nobody works on, and dispatches it again: after crashes, lost or refused dispatches."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection

from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Stranded, WorkState
from kinkeeper.jobs.queue import JobQueue, Waiting, dispatch_id
from kinkeeper.jobs.retry import RetryLadder
from kinkeeper.jobs.runners import living
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
        ladder: How often work may be begun.
        in_hand: Dispatches that this process has taken from the queue, as they are at any moment.
    """

    def __init__(
        self,
        store: Store,
        queue: JobQueue,
        jobs: Sequence[Job],
        *,
        clock: Clock,
        ladder: RetryLadder,
        in_hand: Collection[str],
    ) -> None:
        self._store = store
        self._queue = queue
        self._jobs = jobs
        self._clock = clock
        self._ladder = ladder
        self._in_hand = in_hand

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
        rows = await self._store.read(
            lambda conn: leases.stranded(conn, job.table, now=now, household=job.household)
        )
        if not rows:
            return 0
        ids = [dispatch_id(job.name, row.key, row.attempt) for row in rows]
        waiting = await asyncio.to_thread(self._queue.waiting, ids)
        alive = await self._store.read(living)
        patient: list[Stranded] = []
        lost: list[Stranded] = []
        for row, id_ in zip(rows, ids, strict=True):
            dispatch = waiting.get(id_)
            is_dead = self._store.is_on_server and not (dispatch and dispatch.executor in alive)
            waits = _waits(row, dispatch, in_hand=id_ in self._in_hand, is_dead=is_dead)
            (patient if waits else lost).append(row)

        def settle(conn: Connection) -> int:
            for row in patient:
                leases.postpone(conn, job.table, row, until=now + _PATIENCE)
            return sum(self._dispatch(conn, job, row, now) for row in lost)

        moved = await self._store.locking(job.household or "").write(settle)
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


def _waits(row: Stranded, dispatch: Waiting | None, *, in_hand: bool, is_dead: bool) -> bool:
    """Whether the row's dispatch is still in the queue, or waits for a worker in a process that is alive.

    Args:
        row: The row.
        dispatch: Its dispatch, unless that has ended.
        in_hand: Whether this process has taken the dispatch.
        is_dead: Whether the process that has taken it is known to be dead. Where that is not known, and where
            another one has it, it gets time once.
    """
    if row.state is WorkState.RUNNING or dispatch is None:
        return False
    if dispatch.status == "DELAYED":
        # Past its time: it is about to run, unless the clock was set back since.
        return not row.waited
    if dispatch.status != "PENDING":
        return True
    return in_hand or not (is_dead or row.waited)
