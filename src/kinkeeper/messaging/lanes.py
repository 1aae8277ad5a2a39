"""The outbox as whoever delivers sees it: rows in order, taken one at a time, and what became of each.

A lane is what keeps its order: the messages of a chat; the answers to presses in it are another lane.
Every step finds the row as it was taken or changes nothing, so who comes back late does no harm.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, select, update

from kinkeeper.core.time import A_DAY, is_held_until
from kinkeeper.jobs.runners import is_dead
from kinkeeper.messaging.addresses import private_chat_of, record_move
from kinkeeper.messaging.channel import Delivered, OutgoingItem, PressButton
from kinkeeper.messaging.outbound import (
    OutboundKind,
    OutboundState,
    Route,
    StoredOutbound,
    stored,
)
from kinkeeper.messaging.outbox import TOPIC, load
from kinkeeper.messaging.tables import outbox
from kinkeeper.store.commits import touch
from kinkeeper.store.locks import runner_of

REPEATED = " (sent again)"
TOO_LATE = "too late to be useful"
OVERTAKEN = "a newer change to the same message replaced it"
NEVER_SENT = "the message it changes was never sent"
LEFT_BEHIND = "the message it changes was sent before the chat changed its id"

_columns = outbox.c
_OPEN = (OutboundState.QUEUED.value, OutboundState.SENDING.value)
_NOTICE = OutboundKind.NOTICE.value
# An edit or an answer to a press does no harm twice; after this often it is a fault of the channel.
_MOST_UNKNOWNS = 5

Mint = Callable[[Connection, StoredOutbound, datetime], tuple[PressButton, ...]]
"""Makes what the buttons of a row give back when pressed; leaves out those that would do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """What is delivered in order.

    Attributes:
        channel: Its channel.
        chat_id: Its chat.
        is_notices: Whether it holds the answers to presses rather than the messages.
    """

    channel: str
    chat_id: str
    is_notices: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A row handed to its channel.

    Attributes:
        row: As it stands now.
        item: What the channel is to do.
    """

    row: StoredOutbound
    item: OutgoingItem


def open_lanes(conn: Connection, household: str, channels: Collection[str]) -> Sequence[Lane]:
    """Return the lanes of these channels in which something waits, or is being sent."""
    is_notice = (_columns.kind == _NOTICE).label("is_notice")
    rows = conn.execute(
        select(_columns.channel, _columns.chat_id, is_notice)
        .where(
            _columns.household == household,
            _columns.state.in_(_OPEN),
            _columns.channel.in_(channels),
        )
        .group_by(_columns.channel, _columns.chat_id, is_notice)
        .order_by(func.min(_columns.id))
    )
    return [
        Lane(channel=row.channel, chat_id=row.chat_id, is_notices=bool(row.is_notice))
        for row in rows
    ]


def take_next(
    conn: Connection, household: str, lane: Lane, *, mint: Mint, now: datetime, lease: timedelta
) -> Taken | datetime | None:
    """Take the first row of a lane, after clearing away what is not to be sent any more.

    Args:
        conn: In a write transaction, to be committed before the channel is called.
        household: Tenant key.
        lane: Which one.
        mint: Makes the buttons' data.
        now: Aware.
        lease: Longest time a call of the channel may take; afterwards the row counts as lost, as it does once
            its process is known to be dead.

    Returns:
        The row taken; or when to look again; or None where the lane is empty.
    """
    while (row := _first(conn, household, lane)) is not None:
        if row.state is OutboundState.SENDING:
            until = row.lease_until
            if until is not None and _waits_until(until, now) and not _is_abandoned(conn, row):
                return until
            lose(conn, row, error="its delivery was interrupted", now=now)
            continue
        reason = _why_drop(conn, row, now)
        if reason is not None:
            _set(conn, row, state=OutboundState.DROPPED, error=reason)
            continue
        if row.not_before is not None and _waits_until(row.not_before, now):
            return row.not_before
        return _take(conn, row, mint, now=now, lease=lease)
    return None


def _waits_until(until: datetime, now: datetime) -> bool:
    return is_held_until(until, now, A_DAY)


def _is_abandoned(conn: Connection, row: StoredOutbound) -> bool:
    """Whether the process that was sending a row is known to be dead."""
    return bool(conn.execute(select(is_dead(_columns.runner)).where(_is(row))).scalar())


def _is(row: StoredOutbound) -> ColumnElement[bool]:
    return and_(_columns.household == row.household, _columns.id == row.id)


def end_leases(conn: Connection, household: str, *, now: datetime) -> int:
    """Let everything that is being sent count as lost: for the one process that knows that it is alone."""
    mine = and_(_columns.household == household, _columns.state == OutboundState.SENDING.value)
    return conn.execute(update(outbox).where(mine).values(lease_until=now)).rowcount


def is_any_late(conn: Connection, household: str, *, now: datetime) -> bool:
    """Whether something waits beyond its time."""
    return (
        conn.execute(select(_columns.id).where(_late(household, now)).limit(1)).first() is not None
    )


def drop_late(conn: Connection, household: str, *, now: datetime) -> int:
    """Drop what waits beyond its time, whatever the channel: also where none of it runs here."""
    values = {"state": OutboundState.DROPPED.value, "error": TOO_LATE}
    return conn.execute(update(outbox).where(_late(household, now)).values(values)).rowcount


def sent(conn: Connection, row: StoredOutbound, delivered: Delivered, *, now: datetime) -> None:
    """Record that a row went out."""
    _set(
        conn, row, state=OutboundState.SENT, error=None, sent_at=now,
        channel_message_id=delivered.channel_message_id, ephemeral_id=delivered.ephemeral_id,
    )  # fmt: skip


def put_back(conn: Connection, row: StoredOutbound, *, error: str, until: datetime) -> None:
    """Queue a row again that surely did not go out."""
    _set(conn, row, state=OutboundState.QUEUED, error=error, not_before=until)


def lose(conn: Connection, row: StoredOutbound, *, error: str, now: datetime) -> None:
    """Record that nobody can tell whether a row went out.

    What nobody asked for is left at that. An awaited message is sent once more, and says so. An edit or
    an answer to a press does the same thing twice, so it is tried again.
    """
    unknowns = row.unknowns + 1
    if row.message.kind is OutboundKind.SEND:
        is_over = row.message.is_unprompted or row.unknowns > 0
        end = OutboundState.UNKNOWN
    else:
        is_over, end = unknowns >= _MOST_UNKNOWNS, OutboundState.FAILED
    state = end if is_over else OutboundState.QUEUED
    _set(conn, row, state=state, error=error, unknowns=unknowns, not_before=now)


def refuse(conn: Connection, row: StoredOutbound, *, error: str) -> None:
    """Record that a channel will never deliver a row this way; one for a member alone tries the next way.

    Within the group, then in private; where neither works it stays failed, and the pages show it.
    """
    if row.message.kind is OutboundKind.NOTICE:
        _set(conn, row, state=OutboundState.DROPPED, error=error)
        return
    private = _private_chat(conn, row)
    if private is None:
        _set(conn, row, state=OutboundState.FAILED, error=error)
        return
    way = {"chat_id": private, "route": Route.PRIVATE.value, "reply_to": None}
    _set(conn, row, state=OutboundState.QUEUED, error=error, not_before=None, **way)
    _follow(conn, row, way)


def move(conn: Connection, row: StoredOutbound, new_chat_id: str, *, now: datetime) -> None:
    """Send a row, and everything else that waits for its chat, to the chat's new id from now on."""
    message = row.message
    leads_on = record_move(
        conn, row.household, message.channel, old=message.chat_id, new=new_chat_id, now=now
    )
    if not leads_on:
        _set(conn, row, state=OutboundState.FAILED, error="the new ids of the chat form a loop")
        return
    _set(conn, row, state=OutboundState.QUEUED, error="the chat has a new id", not_before=None)
    waiting = and_(
        _columns.household == row.household,
        _columns.channel == message.channel,
        _columns.chat_id == message.chat_id,
        _columns.state == OutboundState.QUEUED.value,
    )
    # The new chat does not know the old one's message ids.
    conn.execute(update(outbox).where(waiting).values(chat_id=new_chat_id, reply_to=None))
    touch(conn, TOPIC, row.household)


def _late(household: str, now: datetime) -> ColumnElement[bool]:
    return and_(
        _columns.household == household,
        _columns.state == OutboundState.QUEUED.value,
        _columns.deliver_by <= now,
    )


def _first(conn: Connection, household: str, lane: Lane) -> StoredOutbound | None:
    is_notice = _columns.kind == _NOTICE
    row = (
        conn.execute(
            select(outbox)
            .where(
                _columns.household == household,
                _columns.state.in_(_OPEN),
                _columns.channel == lane.channel,
                _columns.chat_id == lane.chat_id,
                is_notice if lane.is_notices else ~is_notice,
            )
            .order_by(_columns.id)
            .limit(1)
        )
        .mappings()
        .first()
    )
    return None if row is None else stored(row)


def _why_drop(conn: Connection, row: StoredOutbound, now: datetime) -> str | None:
    deliver_by = row.message.deliver_by
    if deliver_by is not None and deliver_by <= now:
        return TOO_LATE
    if row.message.kind is not OutboundKind.EDIT:
        return None
    target = _target(conn, row)
    if target is None or not target.has_arrived:
        return NEVER_SENT
    if target.message.chat_id != row.message.chat_id:
        return LEFT_BEHIND
    newer = select(_columns.id).where(
        _columns.household == row.household,
        _columns.edits == row.message.edits,
        _columns.id > row.id,
        _columns.state != OutboundState.DROPPED.value,
    )
    return OVERTAKEN if conn.execute(newer.limit(1)).first() is not None else None


def _take(
    conn: Connection, row: StoredOutbound, mint: Mint, *, now: datetime, lease: timedelta
) -> Taken:
    taken = _set(
        conn, row, state=OutboundState.SENDING, attempts=row.attempts + 1,
        lease_until=now + lease, not_before=None, runner=runner_of(conn),
    )  # fmt: skip
    message, target = taken.message, _target(conn, taken)
    body = message.body + (REPEATED if _is_repeat(taken) else "")
    item = OutgoingItem(
        id=taken.id, kind=message.kind, chat_id=message.chat_id, route=taken.route,
        audience=message.audience, body=body, buttons=mint(conn, taken, now),
        reply_to=message.reply_to,
        target=_held(target),
        answer_to=message.answer_to, is_soundless=message.is_soundless,
    )  # fmt: skip
    return Taken(row=taken, item=item)


def _held(target: StoredOutbound | None) -> Delivered | None:
    if target is None:
        return None
    return Delivered(channel_message_id=target.channel_message_id, ephemeral_id=target.ephemeral_id)


def _is_repeat(row: StoredOutbound) -> bool:
    return row.message.kind is OutboundKind.SEND and row.unknowns > 0


def _target(conn: Connection, row: StoredOutbound) -> StoredOutbound | None:
    edits = row.message.edits
    return None if edits is None else load(conn, row.household, edits)


def _private_chat(conn: Connection, row: StoredOutbound) -> str | None:
    audience = row.message.audience
    if audience is None or row.route is not Route.MEMBER or row.message.kind is OutboundKind.EDIT:
        return None
    return private_chat_of(conn, row.household, row.message.channel, audience)


def _follow(conn: Connection, row: StoredOutbound, way: dict[str, Any]) -> None:
    """Let waiting edits of a message go where it goes."""
    edits: ColumnElement[bool] = and_(
        _columns.household == row.household,
        _columns.edits == row.id,
        _columns.state == OutboundState.QUEUED.value,
    )
    conn.execute(update(outbox).where(edits).values(way))
    touch(conn, TOPIC, row.household)


def _set(
    conn: Connection, row: StoredOutbound, *, state: OutboundState, **values: Any
) -> StoredOutbound:
    """Move a row on if it still stands as it was read; return it as it stands now."""
    unmoved = and_(
        _is(row),
        _columns.state == row.state.value,
        _columns.attempts == row.attempts,
    )
    if state is not OutboundState.SENDING:
        values["lease_until"] = None
    conn.execute(update(outbox).where(unmoved).values(state=state.value, **values))
    touch(conn, TOPIC, row.household)
    return load(conn, row.household, row.id) or row
