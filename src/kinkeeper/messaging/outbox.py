"""Outbound messages: a row first, delivered afterwards. Functions over the caller's transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from kinkeeper.core.errors import InvariantError
from kinkeeper.messaging.addresses import address_for, current_chat
from kinkeeper.messaging.outbound import (
    OF_WORDS,
    Outbound,
    OutboundKind,
    OutboundState,
    Route,
    StoredOutbound,
    stored,
)
from kinkeeper.messaging.tables import outbox
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared

TOPIC = "outbox"
_columns = outbox.c
_CARRIERS = Prepared(
    select(outbox)
    .where(
        _columns.household == bindparam("of_household"),
        _columns.action_id == bindparam("of_action"),
        _columns.kind == OutboundKind.SEND.value,
        or_(
            _columns.channel_message_id.is_not(None),
            _columns.ephemeral_id.is_not(None),
            _columns.state == OutboundState.QUEUED.value,
            _columns.state == OutboundState.SENDING.value,
        ),
    )
    .order_by(_columns.id)
)


def put(
    conn: Connection,
    household: str,
    message: Outbound,
    *,
    now: datetime,
    state: OutboundState = OutboundState.QUEUED,
) -> tuple[int, bool]:
    """Add an outbound message unless its key is already there.

    A message for one member goes to the group if the channel can show it to them alone there, else to
    their private chat; where there is neither it is stored as failed, for the pages to show.

    Args:
        state: Queued, or sent where a replay delivers by printing.

    Returns:
        Row id, and whether it was added now.

    Raises:
        InvariantError: An edit without a message to change, or a notice without a press.
    """
    _check(message)
    found = conn.execute(
        select(_columns.id).where(
            _columns.household == household, _columns.dedupe_key == message.dedupe_key
        )
    ).scalar()
    if found is not None:
        return int(found), False
    values = _values(message)
    values |= _addressed(conn, household, message) if state is OutboundState.QUEUED else {}
    row_id = conn.execute(
        insert(outbox)
        .values({"household": household, "state": state.value, "created_at": now} | values)
        .returning(_columns.id)
    ).scalar_one()
    touch(conn, TOPIC, household)
    return int(row_id), True


def load(conn: Connection, household: str, row_id: int) -> StoredOutbound | None:
    """Return one row, if it is this household's."""
    found = _read(conn, household, _columns.id == row_id)
    return found[0] if found else None


def find_by_channel_id(
    conn: Connection, household: str, channel: str, chat_id: str, *, message_id: str
) -> StoredOutbound | None:
    """Return the message of ours that a channel knows by an id, where everybody in the chat sees it."""
    found = _read(
        conn,
        household,
        and_(
            _columns.channel == channel,
            _columns.chat_id == chat_id,
            _columns.kind == OutboundKind.SEND.value,
            _columns.channel_message_id == message_id,
        ),
    )
    return found[-1] if found else None


def carriers(conn: Connection, household: str, action_id: str) -> Sequence[StoredOutbound]:
    """Return the messages with buttons for an action that are, or may still get, in front of people."""
    found = _CARRIERS.mappings(conn, {"of_household": household, "of_action": action_id})
    return [row for row in map(stored, found) if row.message.buttons]


def drop_waiting(conn: Connection, household: str, row_id: int, *, reason: str) -> bool:
    """Drop a row that no channel has taken yet; returns whether that was still possible."""
    return _drop(conn, household, _columns.id == row_id, reason) == 1


def drop_unprompted(conn: Connection, household: str, *, reason: str) -> int:
    """Drop every message that nobody asked for and no channel has taken yet; returns how many."""
    wanted = and_(
        _columns.is_unprompted == 1,
        _columns.audience.is_(None),
        _columns.kind == OutboundKind.SEND.value,
    )
    return _drop(conn, household, wanted, reason)


def note_arrival(
    conn: Connection, household: str, row_id: int, message_key: str, *, now: datetime
) -> None:
    """Note the channel's id of a message whose delivery it never confirmed: somebody pressed its button.

    Args:
        message_key: What the press names as its message.
    """
    row = load(conn, household, row_id)
    if row is None or row.has_arrived:
        return
    name = "ephemeral_id" if row.route is Route.MEMBER else "channel_message_id"
    values: dict[str, Any] = {name: message_key}
    if row.state is OutboundState.UNKNOWN:
        values |= {"state": OutboundState.SENT.value, "sent_at": now, "error": None}
    conn.execute(
        update(outbox).where(_columns.household == household, _columns.id == row_id).values(values)
    )


def count_unprompted(conn: Connection, household: str, *, since: datetime, until: datetime) -> int:
    """Return how many messages that nobody asked for were put for whole chats in [since, until)."""
    return int(
        conn.execute(
            select(func.count())
            .select_from(outbox)
            .where(
                _columns.household == household,
                _columns.is_unprompted == 1,
                _columns.kind == OutboundKind.SEND.value,
                _columns.audience.is_(None),
                _columns.state != OutboundState.DROPPED.value,
                _columns.created_at >= since,
                _columns.created_at < until,
            )
        ).scalar_one()
    )


def was_announced(conn: Connection, household: str, conflict_key: str, *, since: datetime) -> bool:
    """Whether a conflict was announced at or after `since`."""
    statement = select(_columns.id).where(
        _columns.household == household,
        _columns.conflict_key == conflict_key,
        _columns.state != OutboundState.DROPPED.value,
        _columns.created_at >= since,
    )
    return conn.execute(statement.limit(1)).first() is not None


def purge_bodies(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the words of finished messages put before then, of buttons too; the rows stay. Returns how many."""
    finished = _columns.state.not_in([OutboundState.QUEUED.value, OutboundState.SENDING.value])
    return conn.execute(
        update(outbox)
        .where(
            _columns.household == household,
            _columns.created_at < before,
            _columns.body.is_not(None),
            finished,
        )
        .values(body=None, buttons=[], conflict_key=None)
    ).rowcount


def drop_bodies(conn: Connection, household: str, action_ids: Collection[str]) -> None:
    """Remove the words of finished messages about some actions; the rows stay."""
    finished = _columns.state.not_in([OutboundState.QUEUED.value, OutboundState.SENDING.value])
    conn.execute(
        update(outbox)
        .where(_columns.household == household, _columns.action_id.in_(action_ids), finished)
        .values(body=None)
    )


def forget(conn: Connection, household: str, *, before: datetime) -> int:
    """Delete the messages put before then, whatever became of them. Returns how many.

    For what is nobody's record; what a household was told stays, without its words.
    """
    return conn.execute(
        delete(outbox).where(_columns.household == household, _columns.created_at < before)
    ).rowcount


def _check(message: Outbound) -> None:
    if (message.kind is OutboundKind.EDIT) != (message.edits is not None):
        raise InvariantError(
            "an edit must name the message row it changes; other messages must not name one"
        )
    if (message.kind is OutboundKind.NOTICE) != (message.answer_to is not None):
        raise InvariantError(
            "a notice must name the button press it answers; other messages must not name one"
        )
    if message.action_id is None and any(each.verb not in OF_WORDS for each in message.buttons):
        raise InvariantError("buttons belong to an action; name it")


def _values(message: Outbound) -> dict[str, Any]:
    return {
        "dedupe_key": message.dedupe_key,
        "kind": message.kind.value,
        "channel": message.channel,
        "chat_id": message.chat_id,
        "route": Route.CHAT.value,
        "audience": message.audience,
        "reply_to": message.reply_to,
        "edits": message.edits,
        "answer_to": message.answer_to,
        "body": message.body,
        "buttons": [
            {"label": each.label, "verb": each.verb.value, "choice": each.choice}
            for each in message.buttons
        ],
        "conflict_key": message.conflict_key,
        "action_id": message.action_id,
        "is_unprompted": int(message.is_unprompted),
        "is_soundless": int(message.is_soundless),
        "is_alarm": int(message.is_alarm),
        "deliver_by": message.deliver_by,
    }


def _addressed(conn: Connection, household: str, message: Outbound) -> dict[str, Any]:
    """Return where a row goes, as far as that differs from what was asked for."""
    if message.kind is OutboundKind.EDIT and message.edits is not None:
        target = load(conn, household, message.edits)
        if target is None:
            raise InvariantError(f"household {household!r} has no outbound message {message.edits}")
        return {
            "channel": target.message.channel,
            "chat_id": target.message.chat_id,
            "route": target.route.value,
            "audience": target.message.audience,
        }
    chat_id = current_chat(conn, household, message.channel, message.chat_id)
    if message.audience is None or message.kind is OutboundKind.NOTICE:
        return {"chat_id": chat_id}
    address = address_for(conn, household, message.channel, chat_id, member=message.audience)
    if address is None:
        return {
            "chat_id": chat_id,
            "route": Route.PRIVATE.value,
            "state": OutboundState.FAILED.value,
            "error": "no way to reach this member privately",
        }
    if address.is_private:
        # Their private chat does not hold the message that this one answers.
        kept = message.reply_to if address.chat_id == chat_id else None
        return {"chat_id": address.chat_id, "route": Route.PRIVATE.value, "reply_to": kept}
    return {"chat_id": address.chat_id, "route": Route.MEMBER.value}


def _drop(conn: Connection, household: str, wanted: ColumnElement[bool], reason: str) -> int:
    waits = _columns.state == OutboundState.QUEUED.value
    dropped = conn.execute(
        update(outbox)
        .where(_columns.household == household, waits, wanted)
        .values(state=OutboundState.DROPPED.value, error=reason)
    ).rowcount
    touch(conn, TOPIC, household)
    return dropped


def _read(
    conn: Connection, household: str, wanted: ColumnElement[bool]
) -> Sequence[StoredOutbound]:
    statement = select(outbox).where(_columns.household == household, wanted).order_by(_columns.id)
    return [stored(row) for row in conn.execute(statement).mappings()]
