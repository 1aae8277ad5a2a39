"""Notes when somebody answers the assistant's own words with a "why": the measure of how it comes across."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.language.text import Token
from kinkeeper.language.wonder import wonders
from kinkeeper.messaging import inbox, outbox
from kinkeeper.observer import feedback


def note_wonder(
    conn: Connection,
    household: str,
    message: InboundMessage,
    tokens: Sequence[Token],
    *,
    sender: str,
    now: datetime,
) -> bool:
    """Record that a message wonders at what the assistant said, if it does; returns whether.

    Args:
        conn: In the write transaction that takes the message in.
        household: Tenant key.
        message: What was sent.
        tokens: Its words.
        sender: Member id, or the name as sent.
        now: Aware.
    """
    if message.kind is not MessageKind.TEXT or message.reply_to is None or not wonders(tokens):
        return False
    said = outbox.find_by_channel_id(
        conn, household, message.channel, message.chat_id, message_id=message.reply_to
    )
    if said is None or said.message.reply_to is None:
        return False
    about = inbox.find_by_message_id(
        conn, household, said.message.reply_to, chat_id=message.chat_id
    )
    if not about:
        return False
    feedback.wonder(conn, household, str(about[-1].id), by=sender, now=now)
    return True
