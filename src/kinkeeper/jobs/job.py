"""What a kind of work is, and what business packages see of the queue. Loads no engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from sqlalchemy import Connection, Table

from kinkeeper.jobs.leases import Key

Handler = Callable[[Key, int], Awaitable[None]]
"""Does the work of a claimed row, given its key and the epoch to finish it under."""


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
    """

    name: str
    table: Table
    handler: Handler
    lease: timedelta = timedelta(minutes=5)


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
