"""The runs of the upkeep: rows, what each did or wants to do, and that told to people."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self

from sqlalchemy import Connection, Row, delete, insert, select, update

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.model import Fact
from kinkeeper.memory.tables import memory_runs

# What a run of the upkeep did, or wants to do: counts, durations, cost, and each change in plain
# words. Pure.


class RunState(StrEnum):
    """Where a run stands."""

    DONE = "done"
    ASKS = "asks"
    APPROVED = "approved"
    DECLINED = "declined"
    FAILED = "failed"


class ChangeKind(StrEnum):
    """What became of a fact."""

    LEARNED = "learned"
    SUPPORTED = "supported"
    DOUBTED = "doubted"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    FADED = "faded"
    ENDED = "ended"
    RESTORED = "restored"
    CHANGED = "changed"

    @property
    def is_loss(self) -> bool:
        """Whether a person is asked about many of them: facts that nobody expected to leave."""
        return self in {ChangeKind.MERGED, ChangeKind.SUPERSEDED, ChangeKind.FADED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One fact that a run changes.

    Attributes:
        kind: What became of it.
        fact: Its id.
        other: Id of the fact that took its place, if one did.
        before: Confidence before, faded to the run; None for a new fact.
        after: Confidence after, faded to the run, too.
    """

    kind: ChangeKind
    fact: str
    other: str | None = None
    before: float | None = None
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What models took.

    Attributes:
        micros: Estimated price in millionths of the currency that prices are set in.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0

    def plus(self, other: "Cost") -> "Cost":
        """Return the sum of both."""
        return Cost(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            micros=self.micros + other.micros,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run did.

    Attributes:
        counts: Of whatever was looked at, found or left out, by name.
        seconds: Each step took, by its name.
        active: Facts in retrieval before.
        leaving: Facts that left it, or would, and that a person is asked about when they are many.
        differences: All changes; no words of anybody, which only stand where they can be forgotten.
        remarks: What could not be done, and why.
        allowed: Facts that a person has agreed to let go.
        is_behind: Whether more was new than one run looks at; another one has to follow.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    active: int = 0
    leaving: int = 0
    differences: Sequence[Difference] = ()
    remarks: Sequence[str] = ()
    allowed: int = 0
    is_behind: bool = False

    def record(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        return asdict(self)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the report of a record."""
        differences = tuple(
            Difference(**{**each, "kind": ChangeKind(each["kind"])})
            for each in record.get("differences", ())
        )
        return cls(
            **{
                **record,
                "differences": differences,
                "cost": Cost(**record.get("cost", {})),
                "remarks": tuple(record.get("remarks", ())),
            }
        )


_runs = memory_runs.c

SAME_NIGHT = timedelta(hours=20)
"""Runs nearer to each other than this count as one night for the question whether too much leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run.

    Attributes:
        from_seq: Change number of the household that it began after.
        to_seq: Up to which it has looked at everything.
        change_set: What it changed; None where it changed nothing.
        report: What it did, or wants to do.
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
            household=run.household,
            id=run.id,
            state=run.state.value,
            from_seq=run.from_seq,
            to_seq=run.to_seq,
            change_set=run.change_set,
            report=run.report.record(),
            started_at=run.started_at,
            ended_at=run.ended_at,
        )
    )


def find_run(conn: Connection, household: str, run_id: str) -> Run:
    """Return a run."""
    query = select(memory_runs).where(_runs.household == household, _runs.id == run_id)
    row = conn.execute(query).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no nightly run {run_id!r}", run=run_id)
    return _run(row)


def latest_runs(conn: Connection, household: str, *, limit: int = 1) -> Sequence[Run]:
    """Return the last runs, the latest first."""
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
    """Return how many facts the runs of this night have let go without asking."""
    query = select(memory_runs).where(
        _runs.household == household,
        _runs.state == RunState.DONE.value,
        _runs.started_at > now - SAME_NIGHT,
    )
    found = [_run(row).report for row in conn.execute(query)]
    return sum(max(0, each.leaving - each.allowed) for each in found)


def purge_runs(conn: Connection, household: str, *, before: datetime) -> None:
    """Let go of what old runs tell; the last one stays whatever its age.

    Args:
        before: Those that began earlier go.
    """
    kept = [run.id for run in latest_runs(conn, household)]
    conn.execute(
        delete(memory_runs).where(
            _runs.household == household,
            _runs.started_at < before,
            _runs.id.not_in(kept),
            _runs.to_seq < looked_up_to(conn, household),
        )
    )


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

    Raises:
        ConflictError: It does not ask any more.
    """
    return _answered(conn, household, run_id, RunState.APPROVED)


def decline(conn: Connection, household: str, run_id: str) -> Run:
    """Leave everything as it is; the next night looks again, and may ask again.

    Raises:
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
        household=row.household,
        id=row.id,
        state=RunState(row.state),
        from_seq=row.from_seq,
        to_seq=row.to_seq,
        change_set=row.change_set,
        report=Report.of_record(row.report),
        started_at=row.started_at,
        ended_at=row.ended_at or row.started_at,
    )


# A run of the upkeep told to people: each change with the words of its facts, as far as the reader
# may see them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One change.

    Attributes:
        fact: As it is now; None where it was taken back or forgotten since, or is only planned.
        other: The fact that took its place, if one did and is still there.
    """

    difference: Difference
    fact: Fact | None
    other: Fact | None


def tell(
    conn: Connection,
    run: Run,
    *,
    viewer: Viewer | None,
    kinds: Collection[ChangeKind] = tuple(ChangeKind),
    limit: int = 200,
) -> Sequence[Told]:
    """Return what a run changes with the facts it is about.

    Args:
        viewer: Who reads; None shows all. Changes of facts that they may not see are left out.
        kinds: Only these.
    """
    wanted = [each for each in run.report.differences if each.kind in kinds]
    ids = {key for each in wanted for key in (each.fact, each.other) if key}
    facts = facts_by_id(conn, run.household, ids)
    seen = {key: fact for key, fact in facts.items() if viewer is None or viewer.sees(fact.scope)}
    told = [
        Told(difference=each, fact=seen.get(each.fact), other=seen.get(each.other or ""))
        for each in wanted
        if viewer is None or each.fact in seen
    ]
    return told[:limit]
