"""Outbound messages: a row first, delivered afterwards. Functions over the caller's transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    and_,
    func,
    insert,
    or_,
    select,
    update,
)

from kinkeeper.core.errors import InvariantError
from kinkeeper.messaging.addresses import address_for, current_chat
from kinkeeper.messaging.tables import outbox
from kinkeeper.store.commits import touch

TOPIC = "outbox"
_columns = outbox.c


class OutboundKind(StrEnum):
    """What a row asks its channel to do."""

    SEND = "send"  # a new message
    EDIT = "edit"  # another text and other buttons on a message that was sent
    NOTICE = "notice"  # a line to the one who pressed a button, in answer to that press


class OutboundState(StrEnum):
    """Where an outbound message stands."""

    QUEUED = "queued"  # a channel has still to deliver it
    SENDING = "sending"  # handed to the channel; whether it went out is not known yet
    SENT = "sent"  # delivered; a replay delivers by printing
    UNKNOWN = "unknown"  # may have gone out or not, and is not tried again
    FAILED = "failed"  # the channel refuses it for good
    DROPPED = "dropped"  # not sent on purpose: too late, overtaken, or without its message


class Route(StrEnum):
    """Who sees a row's message, and where."""

    CHAT = "chat"  # everybody in the chat
    MEMBER = "member"  # one member of the chat, the others do not see it
    PRIVATE = "private"  # one member, in a chat with nobody else


class Verb(StrEnum):
    """What a button does when it is pressed."""

    CONFIRM = "confirm"
    CHOOSE = "choose"  # its `choice` is the label of one of the action's choices
    REJECT = "reject"
    UNDO = "undo"
    REASON = "reason"  # its `choice` says why the action was declined


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button under a message.

    Attributes:
        label: What it says.
        verb: What it does.
        choice: Which choice or reason, where the verb needs one.
    """

    label: str
    verb: Verb
    choice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """One message to a chat.

    Attributes:
        channel: Where it goes.
        chat_id: Which chat; with an audience, the chat it is about.
        body: What is said.
        dedupe_key: A second message under the same key is not added.
        kind: What the channel is to do.
        reply_to: The channel's id of the message it is about, if any.
        buttons: Under it, in order; what they do is done to `action_id`.
        audience: Member id of the only one who may see it; None: the whole chat.
        edits: Of an edit, the row of the message that changes.
        answer_to: Of a notice, the channel's id of the press it answers.
        conflict_key: Stable key of the conflict it announces, if any.
        action_id: Pending action behind the buttons, if any.
        deliver_by: Aware; not delivered from then on. None: however late.
        is_unprompted: Whether nobody asked for it: those are counted a day, and never sent twice.
        is_soundless: Whether it should not make anybody's phone ring.
    """

    channel: str
    chat_id: str
    body: str
    dedupe_key: str
    kind: OutboundKind = OutboundKind.SEND
    reply_to: str | None = None
    buttons: Sequence[Button] = ()
    audience: str | None = None
    edits: int | None = None
    answer_to: str | None = None
    conflict_key: str | None = None
    action_id: str | None = None
    deliver_by: datetime | None = None
    is_unprompted: bool = True
    is_soundless: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutbound:
    """An outbound message as it stands.

    Attributes:
        id: Row id; order of delivery within a chat.
        household: Tenant key.
        message: What to deliver; its chat is where it goes now.
        route: Who sees it there.
        state: Where it stands.
        attempts: How often it was handed to the channel.
        unknowns: How often nobody could tell afterwards whether it went out.
        not_before: Aware; earliest next attempt.
        lease_until: Aware; while sending, when it counts as lost.
        error: Why it waits, failed or was dropped; no message text.
        channel_message_id: What the channel calls it, once known.
        ephemeral_id: What the channel calls it where only one member sees it.
        created_at: Aware.
        sent_at: Aware, once sent.
    """

    id: int
    household: str
    message: Outbound
    route: Route
    state: OutboundState
    attempts: int
    unknowns: int
    not_before: datetime | None
    lease_until: datetime | None
    error: str | None
    channel_message_id: str | None
    ephemeral_id: str | None
    created_at: datetime
    sent_at: datetime | None

    @property
    def message_key(self) -> str | None:
        """What a press on it names as its message: the ephemeral id, else the message id."""
        return self.ephemeral_id or self.channel_message_id

    @property
    def has_arrived(self) -> bool:
        """Whether the channel is known to hold it under an id."""
        return self.message_key is not None


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
        conn: In a write transaction.
        household: Tenant key.
        message: What to say.
        now: Aware.
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


def carriers(conn: Connection, household: str, action_id: str) -> Sequence[StoredOutbound]:
    """Return the messages with buttons for an action that are, or may still get, in front of people."""
    is_out = or_(_columns.channel_message_id.is_not(None), _columns.ephemeral_id.is_not(None))
    waits = _columns.state.in_([OutboundState.QUEUED.value, OutboundState.SENDING.value])
    found = _read(
        conn, household,
        and_(
            _columns.action_id == action_id,
            _columns.kind == OutboundKind.SEND.value,
            or_(is_out, waits),
        ),
    )  # fmt: skip
    return [row for row in found if row.message.buttons]


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
        conn: In a write transaction.
        household: Tenant key.
        row_id: Of the message.
        message_key: What the press names as its message.
        now: Aware.
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


def count_states(conn: Connection, household: str) -> Mapping[OutboundState, int]:
    """Return how many rows stand where."""
    counted = conn.execute(
        select(_columns.state, func.count())
        .where(_columns.household == household)
        .group_by(_columns.state)
    )
    return {OutboundState(state): count for state, count in counted}


def troubled(conn: Connection, household: str, *, since: datetime) -> Sequence[StoredOutbound]:
    """Return what failed, or went out perhaps, since then; oldest first."""
    bad = _columns.state.in_([OutboundState.FAILED.value, OutboundState.UNKNOWN.value])
    return _read(conn, household, and_(bad, _columns.created_at >= since))


def stored(row: RowMapping) -> StoredOutbound:
    """Return the row of a statement on the whole table."""
    return StoredOutbound(
        id=row["id"],
        household=row["household"],
        message=Outbound(
            channel=row["channel"], chat_id=row["chat_id"], body=row["body"] or "",
            dedupe_key=row["dedupe_key"], kind=OutboundKind(row["kind"]), reply_to=row["reply_to"],
            buttons=tuple(
                Button(label=each["label"], verb=Verb(each["verb"]), choice=each["choice"])
                for each in row["buttons"]
            ),
            audience=row["audience"], edits=row["edits"], answer_to=row["answer_to"],
            conflict_key=row["conflict_key"], action_id=row["action_id"],
            deliver_by=row["deliver_by"], is_unprompted=bool(row["is_unprompted"]),
            is_soundless=bool(row["is_soundless"]),
        ),
        route=Route(row["route"]),
        state=OutboundState(row["state"]),
        **{
            name: row[name]
            for name in (
                "attempts", "unknowns", "not_before", "lease_until", "error",
                "channel_message_id", "ephemeral_id", "created_at", "sent_at",
            )
        },
    )  # fmt: skip


def purge_bodies(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the words of finished messages put before then; the rows stay. Returns how many."""
    finished = _columns.state.not_in([OutboundState.QUEUED.value, OutboundState.SENDING.value])
    return conn.execute(
        update(outbox)
        .where(
            _columns.household == household,
            _columns.created_at < before,
            _columns.body.is_not(None),
            finished,
        )
        .values(body=None)
    ).rowcount


def _check(message: Outbound) -> None:
    if (message.kind is OutboundKind.EDIT) != (message.edits is not None):
        raise InvariantError(
            "an edit names the row of the message it changes, and nothing else does"
        )
    if (message.kind is OutboundKind.NOTICE) != (message.answer_to is not None):
        raise InvariantError("a notice names the press it answers, and nothing else does")
    if message.buttons and message.action_id is None:
        raise InvariantError("buttons do something to an action; name it")


def _values(message: Outbound) -> dict[str, Any]:
    return {
        "dedupe_key": message.dedupe_key, "kind": message.kind.value, "channel": message.channel,
        "chat_id": message.chat_id, "route": Route.CHAT.value, "audience": message.audience,
        "reply_to": message.reply_to, "edits": message.edits, "answer_to": message.answer_to,
        "body": message.body,
        "buttons": [
            {"label": each.label, "verb": each.verb.value, "choice": each.choice}
            for each in message.buttons
        ],
        "conflict_key": message.conflict_key, "action_id": message.action_id,
        "is_unprompted": int(message.is_unprompted), "is_soundless": int(message.is_soundless),
        "deliver_by": message.deliver_by,
    }  # fmt: skip


def _addressed(conn: Connection, household: str, message: Outbound) -> dict[str, Any]:
    """Return where a row goes, as far as that differs from what was asked for."""
    if message.kind is OutboundKind.EDIT and message.edits is not None:
        target = load(conn, household, message.edits)
        if target is None:
            raise InvariantError(f"household {household!r} has no outbound message {message.edits}")
        return {
            "channel": target.message.channel, "chat_id": target.message.chat_id,
            "route": target.route.value, "audience": target.message.audience,
        }  # fmt: skip
    chat_id = current_chat(conn, household, message.channel, message.chat_id)
    if message.audience is None or message.kind is OutboundKind.NOTICE:
        return {"chat_id": chat_id}
    address = address_for(conn, household, message.channel, chat_id, member=message.audience)
    if address is None:
        return {
            "chat_id": chat_id, "route": Route.PRIVATE.value, "state": OutboundState.FAILED.value,
            "error": "no way to reach this member alone",
        }  # fmt: skip
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
