"""Work as rows: claimed for a while, fenced by an epoch, tried again, finished with the effect.

The row is the truth. Whoever claims it gets a new epoch and a lease; an effect is written only in a
transaction that finds the epoch unchanged, so a worker that comes back late writes nothing. Works on
any table that has `work_columns`; a key is the values of its primary key, in the table's order.

States: queued -> running -> done | dropped | manual_review; running -> queued on failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    String,
    Table,
    Text,
    and_,
    bindparam,
    literal_column,
    null,
    or_,
    select,
    update,
)

from kinkeeper.core.errors import ConflictError
from kinkeeper.core.time import A_DAY
from kinkeeper.jobs.runners import is_dead
from kinkeeper.store.locks import runner_of
from kinkeeper.store.prepared import Prepared
from kinkeeper.store.schema import Instant, metadata

# How often work is tried again, and when a person must look at it. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLadder:
    """Waiting times between the tries of one row of work.

    Attributes:
        delays: Wait after the first, second, ... failure; a failure beyond the last is final.
        attempts: Most times the work is begun, whether it failed or its process died, > 0.
    """

    delays: tuple[timedelta, ...] = (
        timedelta(seconds=30),
        timedelta(seconds=120),
        timedelta(seconds=300),
    )
    attempts: int = 5

    def delay_after(self, *, failures: int, begun: int) -> timedelta | None:
        """Return how long to wait before the next try, or None when a person must look.

        Args:
            failures: How often the work has failed by now, >= 1.
            begun: How often it was begun, >= `failures`.
        """
        if failures > len(self.delays) or begun >= self.attempts:
            return None
        return self.delays[failures - 1]


Key = tuple[str, ...]

_STRANDED_AT_ONCE = 500
_WORK = frozenset({"household", "state", "due_at", "epoch", "lease_until"})
"""Columns by which a table is known to hold a household's work."""
_STANDS = ("state", "attempt", "epoch", "begun", "lease_until")


class WorkState(StrEnum):
    """Where a row of work stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    DROPPED = "dropped"
    MANUAL_REVIEW = "manual_review"


class LeaseLostError(ConflictError):
    """Somebody else has claimed the row since: what this worker did must not be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """What follows a failure.

    Attributes:
        state: Queued, to be tried again, or manual review.
        attempt: Number of the next dispatch where queued, of the last one otherwise.
        delay: Wait before the next dispatch; None where there is none.
    """

    state: WorkState
    attempt: int
    delay: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranded:
    """A row nobody is known to work on.

    Attributes:
        attempt: Number of its last dispatch.
        epoch: Of its last claim.
        begun: How often it was begun and not handed back.
        waited: Whether it was already given time once, by a lease or by `postpone`.
    """

    key: Key
    state: WorkState
    attempt: int
    epoch: int
    begun: int
    waited: bool


def work_columns() -> list[Column[Any]]:
    """Return new columns that make a table's rows work; inserting needs only `due_at`.

    `attempt` numbers the dispatches from 1; `epoch` counts claims; `begun` counts those that were not
    handed back; `failures` counts errors. `runner` is the process that claimed the row, where it is one that
    beats (see `runners`). `error` says what went wrong last, without message text.
    """
    return [
        Column("state", String(16), nullable=False, default=WorkState.QUEUED.value),
        Column("attempt", Integer, nullable=False, default=1),
        Column("failures", Integer, nullable=False, default=0),
        Column("epoch", Integer, nullable=False, default=0),
        Column("begun", Integer, nullable=False, default=0),
        Column("lease_until", Instant),
        Column("runner", String(64)),
        Column("due_at", Instant, nullable=False),
        Column("error", Text),
    ]


def claim(
    conn: Connection,
    table: Table,
    key: Key,
    *,
    now: datetime,
    lease: timedelta,
    attempt: int | None = None,
) -> int | None:
    """Take a row that is queued, or whose worker is dead or its lease ran out.

    Args:
        lease: How long the claim holds, > 0.
        attempt: Where given, only if this is still the row's current dispatch.

    Returns:
        The epoch to finish under, or None: held by another, finished, or dispatched anew.
    """
    values = {
        "now": now,
        "ahead": now + A_DAY,
        "until": now + lease,
        "by_runner": runner_of(conn),
        "of_attempt": attempt,
    }
    claimed = _claim(table, of_dispatch=attempt is not None)
    found = claimed.execute(conn, _key(table, key) | values)
    return found[0][0] if found else None


def claim_stranded(
    conn: Connection, table: Table, key: Key, *, now: datetime, lease: timedelta, attempts: int
) -> int | None:
    """Take a row only if it is stranded, without waiting until somebody dispatches it again.

    Args:
        lease: How long the claim holds, > 0.
        attempts: How often work may be begun; a row that was is left for a person, > 0.

    Returns:
        The epoch to finish under, or None.
    """
    names = (column.name for column in table.primary_key.columns)
    of_key = dict(zip(names, key, strict=True))
    rows = stranded(conn, table, now=now, household=of_key.get("household"))
    row = next((each for each in rows if each.key == key), None)
    if row is None or row.begun >= attempts:
        return None
    return claim(conn, table, key, now=now, lease=lease)


def holds(conn: Connection, table: Table, key: Key, epoch: int) -> bool:
    """Whether the claim of `epoch` stands at this moment."""
    return bool(_held_row(table, locked=False).execute(conn, _key(table, key, epoch)))


def hold(conn: Connection, table: Table, key: Key, epoch: int) -> bool:
    """Whether the claim of `epoch` still stands; if so, it does until the write transaction ends."""
    return bool(_held_row(table, locked=True).execute(conn, _key(table, key, epoch)))


def finish(
    conn: Connection, table: Table, key: Key, epoch: int, *, state: WorkState = WorkState.DONE
) -> None:
    """Close a row in the transaction that writes what the work came to.

    Args:
        epoch: As `claim` returned it.
        state: Done, dropped or manual review.

    Raises:
        LeaseLostError: Another worker took the row; let it end the transaction.
    """
    if not _finish(table).execute(conn, _key(table, key, epoch) | {"as_state": state.value}):
        raise LeaseLostError(
            f"the claim {epoch} on a row of {table.name} is no longer valid; write nothing for it"
        )


def fail(
    conn: Connection,
    table: Table,
    key: Key,
    epoch: int,
    *,
    error: str,
    now: datetime,
    ladder: RetryLadder,
) -> NextStep | None:
    """Record a failure: queue the row for its next try, or hand it to a person.

    Args:
        conn: In a writing transaction, in which the caller also enqueues the next dispatch.
        epoch: As `claim` returned it.

    Returns:
        What follows, or None where the claim no longer stands and nothing was changed.
    """
    row = conn.execute(
        select(table.c.attempt, table.c.failures, table.c.begun).where(_held(table, key, epoch))
    ).first()
    if row is None:
        return None
    failures = row.failures + 1
    delay = ladder.delay_after(failures=failures, begun=row.begun)
    values: dict[str, object] = {"failures": failures, "error": error, "lease_until": None}
    if delay is None:
        step = NextStep(state=WorkState.MANUAL_REVIEW, attempt=row.attempt, delay=None)
    else:
        step = NextStep(state=WorkState.QUEUED, attempt=row.attempt + 1, delay=delay)
        values["due_at"] = now + delay
    values |= {"state": step.state.value, "attempt": step.attempt}
    return step if _change(conn, table, _held(table, key, epoch), values) else None


def renew(conn: Connection, table: Table, key: Key, epoch: int, *, until: datetime) -> bool:
    """Let a claim stand for longer, or shorter; returns whether it still stood.

    Args:
        epoch: As `claim` returned it.
        until: Aware; from then on others may claim the row.
    """
    return _change(conn, table, _held(table, key, epoch), {"lease_until": until})


def release(conn: Connection, table: Table, key: Key, epoch: int, *, until: datetime) -> bool:
    """Hand a claimed row back undone, under the same dispatch; it counts neither as begun nor as failed.

    Args:
        epoch: As `claim` returned it.
        until: Aware; before then the row does not count as stranded.

    Returns:
        Whether the claim still stood.
    """
    values = {"state": WorkState.QUEUED.value, "lease_until": until, "begun": table.c.begun - 1}
    return _change(conn, table, _held(table, key, epoch), values)


def end_leases(conn: Connection, table: Table, *, now: datetime) -> int:
    """End the leases of all running rows, for the one process that knows that it is the only one; return how many."""
    running = table.c.state == WorkState.RUNNING.value
    return conn.execute(update(table).where(running).values(lease_until=now)).rowcount


def stranded(
    conn: Connection, table: Table, *, now: datetime, household: str | None = None
) -> list[Stranded]:
    """Return up to 500 rows that are not finished, are due, and that nobody alive holds; longest due first.

    Args:
        household: Whose rows, where the table keeps those of several; all rows where None.
    """
    values = {"now": now, "ahead": now + A_DAY, "of_household": household}
    found = _stranded(table, of_household=household is not None).execute(conn, values)
    return [
        Stranded(
            key=tuple(key),
            state=WorkState(state),
            attempt=attempt,
            epoch=epoch,
            begun=begun,
            waited=lease_until is not None,
        )
        for *key, state, attempt, epoch, begun, lease_until in found
    ]


def is_any_due(conn: Connection, household: str, *, now: datetime) -> bool:
    """Return whether any work of a household, of whatever table, runs or is due by now."""
    open_states = [WorkState.QUEUED.value, WorkState.RUNNING.value]
    tables = [each for each in metadata.tables.values() if {*each.c.keys()} >= _WORK]
    return any(
        conn.execute(
            select(table.c.state)
            .where(
                table.c.household == household,
                table.c.state.in_(open_states),
                table.c.due_at <= now,
            )
            .limit(1)
        ).first()
        for table in tables
    )


def dispatch_again(
    conn: Connection, table: Table, row: Stranded, *, until: datetime, ladder: RetryLadder
) -> NextStep | None:
    """Give a stranded row its next dispatch, or hand it to a person when it was begun too often.

    Args:
        conn: In a writing transaction, in which the caller also enqueues the dispatch.
        row: As `stranded` returned it.
        until: Aware; before then the row does not count as stranded again.
        ladder: How often work may be begun.

    Returns:
        What follows, or None where somebody else moved the row on and nothing was changed.
    """
    if row.begun < ladder.attempts:
        step = NextStep(state=WorkState.QUEUED, attempt=row.attempt + 1, delay=timedelta(0))
        values: dict[str, object] = {"lease_until": until}
    else:
        step = NextStep(state=WorkState.MANUAL_REVIEW, attempt=row.attempt, delay=None)
        values = {"lease_until": None, "error": f"started {row.begun} times, never finished"}
    values |= {"state": step.state.value, "attempt": step.attempt}
    return step if _change(conn, table, _unmoved(table, row), values) else None


def postpone(conn: Connection, table: Table, row: Stranded, *, until: datetime) -> None:
    """Leave a stranded row alone until then, because its dispatch is known to be waiting."""
    _change(conn, table, _unmoved(table, row), {"lease_until": until})


def _change(
    conn: Connection, table: Table, where: ColumnElement[bool], values: Mapping[str, object]
) -> bool:
    return conn.execute(update(table).where(where).values(**values)).rowcount == 1


def _is(table: Table, key: Key) -> ColumnElement[bool]:
    pairs = zip(table.primary_key.columns, key, strict=True)
    return and_(*(column == value for column, value in pairs))


def _held(table: Table, key: Key, epoch: int) -> ColumnElement[bool]:
    return and_(_is(table, key), table.c.epoch == epoch, table.c.state == WorkState.RUNNING.value)


# Every piece of work claims, holds and finishes a row: those statements are put together once a table.


def _key(table: Table, key: Key, epoch: int | None = None) -> dict[str, Any]:
    """Return the parameters that name a row, and the claim on it."""
    names = (f"of_{column.key}" for column in table.primary_key.columns)
    return {**dict(zip(names, key, strict=True)), "of_epoch": epoch}


def _named(table: Table) -> ColumnElement[bool]:
    return and_(*(column == bindparam(f"of_{column.key}") for column in table.primary_key.columns))


def _held_as_named(table: Table) -> ColumnElement[bool]:
    is_running = table.c.state == WorkState.RUNNING.value
    return and_(_named(table), table.c.epoch == bindparam("of_epoch"), is_running)


def _is_abandoned(table: Table) -> ColumnElement[bool]:
    running = table.c.state == literal_column(f"'{WorkState.RUNNING.value}'")
    return and_(running, is_dead(table.c.runner))


def _is_over(instant: Column[Any]) -> ColumnElement[bool]:
    """Whether a wait is over: also where a clock that was set back has made it longer than any is."""
    return or_(instant <= bindparam("now"), instant > bindparam("ahead"))


def _has_run_out(table: Table) -> ColumnElement[bool]:
    """Whether a lease is over; of a process with heartbeats it may be by another machine's clock, however far ahead."""
    lease = table.c.lease_until
    too_far = and_(table.c.runner.is_(None), lease > bindparam("ahead"))
    return or_(lease.is_(None), lease <= bindparam("now"), too_far)


@cache
def _claim(table: Table, *, of_dispatch: bool) -> Prepared:
    ran_out = and_(
        table.c.state == WorkState.RUNNING.value, or_(_has_run_out(table), is_dead(table.c.runner))
    )
    free = or_(table.c.state == WorkState.QUEUED.value, ran_out)
    current = [table.c.attempt == bindparam("of_attempt")] if of_dispatch else []
    return Prepared(
        update(table)
        .where(_named(table), free, *current)
        .values(
            state=WorkState.RUNNING.value,
            epoch=table.c.epoch + 1,
            begun=table.c.begun + 1,
            lease_until=bindparam("until", type_=Instant),
            runner=bindparam("by_runner", type_=String),
        )
        .returning(table.c.epoch)
    )


@cache
def _stranded(table: Table, *, of_household: bool) -> Prepared:
    mine = (table.c.household == bindparam("of_household"),) if of_household else ()
    return Prepared(
        select(*table.primary_key.columns, *(table.c[name] for name in _STANDS))
        .where(
            table.c.state.in_([literal_column("'queued'"), literal_column("'running'")]),
            or_(_has_run_out(table), _is_abandoned(table)),
            _is_over(table.c.due_at),
            *mine,
        )
        .order_by(table.c.due_at)
        .limit(literal_column(str(_STRANDED_AT_ONCE), Integer))
    )


@cache
def _held_row(table: Table, *, locked: bool) -> Prepared:
    query = select(table.c.epoch).where(_held_as_named(table))
    return Prepared(query.with_for_update() if locked else query)


@cache
def _finish(table: Table) -> Prepared:
    return Prepared(
        update(table)
        .where(_held_as_named(table))
        .values(
            state=bindparam("as_state", type_=table.c.state.type), lease_until=null(), error=null()
        )
        .returning(table.c.epoch)
    )


def _unmoved(table: Table, row: Stranded) -> ColumnElement[bool]:
    return and_(
        _is(table, row.key),
        table.c.state == row.state.value,
        table.c.attempt == row.attempt,
        table.c.epoch == row.epoch,
    )
