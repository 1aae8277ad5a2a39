"""The runs of the upkeep: rows, and what a person says about one that asks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.memory.tables import memory_runs
from kinkeeper.memory.upkeep.report import Report, RunState

_runs = memory_runs.c

SAME_NIGHT = timedelta(hours=20)
"""Runs nearer to each other than this count as one night for the question whether too much leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run.

    Attributes:
        household: Tenant key.
        id: Its own.
        state: Where it stands.
        from_seq: Change number of the household that it began after.
        to_seq: Up to which it has looked at everything.
        change_set: What it changed; None where it changed nothing.
        report: What it did, or wants to do.
        started_at: Aware.
        ended_at: Aware.
    """

    household: str
    id: str
    state: RunState
    from_seq: int
    to_seq: int
    change_set: str | None = None
    report: Report
    started_at: datetime
    ended_at: datetime


def insert_run(conn: Connection, run: Run) -> None:
    """Store a run in the transaction that does what it tells."""
    conn.execute(
        insert(memory_runs).values(
            household=run.household, id=run.id, state=run.state.value, from_seq=run.from_seq,
            to_seq=run.to_seq, change_set=run.change_set, report=run.report.record(),
            started_at=run.started_at, ended_at=run.ended_at,
        )
    )  # fmt: skip


def find_run(conn: Connection, household: str, run_id: str) -> Run:
    """Return a run.

    Raises:
        NotFoundError: There is none with that id.
    """
    query = select(memory_runs).where(_runs.household == household, _runs.id == run_id)
    row = conn.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no nightly run {run_id!r}", run=run_id)
    return _run(row)


def latest_runs(conn: Connection, household: str, *, limit: int = 1) -> Sequence[Run]:
    """Return the last runs, the latest first.

    Args:
        conn: In a transaction.
        household: Tenant key.
        limit: Most that are returned, > 0.
    """
    query = (
        select(memory_runs)
        .where(_runs.household == household)
        .order_by(_runs.started_at.desc(), _runs.id.desc())
        .limit(limit)
    )
    return [_run(row) for row in conn.execute(query)]


def looked_up_to(conn: Connection, household: str) -> int:
    """Return the change number up to which finished runs have looked at everything."""
    query = (
        select(_runs.to_seq)
        .where(_runs.household == household, _runs.state == RunState.DONE.value)
        .order_by(_runs.to_seq.desc())
        .limit(1)
    )
    return conn.execute(query).scalar_one_or_none() or 0


def left_tonight(conn: Connection, household: str, *, now: datetime) -> int:
    """Return how many facts the runs of this night have let go without asking.

    Args:
        conn: In a transaction.
        household: Tenant key.
        now: Aware.
    """
    query = select(memory_runs).where(
        _runs.household == household, _runs.state == RunState.DONE.value,
        _runs.started_at > now - SAME_NIGHT,
    )  # fmt: skip
    found = [_run(row).report for row in conn.execute(query)]
    return sum(max(0, each.leaving - each.allowed) for each in found)


def purge_runs(conn: Connection, household: str, *, before: datetime) -> None:
    """Let go of what old runs tell; the last one stays whatever its age.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        before: Those that began earlier go.
    """
    kept = [run.id for run in latest_runs(conn, household)]
    conn.execute(
        delete(memory_runs).where(
            _runs.household == household, _runs.started_at < before, _runs.id.not_in(kept),
            _runs.to_seq < looked_up_to(conn, household),
        )
    )  # fmt: skip


def open_question(conn: Connection, household: str) -> Run | None:
    """Return the run that waits for a person's yes or has got it, if one does; nothing was done since."""
    query = (
        select(memory_runs)
        .where(_runs.household == household, _runs.state != RunState.FAILED.value)
        .order_by(_runs.started_at.desc(), _runs.id.desc())
        .limit(1)
    )
    row = conn.execute(query).one_or_none()
    run = None if row is None else _run(row)
    return run if run and run.state in {RunState.ASKS, RunState.APPROVED} else None


def approve(conn: Connection, household: str, run_id: str) -> Run:
    """Let the next run do what this one asks for.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        run_id: Of a run that asks.

    Raises:
        NotFoundError: There is no such run.
        ConflictError: It does not ask any more.
    """
    return _answered(conn, household, run_id, RunState.APPROVED)


def decline(conn: Connection, household: str, run_id: str) -> Run:
    """Leave everything as it is; the next night looks again, and may ask again.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        run_id: Of a run that asks.

    Raises:
        NotFoundError: There is no such run.
        ConflictError: It does not ask any more.
    """
    return _answered(conn, household, run_id, RunState.DECLINED)


def _answered(conn: Connection, household: str, run_id: str, state: RunState) -> Run:
    run = find_run(conn, household, run_id)
    if run.state is state:
        return run
    asking = open_question(conn, household)
    if asking is None or asking.id != run.id or run.state is not RunState.ASKS:
        raise ConflictError(
            "this question is already settled; see the latest nightly run", run=run_id
        )
    conn.execute(
        update(memory_runs)
        .where(_runs.household == household, _runs.id == run_id)
        .values(state=state.value)
    )
    return replace(run, state=state)


def _run(row: Row[Any]) -> Run:
    return Run(
        household=row.household, id=row.id, state=RunState(row.state), from_seq=row.from_seq,
        to_seq=row.to_seq, change_set=row.change_set, report=Report.of_record(row.report),
        started_at=row.started_at, ended_at=row.ended_at or row.started_at,
    )  # fmt: skip
