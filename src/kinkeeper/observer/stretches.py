"""Stretches of a chat that wait to be read by a model: ids and numbers only, no words."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.jobs.leases import Key, WorkState
from kinkeeper.observer.tables import observer_messages, talk_stretches
from kinkeeper.reading.batch import MOST_NEW, SILENCE
from kinkeeper.store.commits import touch

TOPIC: Final = "observer.read_talk"
"""Touched by commits that leave a stretch to be read; also the name of the work."""

_columns = talk_stretches.c
_UNFINISHED = (WorkState.QUEUED.value, WorkState.RUNNING.value)


def add_message(
    conn: Connection, household: str, row_id: str, message: InboundMessage, *, now: datetime
) -> None:
    """Add a message to the stretch of its chat that grows, or begin one with it; only words are read.

    Args:
        conn: In the transaction that records the message.
        household: Tenant key.
        row_id: Id of its rows.
        message: What was said.
        now: Aware; when it arrived.
    """
    if message.kind is not MessageKind.TEXT or not message.text.strip():
        return
    growing = conn.execute(
        select(_columns.first, _columns.messages)
        .where(
            _columns.household == household, _columns.chat_id == message.chat_id,
            _columns.state == WorkState.QUEUED.value, _columns.begun == 0,
            _columns.messages < MOST_NEW, _columns.due_at > now,
        )
        .with_for_update()
    ).first()  # fmt: skip
    if growing is None:
        conn.execute(
            insert(talk_stretches).values(
                household=household, first=row_id, chat_id=message.chat_id, last=row_id, messages=1,
                created_at=now, due_at=now + SILENCE,
            )
        )  # fmt: skip
    else:
        count = growing.messages + 1
        conn.execute(
            update(talk_stretches)
            .where(_columns.household == household, _columns.first == growing.first)
            .values(last=row_id, messages=count, due_at=now if count == MOST_NEW else now + SILENCE)
        )
        if count == MOST_NEW:
            touch(conn, TOPIC, household)


def find(conn: Connection, key: Key) -> Row[Any] | None:
    """Return a stretch by its key, if there is one."""
    household, first = key
    query = select(talk_stretches).where(_columns.household == household, _columns.first == first)
    return conn.execute(query).first()


def next_waiting(conn: Connection, household: str) -> Row[Any] | None:
    """Return the stretch that is due next, if one waits.

    Args:
        conn: Any transaction.
        household: Tenant key.
    """
    query = (
        select(talk_stretches)
        .where(_columns.household == household, _columns.state.in_(_UNFINISHED))
        .order_by(_columns.due_at, _columns.first)
        .limit(1)
    )
    return conn.execute(query).first()


def first_in_chat(conn: Connection, key: Key, now: datetime) -> Key | None:
    """Return the first stretch of a chat that may be read now; None while a message of it is still being understood.

    Args:
        conn: Any transaction.
        key: Of a stretch of that chat.
        now: Aware.
    """
    asked = find(conn, key)
    if asked is None:
        return None
    message = observer_messages.c
    waits = conn.execute(
        select(message.id).where(
            message.household == asked.household, message.chat_id == asked.chat_id,
            message.state.in_(_UNFINISHED), message.due_at <= now,
        )
    ).first()  # fmt: skip
    if waits is not None:
        return None
    rows = conn.execute(
        select(_columns.first).where(
            _columns.household == asked.household, _columns.chat_id == asked.chat_id,
            _columns.state.in_(_UNFINISHED), _columns.due_at <= now,
        )
    ).scalars()  # fmt: skip
    return (asked.household, min([*rows, asked.first], key=int))


def record(
    conn: Connection, key: Key, *, outcome: str, engine: str, effects: Sequence[Mapping[str, Any]]
) -> None:
    """Keep what came of reading a stretch.

    Args:
        conn: In the transaction that writes the effects.
        key: Of the stretch.
        outcome: How the call ended.
        engine: Who read it.
        effects: What followed for which message; ids and words of ours alone.
    """
    household, first = key
    conn.execute(
        update(talk_stretches)
        .where(_columns.household == household, _columns.first == first)
        .values(outcome=outcome, engine=engine, effects=[dict(each) for each in effects])
    )


def read_with(conn: Connection, household: str, chat_id: str, row_id: str) -> Row[Any] | None:
    """Return the stretch that a message belongs to, if a model was to read it.

    Args:
        conn: Any transaction.
        household: Tenant key.
        chat_id: The message's chat.
        row_id: Id of its rows.
    """
    rows = conn.execute(
        select(talk_stretches).where(_columns.household == household, _columns.chat_id == chat_id)
    ).all()
    return next((each for each in rows if int(each.first) <= int(row_id) <= int(each.last)), None)


def outcomes(conn: Connection, household: str, *, since: datetime) -> Sequence[Row[Any, Any]]:
    """Return how the stretches of a span were read: outcome and effects of each that is done.

    Args:
        conn: Any transaction.
        household: Tenant key.
        since: Aware; only those that began then or later.
    """
    return conn.execute(
        select(_columns.outcome, _columns.effects).where(
            _columns.household == household, _columns.created_at >= since,
            _columns.outcome.is_not(None),
        )
    ).all()  # fmt: skip
