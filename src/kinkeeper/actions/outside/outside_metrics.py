"""How much of what actions do outside the database waits, is done, or needs a person; and what is kept of it."""

from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from kinkeeper.actions.effects.tables import outside_work
from kinkeeper.jobs.leases import WorkState

_work = outside_work.c
_OVER = (WorkState.DONE.value, WorkState.DROPPED.value, WorkState.MANUAL_REVIEW.value)


def work_states(conn: Connection, household: str, *, since: datetime) -> dict[str, int]:
    """Return how many rows stand in which state.

    Args:
        conn: Any transaction.
        household: Tenant key.
        since: Aware; what was queued before does not count.
    """
    query = (
        select(_work.state, func.count().label("number"))
        .where(_work.household == household, _work.queued_at >= since)
        .group_by(_work.state)
    )
    return {row.state: row.number for row in conn.execute(query)}


def purge_work(conn: Connection, household: str, *, before: datetime) -> int:
    """Delete the rows of what was settled and queued before an instant; return how many.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        before: Aware.
    """
    old = (_work.household == household, _work.queued_at < before, _work.state.in_(_OVER))
    return conn.execute(delete(outside_work).where(*old)).rowcount
