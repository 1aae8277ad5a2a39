"""Work outside as rows: taken, settled together with its action, counted, and waited for."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, select, update

from kinkeeper.actions.action_writes import advance
from kinkeeper.actions.effects.outside import Verb, outside_work
from kinkeeper.actions.executor import TAMPERED, chosen_effects
from kinkeeper.actions.journal import TOPIC, record_refusal
from kinkeeper.actions.model import ActionStatus, Cause, PendingAction, Refusal
from kinkeeper.actions.outside.adapter import RefusedError, Work
from kinkeeper.actions.payload import payload_hash
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import load_action
from kinkeeper.core.errors import InputError, InvariantError
from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import Key, LeaseLostError, RetryLadder, WorkState
from kinkeeper.store.store import Store

LADDER = RetryLadder(
    delays=tuple(timedelta(seconds=each) for each in (10, 30, 120, 600, 1800)), attempts=24
)
"""Waits after what surely did not happen: whoever said yes an hour ago should hear that it failed."""

STALE_AFTER = timedelta(hours=6)
"""What could not be begun by then is not wanted any more without a new yes."""

_TOO_LATE = "it could not be started in time, so nothing was done"
_MAY_BE_DONE = "it may have been done; check before trying again"

_work = outside_work.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Work in the hands of this process.

    Attributes:
        epoch: Under which it is settled.
        is_in_doubt: Whether an earlier call may have had its effect.
    """

    work: Work
    key: Key
    epoch: int
    is_in_doubt: bool


def take(conn: Connection, key: Key, *, now: datetime, lease: timedelta) -> Taken | None:
    """Take a row that is due; what can no longer be done is settled at once.

    Args:
        key: Household, id and verb.
        lease: How long it is taken for.

    Returns:
        None where another worker has it, or there is nothing to do any more.
    """
    epoch = leases.claim(conn, outside_work, key, now=now, lease=lease)
    if epoch is None:
        return None
    row = conn.execute(select(outside_work).where(_is(key))).one()
    action = load_action(conn, row.household, row.action_id, for_update=True)
    try:
        work = _work_of(conn, row, action, now)
    except (InputError, RefusedError) as error:
        _fail(conn, key, epoch, action, reason=str(error), now=now)
        return None
    return Taken(work=work, key=key, epoch=epoch, is_in_doubt=row.called_at is not None)


def mark(conn: Connection, taken: Taken, *, now: datetime) -> None:
    """Note that the next step may have an effect outside.

    Raises:
        LeaseLostError: Another worker has taken over; nothing may be done.
    """
    if not leases.hold(conn, outside_work, taken.key, taken.epoch):
        raise LeaseLostError("another worker has taken this over")
    conn.execute(update(outside_work).where(_is(taken.key)).values(called_at=now))


def succeed(conn: Connection, taken: Taken, result: Mapping[str, Any], *, now: datetime) -> None:
    """Settle what was done.

    Args:
        result: What the other side said, as JSON.

    Raises:
        LeaseLostError: Another worker has taken over; let it end the transaction.
    """
    leases.finish(conn, outside_work, taken.key, taken.epoch)
    work = taken.work
    written = [{"effect": work.effect.effect, "change_id": work.id, "result": dict(result)}]
    _move(conn, taken, Cause.SUCCEED, {"outcome": "done", "written": written}, now=now)


def refuse(conn: Connection, taken: Taken, reason: str, *, now: datetime) -> None:
    """Settle what surely did not happen and will not.

    Raises:
        LeaseLostError: Another worker has taken over; let it end the transaction.
    """
    leases.finish(conn, outside_work, taken.key, taken.epoch, state=WorkState.DROPPED)
    _move(conn, taken, Cause.FAIL, {"outcome": "failed", "reason": reason}, now=now)


def give_up(conn: Connection, taken: Taken, *, now: datetime) -> None:
    """Settle what may or may not have happened: a person must look.

    Raises:
        LeaseLostError: Another worker has taken over; let it end the transaction.
    """
    leases.finish(conn, outside_work, taken.key, taken.epoch, state=WorkState.MANUAL_REVIEW)
    _move(conn, taken, Cause.FAIL, {"outcome": "unknown", "reason": _MAY_BE_DONE}, now=now)


def postpone(
    conn: Connection, taken: Taken, reason: str, *, is_in_doubt: bool, now: datetime
) -> None:
    """Have it tried again later, or fail it where that was done often enough.

    Args:
        is_in_doubt: Whether it may have had its effect all the same.
    """
    step = leases.fail(
        conn, outside_work, taken.key, taken.epoch, error=reason, now=now, ladder=LADDER
    )
    if step is None:
        return
    if not is_in_doubt:
        conn.execute(update(outside_work).where(_is(taken.key)).values(called_at=None))
    if step.state is WorkState.QUEUED:
        return
    if is_in_doubt:
        receipt = {"outcome": "unknown", "reason": _MAY_BE_DONE}
    else:
        receipt = {"outcome": "failed", "reason": reason}
    _move(conn, taken, Cause.FAIL, receipt, now=now)


def _work_of(conn: Connection, row: Row[Any], action: PendingAction, now: datetime) -> Work:
    verb = Verb(row.verb)
    expected = ActionStatus.EXECUTING if verb is Verb.DO else ActionStatus.DONE
    if action.status is not expected:
        raise InvariantError(f"action {action.id!r} is {action.status}; there is nothing to {verb}")
    if payload_hash(action.proposal, version=action.version) != action.payload_hash:
        record_refusal(
            conn, row.household, action.id, reason=Refusal.TAMPERED, by=row.decided_by, at=now
        )
        raise RefusedError(TAMPERED)
    if row.called_at is None and now - row.queued_at > STALE_AFTER:
        raise RefusedError(_TOO_LATE)
    (effect,) = read_effects(row.household, chosen_effects(action))
    return Work(
        household=row.household,
        id=row.id,
        action_id=action.id,
        effect=effect,
        verb=verb,
        decided_by=row.decided_by,
        at=row.queued_at,
    )


def _fail(
    conn: Connection, key: Key, epoch: int, action: PendingAction, *, reason: str, now: datetime
) -> None:
    leases.finish(conn, outside_work, key, epoch, state=WorkState.DROPPED)
    if action.status is ActionStatus.EXECUTING:
        receipt = {"outcome": "failed", "reason": reason}
        advance(conn, action, Cause.FAIL, at=now, receipt=receipt)


def _move(
    conn: Connection, taken: Taken, cause: Cause, receipt: Mapping[str, Any], *, now: datetime
) -> None:
    """Move the action on; one that is being taken back was settled before."""
    if taken.work.verb is Verb.UNDO:
        return
    action = load_action(conn, taken.work.household, taken.work.action_id, for_update=True)
    advance(conn, action, cause, at=now, receipt=receipt)


def _is(key: Key) -> Any:
    household, id_, verb = key
    return and_(_work.household == household, _work.id == id_, _work.verb == verb)


# How much of what actions do outside the database waits, is done, or needs a person; and what is
# kept of it.

_OVER = (WorkState.DONE.value, WorkState.DROPPED.value, WorkState.MANUAL_REVIEW.value)


def work_states(conn: Connection, household: str, *, since: datetime) -> dict[str, int]:
    """Return how many rows stand in which state.

    Args:
        since: Aware; what was queued before does not count.
    """
    query = (
        select(_work.state, func.count().label("number"))
        .where(_work.household == household, _work.queued_at >= since)
        .group_by(_work.state)
    )
    return {row.state: row.number for row in conn.execute(query)}


def purge_work(conn: Connection, household: str, *, before: datetime) -> int:
    """Delete the rows of what was settled and queued before an instant; return how many."""
    old = (_work.household == household, _work.queued_at < before, _work.state.in_(_OVER))
    return conn.execute(delete(outside_work).where(*old)).rowcount


# Waiting for what becomes of an action that reaches outside the database.

_LOOK_EVERY_SECONDS = 1.0
_PUT_OFF = timedelta(minutes=1)
"""Whose next try is further off is not waited for any more."""


async def settled(
    store: Store, household: str, action_id: str, *, clock: Clock, within: timedelta
) -> PendingAction:
    """Return an action once it is under way no more, or as it stands when that takes too long or was put off.

    Args:
        store: The household's database.
        clock: Tells what is far off.
        within: Longest wait.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within.total_seconds()

    def look(conn: Connection) -> tuple[PendingAction, bool]:
        action = load_action(conn, household, action_id)
        return action, _is_put_off(conn, household, action_id, now=clock.now())

    with store.watch((TOPIC, household)) as watch:
        while True:
            action, is_put_off = await store.read(look)
            left = deadline - loop.time()
            if action.status is not ActionStatus.EXECUTING or is_put_off or left <= 0:
                return action
            # Another process may be the one that settles it; its commits are not heard here.
            await watch.wait(min(left, _LOOK_EVERY_SECONDS))


def _is_put_off(conn: Connection, household: str, action_id: str, *, now: datetime) -> bool:
    """Whether something went wrong, and it is tried again only after some time."""
    columns = outside_work.c
    query = select(columns.id).where(
        columns.household == household,
        columns.action_id == action_id,
        columns.state == WorkState.QUEUED.value,
        columns.due_at > now + _PUT_OFF,
    )
    return conn.execute(query).first() is not None
