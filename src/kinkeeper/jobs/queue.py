"""The engine's queue in our own database: work is enqueued in the transaction that writes its row."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote, unquote

from sqlalchemy import Connection

from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import to_text
from kinkeeper.jobs.leases import Key
from kinkeeper.jobs.library import DBOS, DBOSClient, EnqueueOptions
from kinkeeper.jobs.serializer import JsonSerializer, refuse_pickles
from kinkeeper.observability.library_logs import route_library_log
from kinkeeper.store.commits import touch
from kinkeeper.store.engines import close_engine, library_engine
from kinkeeper.store.faults import translated
from kinkeeper.store.store import Store

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

    Attributes:
        households: As given.

    Raises:
        StoreBusyError: Another process held the database for too long.
        UnavailableError: The database cannot be reached.
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
            job: Name of the job.
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
                workflow_ids=list(dispatches),
                status=_WAITING,
                load_input=False,
                load_output=False,
            )
        return {
            workflow.workflow_id: Waiting(status=workflow.status, executor=workflow.executor_id)
            for workflow in found
        }

    def delete_finished(self, before: datetime) -> int:
        """Delete what the engine remembers of dispatches finished before then. Blocks.

        Args:
            before: Aware.

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
