"""What came in: inbound messages, each recorded once, and updates that our own code failed on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, insert, select, update

from kinkeeper.core.errors import ConflictError
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.core.time import to_text
from kinkeeper.messaging.tables import failed_updates, messages
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared

# What commits say that change what is known of messages.
TOPIC = "messages"

# Built once: putting a statement together costs several times as much as running it.
_BY_REVISION = select(messages).where(
    messages.c.household == bindparam("household"),
    messages.c.channel == bindparam("channel"),
    messages.c.chat_id == bindparam("chat_id"),
    messages.c.revision == bindparam("revision"),
)
_INSERTED = [column for column in messages.c if column is not messages.c.id]
# Not "on conflict": SQLite would give away a row id for a message that it then leaves out.
_INSERT_ONCE = Prepared(
    insert(messages)
    .from_select(
        _INSERTED,
        select(*(bindparam(column.name, type_=column.type) for column in _INSERTED)).where(
            ~_BY_REVISION.exists()
        ),
    )
    .returning(messages.c.id)
)
_BY_ID = select(messages).where(
    messages.c.household == bindparam("household"), messages.c.id == bindparam("id")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message as it stands in the inbox.

    Attributes:
        id: Row id; order of arrival.
        message: What was sent. Its text is empty once purged; `sender` is the member id where known.
        thread_id: Thread it belongs to.
        is_member: Whether the sender is a member of the household.
    """

    id: int
    message: InboundMessage
    thread_id: str
    is_member: bool


def revision_of(message: InboundMessage) -> str:
    """Return what tells this message from every other of its chat.

    An edit may come under the id of what it edits; then its time makes it a message of its own.
    """
    if message.kind is MessageKind.EDIT and message.message_id == message.target:
        return f"{message.message_id}@{to_text(message.sent_at)}"
    return message.message_id


def find_revision(
    conn: Connection, household: str, message: InboundMessage
) -> StoredMessage | None:
    """Return the stored row of the same message, if it was recorded before.

    Raises:
        ConflictError: The id is taken by a message with another text.
    """
    row = conn.execute(
        _BY_REVISION,
        {
            "household": household,
            "channel": message.channel,
            "chat_id": message.chat_id,
            "revision": revision_of(message),
        },
    ).first()
    if row is None:
        return None
    if row.text is not None and row.text != message.text:
        raise ConflictError(
            f"message id {message.message_id!r} is already stored in chat {message.chat_id!r} with another text; "
            'the stored one stays (send kind "edit" with a target to change it)'
        )
    return _stored(row)


def record(
    conn: Connection,
    household: str,
    message: InboundMessage,
    *,
    sender: str,
    is_member: bool,
    thread_id: str,
    now: datetime,
) -> int | None:
    """Insert a message, unless it was recorded before.

    Args:
        sender: Member id, or the name as sent.
        is_member: Whether `sender` is a member id.
        now: Aware; when it arrived.

    Returns:
        Its row id; None where it was, and `find_revision` finds it.
    """
    values = {
        "household": household,
        "channel": message.channel,
        "chat_id": message.chat_id,
        "message_id": message.message_id,
        "revision": revision_of(message),
        "thread_id": thread_id,
        "sender": sender,
        "is_member": int(is_member),
        "text": message.text,
        "kind": message.kind.value,
        "reply_to": message.reply_to,
        "target": message.target,
        "sent_at": message.sent_at,
        "received_at": now,
    }
    inserted = _INSERT_ONCE.execute(conn, values)
    touch(conn, TOPIC, household)
    return int(inserted[0][0]) if inserted else None


def load(conn: Connection, household: str, row_id: int) -> StoredMessage | None:
    """Return one message by its row id, if it is this household's."""
    row = conn.execute(_BY_ID, {"household": household, "id": row_id}).first()
    return _stored(row) if row else None


def find_by_message_id(
    conn: Connection, household: str, message_id: str, *, chat_id: str | None = None
) -> Sequence[StoredMessage]:
    """Return the messages with a channel's id, newest row last; several where chats share ids or edits do."""
    where = [messages.c.household == household, messages.c.message_id == message_id]
    if chat_id is not None:
        where.append(messages.c.chat_id == chat_id)
    rows = conn.execute(select(messages).where(*where).order_by(messages.c.id))
    return [_stored(row) for row in rows]


def find_reaction(
    conn: Connection, household: str, chat_id: str, *, target: str, sender: str, text: str
) -> StoredMessage | None:
    """Return the latest reaction of somebody to a message with one sign, if its text is still kept."""
    row = conn.execute(
        select(messages)
        .where(
            messages.c.household == household,
            messages.c.chat_id == chat_id,
            messages.c.kind == MessageKind.REACTION.value,
            messages.c.target == target,
            messages.c.sender == sender,
            messages.c.text == text,
        )
        .order_by(messages.c.id.desc())
        .limit(1)
    ).first()
    return _stored(row) if row else None


def recent(
    conn: Connection, household: str, chat_id: str, *, since: datetime, before: datetime, limit: int
) -> Sequence[StoredMessage]:
    """Return the latest messages of a chat sent in [since, before], oldest first, at most `limit`."""
    rows = conn.execute(
        select(messages)
        .where(
            messages.c.household == household,
            messages.c.chat_id == chat_id,
            messages.c.sent_at >= since,
            messages.c.sent_at <= before,
        )
        .order_by(messages.c.sent_at.desc(), messages.c.id.desc())
        .limit(limit)
    ).all()
    return [_stored(row) for row in reversed(rows)]


def said_before(
    conn: Connection, household: str, stored: StoredMessage, *, within: timedelta, limit: int
) -> Sequence[StoredMessage]:
    """Return the latest words of a chat that arrived before a message, oldest first.

    Args:
        within: How long before it they were sent at most.
    """
    message = stored.message
    rows = conn.execute(
        select(messages)
        .where(
            messages.c.household == household,
            messages.c.chat_id == message.chat_id,
            messages.c.sent_at >= message.sent_at - within,
            messages.c.id < stored.id,
            messages.c.kind == MessageKind.TEXT.value,
            messages.c.text != "",
        )
        .order_by(messages.c.id.desc())
        .limit(limit)
    ).all()
    return [_stored(row) for row in reversed(rows)]


def as_edited(
    conn: Connection, household: str, said: Sequence[StoredMessage]
) -> list[StoredMessage]:
    """Return messages with the words that their latest edits gave them."""
    edits = conn.execute(
        select(messages.c.target, messages.c.text)
        .where(
            messages.c.household == household,
            messages.c.chat_id.in_({each.message.chat_id for each in said}),
            messages.c.kind == MessageKind.EDIT.value,
            messages.c.target.in_({each.message.message_id for each in said}),
        )
        .order_by(messages.c.id)
    ).all()
    words = {row.target: row.text or "" for row in edits}
    return [
        replace(each, message=replace(each.message, text=words[each.message.message_id]))
        if each.message.message_id in words
        else each
        for each in said
    ]


def arrived_after(
    conn: Connection, household: str, row_id: int, *, since: datetime, limit: int
) -> Sequence[StoredMessage]:
    """Return messages in the order of their arrival.

    Args:
        row_id: Only those after it.
        since: Only those that arrived then or later, aware.
    """
    rows = conn.execute(
        select(messages)
        .where(
            messages.c.household == household,
            messages.c.id > row_id,
            messages.c.received_at >= since,
        )
        .order_by(messages.c.id)
        .limit(limit)
    )
    return [_stored(row) for row in rows]


def has_arrived(conn: Connection, household: str, *, except_by: str) -> bool:
    """Return whether the household has a message from any other channel than the given one."""
    query = select(messages.c.id).where(
        messages.c.household == household, messages.c.channel != except_by
    )
    return conn.execute(query.limit(1)).first() is not None


def purge_texts(
    conn: Connection, household: str, *, now: datetime, keep: timedelta, except_for: Select[Any]
) -> int:
    """Remove the text of messages older than `keep`; the rows stay.

    Args:
        keep: Age up to which texts are kept.
        except_for: Row ids of messages somebody has still to read.

    Returns:
        How many messages lost their text.
    """
    return conn.execute(
        update(messages)
        .where(
            messages.c.household == household,
            messages.c.sent_at < now - keep,
            messages.c.text.is_not(None),
            messages.c.id.not_in(except_for),
        )
        .values(text=None)
    ).rowcount


def drop_texts(conn: Connection, household: str, row_ids: Collection[int]) -> None:
    """Remove the text of some messages; the rows stay."""
    conn.execute(
        update(messages)
        .where(messages.c.household == household, messages.c.id.in_(row_ids))
        .values(text=None)
    )


def _stored(row: Row[tuple[object, ...]]) -> StoredMessage:
    return StoredMessage(
        id=row.id,
        message=InboundMessage(
            channel=row.channel,
            chat_id=row.chat_id,
            message_id=row.message_id,
            sender=row.sender,
            text=row.text or "",
            sent_at=row.sent_at,
            reply_to=row.reply_to,
            kind=MessageKind(row.kind),
            target=row.target,
        ),
        thread_id=row.thread_id,
        is_member=bool(row.is_member),
    )


# What a channel brought in and our own code failed on: kept whole, so that nothing is lost and
# nothing blocked.

_columns = failed_updates.c


def keep_failed(
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
        update_id: The channel's id of it.

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
            household=household,
            channel=channel,
            update_id=update_id,
            content=content,
            error=error,
            received_at=now,
        )
    )
    return True


def purge_failed(conn: Connection, household: str, *, before: datetime) -> int:
    """Remove the content of updates received before then; the rows stay. Returns how many."""
    old = (
        _columns.household == household,
        _columns.received_at < before,
        _columns.content.is_not(None),
    )
    return conn.execute(update(failed_updates).where(*old).values(content=None)).rowcount
