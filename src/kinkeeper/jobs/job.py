"""What a kind of work is, and what business packages see of the queue. Loads no engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import Connection, Table

from kinkeeper.jobs.leases import Key, RetryLadder

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
