"""The engine's queue in our own database: enqueued with the row, and again where nobody works on it."""

import asyncio
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NoReturn
from urllib.parse import quote, unquote

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import DeniedError, InvariantError
from kinkeeper.core.time import Clock, to_text
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, RetryLadder, Stranded, WorkState
from kinkeeper.jobs.library import DBOS, DBOSClient, DefaultSerializer, EnqueueOptions, Serializer
from kinkeeper.jobs.runners import living
from kinkeeper.observability.log import route_library_log
from kinkeeper.store.commits import touch
from kinkeeper.store.engines import close_engine, library_engine, translated
from kinkeeper.store.store import Store

# What the job engine may write into and read from its tables: JSON, never pickled objects.
#
# Unpickling runs code, so whoever can write the database file could run code here. The engine picks
# the unpickler by a column of the row, whatever serializer it is given; hence it is taken out
# altogether.


class JsonSerializer(Serializer):
    """Plain JSON; of an error only its type is kept, since its text may quote a message."""

    def serialize(self, data: Any) -> str:
        """Return the JSON text of ids and small scalars.

        Raises:
            InvariantError: Something else was given to a job.
        """
        return json.dumps(data, default=_plain, separators=(",", ":"))

    def deserialize(self, serialized_data: str) -> Any:
        """Return the value of a JSON text."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Return the name stored beside every value; never change it."""
        return "kinkeeper_json"


def refuse_pickles() -> None:
    """Make the engine unable to unpickle anything, in the whole process."""
    DefaultSerializer.deserialize = _refuse  # type: ignore[assignment, method-assign]  # no setting turns it off


def _refuse(_serializer: object, _text: str) -> NoReturn:
    raise DeniedError("a job's stored value is a pickled object, which could run code; not read")


def _plain(value: object) -> object:
    if isinstance(value, BaseException):
        return {"error": type(value).__name__}
    raise InvariantError(f"a job takes ids only, not a {type(value).__name__}")


APPLICATION = "kinkeeper"
QUEUE = "kinkeeper"

# What commits say that leave work, with the name of the line.
TOPIC = "work"

# A contract between rows and code, not a release: jobs enqueued under another number stay still.
CONTRACT_VERSION = "1"

_WAITING: list[str] = ["ENQUEUED", "DELAYED", "PENDING"]
_FINISHED: list[str] = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_DELETED_AT_ONCE = 500
_CONNECTIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A dispatch in the queue.

    Attributes:
        status: ENQUEUED, DELAYED, or PENDING: taken by a process.
        executor: Which process took it: on a database server, the id of its runner.
    """

    status: str
    executor: str | None


class JobQueue:
    """Enqueues work; any process may, not only the one that runs the jobs.

    Making one brings the engine's own tables up to date, which blocks and must happen outside a
    transaction.

    Args:
        store: Its database also holds the engine's tables.
        households: Whose work it carries: each has a line of its own, so that the worker of one never
            takes another's. None named: whatever there is.
    """

    def __init__(self, store: Store, *households: str) -> None:
        self.households = households
        refuse_pickles()
        route_library_log("dbos", "jobs.engine.reported")
        self.engine = library_engine(store.url, connections=_CONNECTIONS)
        with translated():
            DBOS.migrate(store.url.render_as_string(hide_password=False))
        self._client = DBOSClient(
            system_database_engine=self.engine,
            serializer=JsonSerializer(),
            application_name=APPLICATION,
            lazy=True,
        )

    @property
    def lines(self) -> Sequence[str]:
        """The names of its lines in the database."""
        return [f"{QUEUE}/{household}" for household in self.households] or [QUEUE]

    def enqueue(
        self,
        conn: Connection,
        job: str,
        key: Key,
        *,
        attempt: int = 1,
        delay: timedelta = timedelta(0),
    ) -> None:
        """Enqueue one dispatch of a row's work, to be run once the caller's transaction commits.

        Repeating it for the same attempt changes nothing.

        Args:
            conn: In a writing transaction of the store.
            key: Primary key of the row; begins with its household where the queue names some.
            attempt: The row's current dispatch, >= 1.
            delay: Shortest wait before it runs, >= 0.

        Raises:
            InvariantError: The row is of a household that this queue does not carry.
        """
        options = EnqueueOptions(
            workflow_name=job,
            queue_name=self._line_of(key),
            workflow_id=dispatch_id(job, key, attempt),
            app_version=CONTRACT_VERSION,
        )
        if delay > timedelta(0):
            options["delay_seconds"] = delay.total_seconds()
        before = conn.get_execution_options().get("schema_translate_map")
        self._client.enqueue_in_transaction(conn, options, key_text(key), attempt)
        touch(conn, TOPIC, self._line_of(key))
        # The engine leaves its schema on our connection, where every later statement would pay for it.
        conn.execution_options(schema_translate_map=before)

    def waiting(self, dispatches: Collection[str]) -> dict[str, Waiting]:
        """Return those dispatches that wait or run, by their ids. Blocks."""
        with translated():
            found = self._client.list_workflows(
                workflow_ids=list(dispatches), status=_WAITING, load_input=False, load_output=False
            )
        return {
            workflow.workflow_id: Waiting(status=workflow.status, executor=workflow.executor_id)
            for workflow in found
        }

    def delete_finished(self, before: datetime) -> int:
        """Delete what the engine remembers of dispatches finished before then. Blocks.

        Returns:
            How many were deleted.
        """
        deleted = 0
        with translated():
            while found := self._client.list_workflows(
                status=_FINISHED,
                completed_before=to_text(before),
                limit=_DELETED_AT_ONCE,
                load_input=False,
                load_output=False,
            ):
                self._client.delete_workflows([workflow.workflow_id for workflow in found])
                deleted += len(found)
        return deleted

    def set_limits(self, *, taken: int, poll_every: timedelta) -> None:
        """Set how many dispatches one process takes of a line at once, and how often it looks. Blocks."""
        for line in self.lines:
            with translated():
                self._client.register_queue(
                    line,
                    worker_concurrency=taken,
                    polling_interval_sec=poll_every.total_seconds(),
                    on_conflict="always_update",
                )

    def close(self) -> None:
        """Let go of the connections; a thread of the engine that still writes how a job ended keeps its own until then."""
        self._client.destroy()
        close_engine(self.engine)

    def _line_of(self, key: Key) -> str:
        if not self.households:
            return QUEUE
        if key[0] not in self.households:
            raise InvariantError(f"this queue has no jobs for household {key[0]!r}")
        return f"{QUEUE}/{key[0]}"


def dispatch_id(job: str, key: Key, attempt: int) -> str:
    """Return the engine's id of one dispatch; the same dispatch always has the same."""
    return f"{job}:{key_text(key)}:{attempt}"


def key_text(key: Iterable[str]) -> str:
    """Return a key as one text, as jobs carry it."""
    return "/".join(quote(part, safe="") for part in key)


def key_of(text: str) -> Key:
    """Return the key of a text that `key_text` made."""
    return tuple(unquote(part) for part in text.split("/"))


# Finds work that nobody works on, and dispatches it again: after crashes, lost or refused
# dispatches.

log = structlog.get_logger()

_PATIENCE = timedelta(minutes=5)


class Reconciler:
    """Compares the rows of work with the queue.

    Args:
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
