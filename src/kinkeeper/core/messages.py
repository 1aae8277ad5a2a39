"""Messages as every channel hands them over: frozen and channel-neutral."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class MessageKind(StrEnum):
    """What a message is."""

    TEXT = "text"
    REACTION = "reaction"
    EDIT = "edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """One thing somebody sent to a chat.

    Attributes:
        channel: Where it came from: "telegram", "replay", ...
        chat_id: The channel's id of the chat.
        message_id: Unique within the chat; an edit or reaction has its own.
        sender: As the channel names the person: member id, name, alias or Telegram id.
        text: Verbatim; of a reaction, the emoji.
        reply_to: Message id this explicitly answers, if any.
        kind: Text, reaction or edit.
        target: Message id that a reaction or edit is for.
    """

    channel: str
    chat_id: str
    message_id: str
    sender: str
    text: str
    sent_at: datetime
    reply_to: str | None = None
    kind: MessageKind = MessageKind.TEXT
    target: str | None = None
