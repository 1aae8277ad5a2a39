"""What a channel is: it takes one outgoing item at a time, and says what became of it by returning or raising.

A new channel implements `Channel` and needs no change anywhere else. It never retries by itself: the
row decides about that.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from kinkeeper.core.errors import KinkeeperError
from kinkeeper.messaging.outbound import OutboundKind, Route


class NotSentError(KinkeeperError):
    """It surely did not go out (no connection, no name resolution); worth trying again."""


class TooManyError(NotSentError):
    """It did not go out, and the chat must be left alone for a while.

    Attributes:
        retry_after: How long.
    """

    def __init__(self, message: str, *, retry_after: timedelta) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RefusedError(KinkeeperError):
    """It will never go out this way: no such chat, no right, text refused. Says why, without message text."""


class ChatMovedError(KinkeeperError):
    """It did not go out: the chat has another id now.

    Attributes:
        new_chat_id: That id.
    """

    def __init__(self, message: str, *, new_chat_id: str) -> None:
        super().__init__(message)
        self.new_chat_id = new_chat_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A message as the channel now holds it.

    Attributes:
        channel_message_id: Its id there; None of a notice.
        ephemeral_id: Its id where only one member sees it.
    """

    channel_message_id: str | None = None
    ephemeral_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PressButton:
    """A button as a channel shows it.

    Attributes:
        label: What it says.
        data: What a press on it gives back: opaque, at most 64 bytes of ASCII.
    """

    label: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingItem:
    """One thing for a channel to do.

    Attributes:
        id: Outbox row, for logs.
        kind: Send, edit, or answer a press.
        chat_id: Where.
        route: Who sees it there: the chat, one of its members only, or a private chat.
        audience: Member id of the only one who may see it, if any.
        body: Plain text, unescaped.
        buttons: Under it, in order; none removes those of an edited message.
        reply_to: The channel's id of the message it is about, if any; where that is gone, send without.
        target: Of an edit, the message to change.
        answer_to: Of a notice, the channel's id of the press.
        is_soundless: Whether nobody's phone should ring.
    """

    id: int
    kind: OutboundKind
    chat_id: str
    route: Route
    audience: str | None
    body: str
    buttons: tuple[PressButton, ...]
    reply_to: str | None
    target: Delivered | None
    answer_to: str | None
    is_soundless: bool


class Channel(Protocol):
    """Delivers to the chats of one household."""

    @property
    def name(self) -> str:
        """What rows call it ("telegram")."""
        ...

    async def deliver(self, item: OutgoingItem) -> Delivered:
        """Do one thing, once.

        An edit that changes nothing counts as delivered.

        Args:
            item: What to do.

        Returns:
            The ids of the new message; of an edit, of the edited one.

        Raises:
            NotSentError: Surely not sent; it will be asked again.
            TooManyError: Surely not sent, and not before a while has passed.
            RefusedError: Never will be.
            ChatMovedError: The chat has another id.
            Exception: Anything else means that nobody can tell whether it went out.
        """
        ...
