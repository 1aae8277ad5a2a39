"""What a channel brought in and our own code failed on: kept whole, so that nothing is lost and nothing blocked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from kinkeeper.messaging.tables import failed_updates

_columns = failed_updates.c


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedUpdate:
    """An update that could not be handled.

    Attributes:
        id: Row id.
        channel: Where it came from.
        update_id: The channel's id of it.
        content: As it came; None once purged.
        error: What went wrong, without message text.
        received_at: Aware.
    """

    id: int
    channel: str
    update_id: str
    content: str | None
    error: str
    received_at: datetime


def keep(
    conn: Connection,
    household: str,
    *,
    channel: str,
    update_id: str,
    content: str,
    error: str,
    now: datetime,
) -> bool:
    """Keep an update whose handling failed; the same one again changes nothing.

    Args:
        conn: In a write transaction of its own: the one that failed is undone.
        household: Tenant key; empty where the update does not tell whose it is.
        channel: Where it came from.
        update_id: The channel's id of it.
        content: As it came.
        error: What went wrong, without message text.
        now: Aware.

    Returns:
        Whether it was kept now.
    """
    mine = (
        _columns.household == household,
        _columns.channel == channel,
        _columns.update_id == update_id,
    )
    if conn.execute(select(_columns.id).where(*mine)).first() is not None:
        return False
    conn.execute(
        insert(failed_updates).values(
            household=household, channel=channel, update_id=update_id, content=content,
            error=error, received_at=now,
        )
    )  # fmt: skip
    return True


def count(conn: Connection, household: str) -> int:
    """Return how many updates of a household wait for somebody to look at them."""
    statement = select(func.count()).where(_columns.household == household)
    return int(conn.execute(statement.select_from(failed_updates)).scalar_one())


def find(conn: Connection, household: str, *, limit: int = 100) -> Sequence[FailedUpdate]:
    """Return the failed updates of a household, oldest first, at most `limit`."""
    rows = conn.execute(
        select(failed_updates)
        .where(_columns.household == household)
        .order_by(_columns.id)
        .limit(limit)
    )
    return [
        FailedUpdate(
            id=row.id, channel=row.channel, update_id=row.update_id, content=row.content,
            error=row.error, received_at=row.received_at,
        )
        for row in rows
    ]  # fmt: skip


def forget(conn: Connection, household: str, row_id: int) -> bool:
    """Delete one that was handled after all, or looked at; returns whether it was there."""
    mine = (_columns.household == household, _columns.id == row_id)
    return conn.execute(delete(failed_updates).where(*mine)).rowcount == 1


def purge(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the content of updates received before then; the rows stay. Returns how many."""
    old = (
        _columns.household == household,
        _columns.received_at < before,
        _columns.content.is_not(None),
    )
    return conn.execute(update(failed_updates).where(*old).values(content=None)).rowcount
