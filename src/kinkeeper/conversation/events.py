"""The events of a thread's stream: rows first, numbered, so that whoever was cut off loses nothing."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Integer,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    update,
)

from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.tables import threads, turn_events
from kinkeeper.conversation.threads import topic_of
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared, is_one_of

Told = tuple[EventName, Mapping[str, Any]]
"""An event that has no number yet."""

_columns = turn_events.c
_MOST_AT_ONCE = 500
_INSERT = Prepared(
    insert(turn_events), ("household", "thread", "number", "turn", "name", "data", "at")
)
_COUNT = Prepared(
    update(threads)
    .where(threads.c.household == bindparam("of_household"), threads.c.id == bindparam("of_thread"))
    .values(events=threads.c.events + bindparam("more", type_=Integer))
    .returning(threads.c.events)
)
_LAST = Prepared(
    select(threads.c.id, threads.c.events).where(
        threads.c.household == bindparam("of_household"), is_one_of(threads.c.id, "of_threads")
    )
)
_AFTER = Prepared(
    select(_columns.number, _columns.turn, _columns.name, _columns.data)
    .where(
        _columns.household == bindparam("of_household"),
        _columns.thread == bindparam("of_thread"),
        _columns.number > bindparam("after"),
    )
    .order_by(_columns.number)
    .limit(literal_column(str(_MOST_AT_ONCE), Integer))
)


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
    of_thread = {"of_household": household, "of_thread": thread_id}
    last = int(_COUNT.execute(conn, of_thread | {"more": len(told)})[0][0])
    for number, (name, data) in enumerate(told, start=last - len(told) + 1):
        values = {
            "household": household, "thread": thread_id, "number": number, "turn": turn_id,
            "name": name.value, "data": dict(data), "at": at,
        }  # fmt: skip
        _INSERT.execute(conn, values)
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
    values = {"of_household": household, "of_thread": thread_id, "after": number}
    return [
        TurnEvent(number=row[0], turn_id=row[1], name=EventName(row[2]), data=row[3])
        for row in _AFTER.execute(conn, values)
    ]


def last_numbers(conn: Connection, household: str, thread_ids: Sequence[str]) -> Mapping[str, int]:
    """Return the number of the last event of each of some threads; 0 where there is none.

    Args:
        conn: Any transaction.
        household: Tenant key.
        thread_ids: Of threads; unknown ones are left out.
    """
    of_threads = {"of_household": household, "of_threads": list(thread_ids)}
    return {row[0]: row[1] for row in _LAST.execute(conn, of_threads)}


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
