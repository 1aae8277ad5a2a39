"""What happened to actions: one row a transition, one row a press that changed nothing."""

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, func, insert, select

from kinkeeper.actions.model import ActionStatus, Cause, Refusal, Transition
from kinkeeper.actions.tables import action_refusals, action_transitions
from kinkeeper.core.time import Interval
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared

# What commits say that change where an action stands.
TOPIC = "actions"

_refusals = action_refusals.c


def _of_action(table: Table) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (
        table.c.household == bindparam("of_household"),
        table.c.action_id == bindparam("of_action"),
    )


_TRANSITIONS = Prepared(
    select(action_transitions)
    .where(*_of_action(action_transitions))
    .order_by(action_transitions.c.number)
)


def record_transition(
    conn: Connection, household: str, action_id: str, transition: Transition
) -> None:
    """Journal a transition, in the transaction that makes it."""
    values = {
        "household": household,
        "action_id": action_id,
        "from_status": transition.from_status and transition.from_status.value,
        "to_status": transition.to_status.value,
        "cause": transition.cause.value,
        "at": transition.at,
        "by_member": transition.by,
        "detail": transition.detail,
    }
    _record(conn, action_transitions, values)
    touch(conn, TOPIC, household)


def list_transitions(conn: Connection, household: str, action_id: str) -> list[Transition]:
    """Return the transitions of an action, first one first."""
    of_action = {"of_household": household, "of_action": action_id}
    return [
        Transition(
            from_status=ActionStatus(row["from_status"]) if row["from_status"] else None,
            to_status=ActionStatus(row["to_status"]),
            cause=Cause(row["cause"]),
            at=row["at"],
            by=row["by_member"],
            detail=row["detail"],
        )
        for row in _TRANSITIONS.mappings(conn, of_action)
    ]


def record_refusal(
    conn: Connection,
    household: str,
    action_id: str,
    *,
    reason: Refusal,
    by: str | None,
    at: datetime,
) -> None:
    """Count a press that changed nothing.

    Args:
        reason: Why it changed nothing.
        by: Who pressed, as far as known.
    """
    values = {
        "household": household,
        "action_id": action_id,
        "reason": reason.value,
        "by_member": by,
        "at": at,
    }
    _record(conn, action_refusals, values)


def count_refusals(
    conn: Connection, household: str, *, since: datetime | None = None
) -> dict[Refusal, int]:
    """Return how many presses of a household changed nothing, by reason.

    Args:
        since: Aware; only presses at or after it, where given.
    """
    query = select(_refusals.reason, func.count()).where(_refusals.household == household)
    if since is not None:
        query = query.where(_refusals.at >= since)
    counted = conn.execute(query.group_by(_refusals.reason))
    return {Refusal(reason): count for reason, count in counted}


def was_decided(
    conn: Connection, household: str, action_ids: Collection[str], *, by: str, within: Interval
) -> bool:
    """Whether a member decided about one of some actions in a span of time."""
    steps = action_transitions.c
    query = select(steps.action_id).where(
        steps.household == household,
        steps.action_id.in_(action_ids),
        steps.by_member == by,
        steps.at >= within.start,
        steps.at < within.end,
    )
    return conn.execute(query.limit(1)).first() is not None


def purge_refusals(conn: Connection, household: str, *, before: datetime) -> int:
    """Delete the presses before then that changed nothing; returns how many."""
    old = (_refusals.household == household, _refusals.at < before)
    return conn.execute(delete(action_refusals).where(*old)).rowcount


def _record(conn: Connection, table: Table, values: Mapping[str, Any]) -> None:
    """Add a row about an action under the number behind its last one."""
    last, insertion = _numbered(table)
    of_action = {"of_household": values["household"], "of_action": values["action_id"]}
    insertion.execute(conn, {**values, "number": last.execute(conn, of_action)[0][0] + 1})


@cache
def _numbered(table: Table) -> tuple[Prepared, Prepared]:
    """Return what finds the last number of an action in a journal, and what adds a row to it."""
    last = select(func.coalesce(func.max(table.c.number), 0)).where(*_of_action(table))
    return Prepared(last), Prepared(insert(table), table.c.keys())
