"""The events of a thread's stream: rows first, numbered, so that whoever was cut off loses nothing."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.tables import threads, turn_events
from kinkeeper.conversation.threads import topic_of
from kinkeeper.store.commits import touch

Told = tuple[EventName, Mapping[str, Any]]
"""An event that has no number yet."""

_columns = turn_events.c
_MOST_AT_ONCE = 500


def append(
    conn: Connection,
    household: str,
    thread_id: str,
    told: Sequence[Told],
    *,
    turn_id: str,
    at: datetime,
) -> None:
    """Add events to a thread's stream, and wake who listens once they are committed.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        thread_id: Of a stored thread.
        told: In order.
        turn_id: The turn they belong to.
        at: Present time, aware.
    """
    if not told:
        return
    counted = (
        update(threads)
        .where(threads.c.household == household, threads.c.id == thread_id)
        .values(events=threads.c.events + len(told))
        .returning(threads.c.events)
    )
    first = int(conn.execute(counted).scalar_one()) - len(told) + 1
    conn.execute(
        insert(turn_events),
        [
            {
                "household": household, "thread": thread_id, "number": number, "turn": turn_id,
                "name": name.value, "data": dict(data), "at": at,
            }
            for number, (name, data) in enumerate(told, start=first)
        ],
    )  # fmt: skip
    touch(conn, topic_of(thread_id), household)


def events_after(
    conn: Connection, household: str, thread_id: str, number: int
) -> Sequence[TurnEvent]:
    """Return the events of a thread behind a number, in order; at most 500.

    Args:
        conn: Any transaction.
        household: Tenant key.
        thread_id: Of the thread.
        number: Of the last event that is known; 0 for none.
    """
    query = (
        select(_columns.number, _columns.turn, _columns.name, _columns.data)
        .where(
            _columns.household == household, _columns.thread == thread_id, _columns.number > number
        )
        .order_by(_columns.number)
        .limit(_MOST_AT_ONCE)
    )
    return [
        TurnEvent(number=row.number, turn_id=row.turn, name=EventName(row.name), data=row.data)
        for row in conn.execute(query)
    ]


def last_number(conn: Connection, household: str, thread_id: str) -> int:
    """Return the number of a thread's last event; 0 where there is none."""
    query = select(threads.c.events).where(
        threads.c.household == household, threads.c.id == thread_id
    )
    return int(conn.execute(query).scalar() or 0)


def number_before(conn: Connection, household: str, thread_id: str, turn_id: str) -> int:
    """Return the number behind which a turn's events stand; the thread's last where it has none yet.

    Args:
        conn: Any transaction.
        household: Tenant key.
        thread_id: Of the thread.
        turn_id: A turn of it.
    """
    query = select(func.min(_columns.number)).where(
        _columns.household == household, _columns.thread == thread_id, _columns.turn == turn_id
    )
    first = conn.execute(query).scalar()
    return last_number(conn, household, thread_id) if first is None else int(first) - 1


def has_events(conn: Connection, household: str, thread_id: str, turn_id: str) -> bool:
    """Whether a turn told something already."""
    query = select(_columns.number).where(
        _columns.household == household, _columns.thread == thread_id, _columns.turn == turn_id
    )
    return conn.execute(query.limit(1)).first() is not None
