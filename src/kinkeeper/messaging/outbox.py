"""Outbound messages: a row first, delivered afterwards. Functions over the caller's transaction."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, func, insert, select

from kinkeeper.messaging.tables import outbox


class OutboundState(StrEnum):
    """Where an outbound message stands."""

    QUEUED = "queued"  # a channel has still to deliver it
    SENT = "sent"  # delivered; a replay delivers by printing


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """One message to a chat.

    Attributes:
        channel: Where it goes.
        chat_id: Which chat.
        body: What is said.
        dedupe_key: A second message under the same key is not added.
        reply_to: The channel's id of the message it is about, if any.
        buttons: Labels under it.
        conflict_key: Stable key of the conflict it announces, if any.
        action_id: Pending action behind the buttons, if any.
        is_unprompted: Whether nobody asked for it; those are counted a day.
    """

    channel: str
    chat_id: str
    body: str
    dedupe_key: str
    reply_to: str | None = None
    buttons: Sequence[str] = ()
    conflict_key: str | None = None
    action_id: str | None = None
    is_unprompted: bool = True


def put(
    conn: Connection, household: str, message: Outbound, *, state: OutboundState, now: datetime
) -> tuple[int, bool]:
    """Add an outbound message unless its key is already there.

    Returns:
        Row id, and whether it was added now.
    """
    found = conn.execute(
        select(outbox.c.id).where(
            outbox.c.household == household, outbox.c.dedupe_key == message.dedupe_key
        )
    ).scalar()
    if found is not None:
        return int(found), False
    row_id = conn.execute(
        insert(outbox)
        .values(
            household=household, dedupe_key=message.dedupe_key, channel=message.channel,
            chat_id=message.chat_id, reply_to=message.reply_to, body=message.body,
            buttons=json.dumps(list(message.buttons)), conflict_key=message.conflict_key,
            action_id=message.action_id, is_unprompted=int(message.is_unprompted),
            state=state.value, created_at=now,
        )
        .returning(outbox.c.id)
    ).scalar_one()  # fmt: skip
    return int(row_id), True


def count_unprompted(conn: Connection, household: str, *, since: datetime, until: datetime) -> int:
    """Return how many unprompted messages were put in [since, until)."""
    return int(
        conn.execute(
            select(func.count())
            .select_from(outbox)
            .where(
                outbox.c.household == household,
                outbox.c.is_unprompted == 1,
                outbox.c.created_at >= since,
                outbox.c.created_at < until,
            )
        ).scalar_one()
    )


def was_announced(conn: Connection, household: str, conflict_key: str, *, since: datetime) -> bool:
    """Whether a conflict was announced at or after `since`."""
    statement = select(outbox.c.id).where(
        outbox.c.household == household,
        outbox.c.conflict_key == conflict_key,
        outbox.c.created_at >= since,
    )
    return conn.execute(statement.limit(1)).first() is not None
