"""What happened to actions: one row a transition, one row a press that changed nothing."""

from datetime import datetime

from sqlalchemy import Connection, Table, delete, func, insert, select

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.states import Cause, Refusal, Transition
from kinkeeper.actions.tables import action_refusals, action_transitions
from kinkeeper.store.commits import touch

# What commits say that change where an action stands.
TOPIC = "actions"

_transitions = action_transitions.c
_refusals = action_refusals.c


def record_transition(
    conn: Connection, household: str, action_id: str, transition: Transition
) -> None:
    """Journal a transition, in the transaction that makes it."""
    conn.execute(
        insert(action_transitions).values(
            household=household,
            action_id=action_id,
            number=_next_number(conn, action_transitions, household, action_id),
            from_status=transition.from_status and transition.from_status.value,
            to_status=transition.to_status.value,
            cause=transition.cause.value,
            at=transition.at,
            by_member=transition.by,
            detail=transition.detail,
        )
    )
    touch(conn, TOPIC, household)


def list_transitions(conn: Connection, household: str, action_id: str) -> list[Transition]:
    """Return the transitions of an action, first one first."""
    query = (
        select(action_transitions)
        .where(_transitions.household == household, _transitions.action_id == action_id)
        .order_by(_transitions.number)
    )
    return [
        Transition(
            from_status=ActionStatus(row["from_status"]) if row["from_status"] else None,
            to_status=ActionStatus(row["to_status"]),
            cause=Cause(row["cause"]),
            at=row["at"],
            by=row["by_member"],
            detail=row["detail"],
        )
        for row in conn.execute(query).mappings()
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
        conn: Open connection, in a write transaction.
        household: Tenant key.
        action_id: The action that was pressed.
        reason: Why it changed nothing.
        by: Who pressed, as far as known.
        at: Aware.
    """
    conn.execute(
        insert(action_refusals).values(
            household=household,
            action_id=action_id,
            number=_next_number(conn, action_refusals, household, action_id),
            reason=reason.value,
            by_member=by,
            at=at,
        )
    )


def count_refusals(
    conn: Connection, household: str, *, since: datetime | None = None
) -> dict[Refusal, int]:
    """Return how many presses of a household changed nothing, by reason.

    Args:
        conn: Open connection.
        household: Tenant key.
        since: Aware; only presses at or after it, where given.
    """
    query = select(_refusals.reason, func.count()).where(_refusals.household == household)
    if since is not None:
        query = query.where(_refusals.at >= since)
    counted = conn.execute(query.group_by(_refusals.reason))
    return {Refusal(reason): count for reason, count in counted}


def purge_refusals(conn: Connection, household: str, *, before: datetime) -> int:
    """Delete the presses before then that changed nothing; returns how many."""
    old = (_refusals.household == household, _refusals.at < before)
    return conn.execute(delete(action_refusals).where(*old)).rowcount


def _next_number(conn: Connection, table: Table, household: str, action_id: str) -> int:
    last = select(func.coalesce(func.max(table.c.number), 0)).where(
        table.c.household == household, table.c.action_id == action_id
    )
    return int(conn.execute(last).scalar_one()) + 1
