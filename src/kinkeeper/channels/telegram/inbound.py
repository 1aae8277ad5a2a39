"""What people say and how they react, as messages that the observer hears.

A reaction has no number of its own: it goes by the message it is on and by the update that told of it.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from kinkeeper.channels.telegram.families import CHANNEL, Family
from kinkeeper.channels.telegram.updates import Reacted, Said
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.messaging import inbox, outbox

_ON = "~"


def heard(conn: Connection, family: Family, said: Said) -> InboundMessage | None:
    """Return what was said; None of an edit that left the words alone."""
    message = InboundMessage(
        channel=CHANNEL,
        chat_id=said.chat.id,
        message_id=said.message_id,
        sender=said.author.name,
        text=said.text,
        sent_at=said.at,
        reply_to=_about(conn, family, said.chat.id, said.reply_to),
        kind=MessageKind.EDIT if said.is_edit else MessageKind.TEXT,
        target=said.message_id if said.is_edit else None,
    )
    if said.is_edit and _is_unchanged(conn, family, message):
        return None
    return message


def _about(conn: Connection, family: Family, chat_id: str, message_id: str | None) -> str | None:
    """Return what an answer is about: an answer to a question of ours answers the message behind it."""
    if message_id is None:
        return None
    ours = outbox.find_by_channel_id(
        conn, family.household.id, CHANNEL, chat_id, message_id=message_id
    )
    if ours is None or ours.message.reply_to is None:
        return message_id
    return plain_id(ours.message.reply_to)


def plain_id(message_id: str) -> str:
    """Return the message that a stored id stands for: a reaction's names the message it is on."""
    return message_id.partition(_ON)[0]


def _is_unchanged(conn: Connection, family: Family, message: InboundMessage) -> bool:
    """Whether an edit left the words alone: Telegram reports edits of what no bot is shown, too."""
    stored = inbox.find_by_message_id(
        conn, family.household.id, message.message_id, chat_id=message.chat_id
    )
    return bool(stored) and stored[-1].message.text == message.text


def heard_reactions(conn: Connection, family: Family, reacted: Reacted) -> Sequence[InboundMessage]:
    """Return a message for each sign: added ones say it, removed ones take it back."""
    household, chat_id = family.household.id, reacted.chat.id
    target = _about(conn, family, chat_id, reacted.target) or reacted.target
    member = family.member(reacted.author.account)
    sender = member.id if member else reacted.author.name
    found: list[InboundMessage] = []
    for sign in reacted.removed:
        earlier = inbox.find_reaction(
            conn, household, chat_id, target=target, sender=sender, text=sign
        )
        if earlier is not None:
            found.append(
                _reaction(
                    reacted,
                    len(found),
                    text="",
                    kind=MessageKind.EDIT,
                    target=earlier.message.message_id,
                )
            )
    found += [
        _reaction(reacted, number, text=sign, kind=MessageKind.REACTION, target=target)
        for number, sign in enumerate(reacted.added, start=len(found))
    ]
    return found


def _reaction(
    reacted: Reacted, number: int, *, text: str, kind: MessageKind, target: str
) -> InboundMessage:
    return InboundMessage(
        channel=CHANNEL,
        chat_id=reacted.chat.id,
        message_id=f"{reacted.target}{_ON}{reacted.update_id}.{number}",
        sender=reacted.author.name,
        text=text,
        sent_at=reacted.at,
        kind=kind,
        target=target,
    )
