"""Cycles of the work on goals: rows of work, one after another, each due when there is something to do."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Integer,
    String,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)

from kinkeeper.background.model import ModelUse, WebUse
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import A_DAY, is_of_wrong_clock
from kinkeeper.goals.model import (
    CYCLE,
    JITTER,
    UNFINISHED,
    Goal,
    GoalKind,
    is_due,
    is_worth_telling,
)
from kinkeeper.jobs.leases import WorkState, work_columns
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.store.schema import Instant, metadata

goal_cycles = Table(
    "goal_cycles",
    metadata,
    Column("household", String(64), primary_key=True),
    # A number, so that the order of ids is that of cycles.
    Column("id", String(16), primary_key=True),
    # What it works on: kept, so that a cycle that broke off goes on with the same.
    Column("goal_id", String(64)),
    Column("steps", Integer, nullable=False, default=0),
    Column("told", Integer, nullable=False, default=0),
    # How often the web and a model were used, as `WebUse` and `ModelUse`; empty where neither was.
    Column("web", JSON),
    Column("ended_at", Instant),
    *work_columns(),
)

_cycles = goal_cycles.c
_OPEN = frozenset({WorkState.QUEUED.value, WorkState.RUNNING.value})


# When the next one is due. Pure.


def next_due(
    goals: Sequence[Goal],
    *,
    last_end: datetime | None,
    pause: timedelta,
    quiet: QuietHours,
    now: datetime,
) -> datetime | None:
    """Return when the next cycle is due; None where nobody wants anything.

    What is new is looked at at once, and what is to be asked at its time; all else waits for its turn. In quiet
    hours nothing is done but to ask at the very time that somebody named.

    Args:
        last_end: When the last cycle ended, aware.
        pause: How long after it the next one begins.
    """
    if last_end is not None and is_of_wrong_clock(last_end, now):
        last_end = None
    turn = now if last_end is None else max(now, last_end + pause)
    active = [each for each in goals if each.can_go_on]
    wanted = [_wanted(each, turn, last_end, now=now) for each in active]
    wanted += [turn for each in goals if not each.can_go_on and is_worth_telling(each)]
    wanted += [max(each.expires_at, turn) for each in goals if each.status in UNFINISHED]
    asked = {each.next_at for each in active if each.kind is GoalKind.ASK}
    return min((at if at in asked else quiet.end_after(at) for at in wanted), default=None)


def _wanted(goal: Goal, turn: datetime, last_end: datetime | None, *, now: datetime) -> datetime:
    at = goal.next_at or goal.created_at
    if is_due(goal, now):
        at = min(at, now)
    is_new = not goal.progress.cycles and (last_end is None or at > last_end)
    return max(at, now if is_new else turn)


def pause_after(household: str, cycle: str) -> timedelta:
    """Return how long after a cycle the next one begins: by its name alone, so that it can be told again."""
    share = int(stable_id(household, "pause after", cycle)[:8], 16) / 0xFFFFFFFF
    return CYCLE * (1 + JITTER * (2 * share - 1))


# Their rows.


def last_cycle(
    conn: Connection, household: str, *, has_ended: bool = False
) -> Mapping[str, Any] | None:
    """Return the row of the latest cycle, if there was any.

    Args:
        has_ended: Whether one that waits or is under way does not count.
    """
    query = select(goal_cycles).where(_cycles.household == household)
    if has_ended:
        query = query.where(_cycles.ended_at.is_not(None))
    row = conn.execute(query.order_by(_cycles.id.desc()).limit(1)).mappings().first()
    return None if row is None else dict(row)


def next_cycle(conn: Connection, household: str) -> datetime | None:
    """Return when the cycle is due that waits, if one does."""
    last = last_cycle(conn, household)
    return None if last is None or last["ended_at"] is not None else last["due_at"]


def plan_cycle(conn: Connection, household: str, due_at: datetime | None, *, now: datetime) -> None:
    """Let there be a cycle at that time at the latest, if any.

    One that comes earlier finds nothing to do. So does one that is put in the place of a wait of more than a day: that
    would count as made by a wrong clock (see `leases`).
    """
    if due_at is None:
        return
    due_at = min(due_at, now + A_DAY / 2)
    last = last_cycle(conn, household)
    if last is not None and last["state"] in _OPEN:
        if not last["begun"] and due_at < last["due_at"]:
            change_cycle(conn, (household, last["id"]), due_at=due_at)
        return
    number = 1 if last is None else int(last["id"]) + 1
    conn.execute(insert(goal_cycles).values(household=household, id=f"{number:08d}", due_at=due_at))


def load_cycle(conn: Connection, key: Sequence[str]) -> Mapping[str, Any]:
    """Return the row of a cycle."""
    return dict(conn.execute(select(goal_cycles).where(*_is(key))).mappings().one())


def change_cycle(conn: Connection, key: Sequence[str], **values: object) -> None:
    """Write something of a cycle's row."""
    conn.execute(update(goal_cycles).where(*_is(key)).values(**values))


def cycle_counts(conn: Connection, household: str, *, since: datetime) -> Mapping[str, int]:
    """Return how often goals were worked on, how many steps that were, how often people were told, and how often the web and a model were used; what is 0 is left out."""
    sums = (func.coalesce(func.sum(each), 0) for each in (_cycles.steps, _cycles.told))
    recent = (_cycles.household == household, _cycles.ended_at >= since)
    query = select(func.count(_cycles.goal_id), *sums).where(*recent)
    counts = dict(zip(("cycles", "steps", "told"), conn.execute(query).one(), strict=True))
    web = Counter[str]()
    for use in conn.execute(select(_cycles.web).where(*recent)).scalars():
        web.update(use or {})
    return {name: int(number) for name, number in (counts | web).items() if number}


def use_total(
    before: Mapping[str, int] | None, web: WebUse, model: ModelUse
) -> Mapping[str, int] | None:
    """Return how often a cycle used the web and a model, with what its last step did; None where it did not."""
    total = Counter(before or {})
    total.update(asdict(web))
    total.update(asdict(model))
    return dict(total) if any(total.values()) else None


def purge_cycles(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the rows of cycles that ended before then; returns how many."""
    old = (_cycles.household == household, _cycles.ended_at < before)
    return conn.execute(delete(goal_cycles).where(*old)).rowcount


def _is(key: Iterable[str]) -> Sequence[Any]:
    household, cycle = key
    return _cycles.household == household, _cycles.id == cycle
