"""Runs the jobs: takes dispatches from the engine's queue, claims their rows, calls the handlers.

A handler gets a claimed row's key and epoch, does its work outside any transaction, and writes the
effect in one transaction that finishes the row under that epoch. Whatever it raises is a failure:
the row is tried again later or handed to a person. A dispatch that finds its row moved on does
nothing, so running one twice is harmless.
"""

import asyncio
import concurrent.futures
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager, nullcontext
from datetime import timedelta

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job, Line
from kinkeeper.jobs.leases import Key, LeaseLostError, RetryLadder, WorkState
from kinkeeper.jobs.library import (
    DBOS,
    DBOSConfig,
    database_internals,
    engine_internals,
    queue_internals,
    upkeep_internals,
)
from kinkeeper.jobs.queue import (
    APPLICATION,
    CONTRACT_VERSION,
    TOPIC,
    JobQueue,
    JsonSerializer,
    Reconciler,
    dispatch_id,
    key_of,
)
from kinkeeper.jobs.runners import WORK_LEFT, announce_work
from kinkeeper.observability.failures import surviving
from kinkeeper.observability.log import without_message_text
from kinkeeper.store.commits import AFTERWARDS, CommitWatch
from kinkeeper.store.locks import runner_lock
from kinkeeper.store.store import Store

# Keeps the job engine from working while there is nothing to do, and calls it when there is.
#
# On its own it looks into every queue at fixed intervals, once a second into one for features that
# are not used here, once a second for queues it does not know yet, once a second for messages
# between dispatches, and once a second for delayed dispatches whose time has come; together that is
# most of what an idle process costs. It has no settings for it.

_UNUSED_QUEUE_SECONDS = 3600.0
_UNKNOWN_QUEUES_SECONDS = 300.0
_LOOKING = "queue-worker-"  # how the engine names the thread that looks into a queue


class Bell(threading.Event):
    """What the engine's threads wait on to be stopped; those that look into queues can also be called.

    Args:
        lines: Names of the queues that are looked into when it rings for them.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__()
        self._called = {_LOOKING + line: threading.Event() for line in lines}

    def ring(self, line: str) -> None:
        """Let one queue be looked into now, or once more where that is under way."""
        self._called[_LOOKING + line].set()

    def set(self) -> None:
        """Stop all threads."""
        super().set()
        for called in self._called.values():
            called.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait to be stopped, in the thread of a queue also to be called; returns whether to stop."""
        name = threading.current_thread().name
        called = self._called.get(name)
        if called is not None:
            called.wait(timeout)
            called.clear()
            return self.is_set()
        if timeout is not None and not name.startswith(_LOOKING):
            timeout = max(timeout, _UNKNOWN_QUEUES_SECONDS)
        return super().wait(timeout)


def make_quiet(engine: DBOS, *, lines: Iterable[str], delayed_every: timedelta) -> Bell:
    """Set the engine's fixed intervals; call it before the launch.

    Args:
        engine: Not launched yet.
        lines: The queues it is to look into.
        delayed_every: How often it looks for delayed dispatches whose time has come.

    Returns:
        What to ring when something was put into a queue.
    """
    unused = engine._registry.get_internal_queue()  # noqa: SLF001 - no setting for it
    unused._polling_interval_sec = _UNUSED_QUEUE_SECONDS  # noqa: SLF001 - no setting for it
    upkeep_internals._BACKGROUND_JOBS_INTERVAL_SEC = delayed_every.total_seconds()  # noqa: SLF001 - no setting for it
    # No dispatch waits for a message of another one; the listener would look for some once a second, to the last.
    database_internals.SystemDatabase.run_notification_listener = _hear_nothing  # type: ignore[assignment, method-assign]  # no setting for it
    bell = Bell(lines)
    engine.background_thread_stop_events.append(bell)

    def look(_stop_event: threading.Event, dbos: DBOS) -> None:
        queue_internals.queue_thread(bell, dbos)

    engine_internals.queue_thread = look  # type: ignore[attr-defined, assignment]  # no setting for it
    return bell


def _hear_nothing(_database: object) -> None:
    """Listen for no messages."""


log = structlog.get_logger()

_KEPT = timedelta(days=7)
_BETWEEN_DELETIONS = timedelta(days=1)

# Under load a look finds several dispatches; it costs as much for one.
_BETWEEN_CALLS_SECONDS = 0.2

# Dispatches that wait in this process for a free worker: the queue is only looked at now and then.
_TAKEN_AHEAD = 16

# Failed work waits half a minute and more for its next try; it need not be looked for as often.
_DELAYED_POLLS = 3

_CLOCKS_DIFFER = timedelta(minutes=1)

_BETWEEN_LAST_LOOKS_SECONDS, _LAST_LOOKS = 0.01, 3000

# The engine underneath is one object a process.
_ONE_RUNNER = threading.Lock()


class _HandedBackError(BaseException):
    """Ends a dispatch without an outcome, so that the engine runs it again after the next start."""


class JobEngine:
    """The job runner of this process; there can be one at a time.

    Args:
        workers: Most handlers at once, > 0, not counting those of work that somebody waits for.
        ladder: When failed work is tried again.
        reconcile_every: How often stranded work is looked for.
        poll_every: How often the queue is looked at for what other processes have left; costs about
            three milliseconds of CPU each. What this process leaves is looked for at once.
        grace: How long running handlers may go on after the end, before they are handed back.
        lock_held_in: Holds the lock of a SQLite file until it is closed, so that no other process begins before
            this one has written its last; where None, the lock is given back when the runner stops.
    """

    def __init__(
        self,
        store: Store,
        queue: JobQueue,
        jobs: Sequence[Job],
        *,
        clock: Clock,
        workers: int,
        ladder: RetryLadder | None = None,
        reconcile_every: timedelta = timedelta(seconds=60),
        poll_every: timedelta = timedelta(seconds=5),
        grace: timedelta = timedelta(seconds=10),
        lock_held_in: ExitStack | None = None,
    ) -> None:
        self._store = store
        self._queue = queue
        self._jobs = tuple(jobs)
        self._clock = clock
        self._workers = workers
        self._ladder = RetryLadder() if ladder is None else ladder
        self._reconcile_every = reconcile_every
        self._poll_every = poll_every
        self._grace = grace
        self._lock_held_in = lock_held_in
        self._active: set[asyncio.Task[None] | None] = set()
        self._in_hand: set[str] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._slots = asyncio.Semaphore(workers)
        self._stopping = False
        self._engine: DBOS | None = None
        self._bell: Bell | None = None
        self.reconciler = Reconciler(
            store, queue, self._jobs, clock=clock, ladder=self._ladder, in_hand=self._in_hand
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run jobs on this event loop for the length of the block.

        At the end no new work is taken; handlers that run get `grace`, then are cancelled and their
        rows handed back.

        Raises:
            ConflictError: Another process runs the jobs of this SQLite file.
        """
        with ExitStack() as held:
            if not _ONE_RUNNER.acquire(blocking=False):
                raise InvariantError("this process is already running jobs; stop that engine first")
            held.callback(_ONE_RUNNER.release)
            if not self._store.is_on_server:
                holder = held if self._lock_held_in is None else self._lock_held_in
                holder.enter_context(runner_lock(str(self._store.url.database)))
                await self.reconciler.end_leases()
            await self.reconciler.run_once()
            # From before the first look on: what is committed in between would wait for the next look.
            watches = {
                line: held.enter_context(self._store.watch((TOPIC, line), after=AFTERWARDS))
                for line in self._queue.lines
            }
            try:
                bell = await asyncio.to_thread(self._launch, asyncio.get_running_loop())
                self._bell = bell
                async with asyncio.TaskGroup() as tasks:
                    running = [tasks.create_task(self._keep_up())]
                    running += [
                        tasks.create_task(self._call(bell, line, watch))
                        for line, watch in watches.items()
                    ]
                    try:
                        yield
                    finally:
                        for task in running:
                            task.cancel()
            finally:
                await self._stop()

    def _launch(self, loop: asyncio.AbstractEventLoop) -> Bell:
        """Start the engine from a thread without an event loop, so that it leaves ours alone."""
        engine = DBOS(
            config=DBOSConfig(
                name=APPLICATION,
                system_database_engine=self._queue.engine,
                application_version=CONTRACT_VERSION,
                executor_id=_executor_id(self._store, self._queue),
                serializer=JsonSerializer(),
                run_migrations=False,
                log_level="WARNING",
                enable_otlp=False,
                scheduler_polling_interval_sec=3600.0,
            )
        )
        self._engine = engine
        for name in dict.fromkeys(job.name for job in self._jobs):
            self._register(name, loop)
        self._queue.set_limits(taken=self._workers + _TAKEN_AHEAD, poll_every=self._poll_every)
        DBOS.listen_queues(list(self._queue.lines))
        bell = make_quiet(
            engine, lines=self._queue.lines, delayed_every=_DELAYED_POLLS * self._poll_every
        )
        DBOS.launch()
        return bell

    def _register(self, name: str, loop: asyncio.AbstractEventLoop) -> None:
        jobs = {job.household: job for job in self._jobs if job.name == name}

        @DBOS.workflow(name=name)
        def dispatch(text: str, attempt: int) -> None:
            key = key_of(text)
            job = jobs.get(key[0], jobs.get(None))
            if job is None:  # left by a process that worked for other households too
                raise _HandedBackError
            work = self._perform(job, key, attempt)
            try:
                asyncio.run_coroutine_threadsafe(work, loop).result()
            except concurrent.futures.CancelledError as error:
                raise _HandedBackError from error

    async def _perform(self, job: Job, key: Key, attempt: int) -> None:
        task, dispatch = asyncio.current_task(), dispatch_id(job.name, key, attempt)
        self._active.add(task)
        self._in_hand.add(dispatch)
        self._idle.clear()
        try:
            async with nullcontext() if job.is_awaited else self._slots:
                await self._work_off(job, key, attempt)
        finally:
            self._active.discard(task)
            self._in_hand.discard(dispatch)
            if not self._active:
                self._idle.set()

    async def _work_off(self, job: Job, key: Key, attempt: int) -> None:
        """Do a row's work or, where rows stand in line, that of the whole line from its first row on.

        Who finds the first row in other hands may leave: those hands go on with the line.
        """
        if job.line is None:
            await self._claimed(job, key, attempt=attempt)
            return
        while (first := await self._first_in_line(job.line, key)) is not None:
            if not await self._claimed(job, first, attempt=attempt if first == key else None):
                return

    async def _first_in_line(self, line: Line, key: Key) -> Key | None:
        now = self._clock.now()
        return await self._store.read(lambda conn: line(conn, key, now))

    async def _claimed(self, job: Job, key: Key, *, attempt: int | None) -> bool:
        """Claim a row and do its work; returns whether a next one may be worth a look."""
        if self._stopping:
            raise asyncio.CancelledError
        now = self._clock.now()
        epoch = await self._own(job).write(
            lambda conn: leases.claim(
                conn, job.table, key, now=now, lease=job.lease, attempt=attempt
            )
        )
        if epoch is None:
            return False
        try:
            async with asyncio.timeout(job.lease.total_seconds()):
                await job.handler(key, epoch)
            await self._store.read(lambda conn: _expect_finished(conn, job, key, epoch))
        except asyncio.CancelledError:
            await self._hand_back_at_end(job, key, epoch)
            raise
        except UnavailableError as error:
            # The work is not to blame: however long that lasts, nothing goes to a person for it.
            log.warning("jobs.job.postponed", job=job.name, reason=without_message_text(error))
            await self._hand_back(job, key, epoch, wait=self._reconcile_every)
            return False
        except LeaseLostError:
            log.warning("jobs.lease.lost", job=job.name, attempt=attempt)
        except Exception as error:  # noqa: BLE001 - the boundary of the job runner: recorded on the row
            await self._failed(job, key, epoch, error)
        return True

    async def _failed(self, job: Job, key: Key, epoch: int, error: Exception) -> None:
        now = self._clock.now()
        reason = without_message_text(error)

        def record(conn: Connection) -> leases.NextStep | None:
            step = leases.fail(
                conn, job.table, key, epoch, error=reason, now=now, ladder=self._ladder
            )
            if step is not None and step.delay is not None:
                self._queue.enqueue(conn, job.name, key, attempt=step.attempt, delay=step.delay)
            return step

        step = await self._own(job).write(record)
        state = None if step is None else step.state.value
        if step is not None and step.state is WorkState.MANUAL_REVIEW:
            log.error("jobs.job.gave_up", job=job.name, attempt=step.attempt, reason=reason)
        else:
            log.warning("jobs.job.failed", job=job.name, state=state, reason=reason)

    async def _hand_back(self, job: Job, key: Key, epoch: int, *, wait: timedelta) -> None:
        until = self._clock.now() + wait
        await self._own(job).write(
            lambda conn: leases.release(conn, job.table, key, epoch, until=until)
        )

    async def _hand_back_at_end(self, job: Job, key: Key, epoch: int) -> None:
        if not self._store.is_on_server:
            # The engine begins the same dispatch again at the next start.
            await self._hand_back(job, key, epoch, wait=job.lease)
            return
        await self._hand_back(job, key, epoch, wait=-_CLOCKS_DIFFER)
        await self._own(job).write(announce_work)

    def _own(self, job: Job) -> Store:
        return self._store.locking(job.household or "")

    async def _call(self, bell: Bell, line: str, watch: CommitWatch) -> None:
        """Let a queue be looked into when this process has committed work for it."""
        while True:
            if await watch.wait(self._reconcile_every.total_seconds()):
                with surviving("jobs.bell"):
                    bell.ring(line)
                await asyncio.sleep(_BETWEEN_CALLS_SECONDS)

    async def _keep_up(self) -> None:
        next_deletion = self._clock.now()
        with self._store.watch(WORK_LEFT) as watch:
            while True:
                await watch.wait(self._reconcile_every.total_seconds())
                now = self._clock.now()
                with surviving("jobs.upkeep"):
                    await self.reconciler.run_once()
                    if now >= next_deletion:
                        await asyncio.to_thread(self._queue.delete_finished, now - _KEPT)
                        next_deletion = now + _BETWEEN_DELETIONS

    async def _stop(self) -> None:
        self._stopping = True
        if self._bell is not None:
            self._bell.set()
        try:
            async with asyncio.timeout(self._grace.total_seconds()):
                await self._idle.wait()
        except TimeoutError:
            for task in filter(None, self._active):
                task.cancel()
            await self._idle.wait()
        await asyncio.to_thread(_destroy, self._engine)


def _expect_finished(conn: Connection, job: Job, key: Key, epoch: int) -> None:
    if leases.holds(conn, job.table, key, epoch):
        raise InvariantError(f"the handler of {job.name} returned without finishing its row")


def _destroy(engine: DBOS | None) -> None:
    # On its own the engine looks once a second whether the last dispatches have recorded their end.
    for _ in range(_LAST_LOOKS):
        if engine is None or not engine._active_workflows_set.activeList():  # noqa: SLF001 - no setting for it
            break
        time.sleep(_BETWEEN_LAST_LOOKS_SECONDS)  # noqa: TID251 - on a thread of its own
    DBOS.destroy(destroy_registry=True)


def _executor_id(store: Store, queue: JobQueue) -> str:
    """Name this process: on a file there is one runner, which takes over what the last one left."""
    if store.is_on_server:
        return store.runner or f"{socket.gethostname()}:{os.getpid()}"
    return "/".join(["embedded", *sorted(queue.households)])
