"""What goes out: messages as they are put, the channel that takes them, and hours without a sound. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Any, Protocol, Self
from zoneinfo import ZoneInfo

from sqlalchemy import RowMapping

from kinkeeper.core.errors import InputError, KinkeeperError
from kinkeeper.core.time import as_utc


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
    RESTORE = "restore"  # brings back what expired
    REASON = "reason"  # its `choice` says why the action was declined
    SHARE = "share"  # its `choice` is the episode of what was said, which the household may see from then on
    KEEP = "keep"  # the same, for only who said it


OF_WORDS = frozenset({Verb.SHARE, Verb.KEEP})
"""What is done to something that was said, and to no action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button under a message.

    Attributes:
        choice: Which choice or reason, where the verb needs one.
    """

    label: str
    verb: Verb
    choice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """One message to a chat.

    Attributes:
        chat_id: Which chat; with an audience, the chat it is about.
        dedupe_key: A second message under the same key is not added.
        kind: What the channel is to do.
        reply_to: The channel's id of the message it is about, if any.
        buttons: Under it, in order; what they do is done to `action_id`, or to what was said.
        audience: Member id of the only one who may see it; None: the whole chat.
        edits: Of an edit, the row of the message that changes.
        answer_to: Of a notice, the channel's id of the press it answers.
        conflict_key: Stable key of the conflict it announces, if any.
        action_id: Pending action behind the buttons, if any.
        deliver_by: Aware; not delivered from then on. None: however late.
        is_unprompted: Whether nobody asked for it: those are counted a day, and never sent twice.
        is_soundless: Whether it should not make anybody's phone ring.
        is_alarm: Whether it may ring in quiet hours, too: somebody asked to be told at that very time.
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
    is_alarm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutbound:
    """An outbound message as it stands.

    Attributes:
        id: Row id; order of delivery within a chat.
        message: What to deliver; its chat is where it goes now.
        route: Who sees it there.
        attempts: How often it was handed to the channel.
        unknowns: How often nobody could tell afterwards whether it went out.
        not_before: Aware; earliest next attempt.
        lease_until: Aware; while sending, when it counts as lost.
        error: Why it waits, failed or was dropped; no message text.
        channel_message_id: What the channel calls it, once known.
        ephemeral_id: What the channel calls it where only one member sees it.
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


def stored(row: RowMapping | Mapping[str, Any]) -> StoredOutbound:
    """Return the row of a statement on the whole table."""
    return StoredOutbound(
        id=row["id"],
        household=row["household"],
        message=Outbound(
            channel=row["channel"],
            chat_id=row["chat_id"],
            body=row["body"] or "",
            dedupe_key=row["dedupe_key"],
            kind=OutboundKind(row["kind"]),
            reply_to=row["reply_to"],
            buttons=tuple(
                Button(label=each["label"], verb=Verb(each["verb"]), choice=each["choice"])
                for each in row["buttons"]
            ),
            audience=row["audience"],
            edits=row["edits"],
            answer_to=row["answer_to"],
            conflict_key=row["conflict_key"],
            action_id=row["action_id"],
            deliver_by=row["deliver_by"],
            is_unprompted=bool(row["is_unprompted"]),
            is_soundless=bool(row["is_soundless"]),
            is_alarm=bool(row["is_alarm"]),
        ),
        route=Route(row["route"]),
        state=OutboundState(row["state"]),
        **{
            name: row[name]
            for name in (
                "attempts",
                "unknowns",
                "not_before",
                "lease_until",
                "error",
                "channel_message_id",
                "ephemeral_id",
                "created_at",
                "sent_at",
            )
        },
    )


# What a channel is: it takes one outgoing item at a time, and says what became of it by returning
# or raising.
#
# A new channel implements `Channel` and needs no change anywhere else. It never retries by itself:
# the row decides about that.


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


# Hours in which messages come without a sound. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """A span of every day, possibly over midnight.

    Attributes:
        start: First local moment of it.
        end: First local moment after it; the same as `start` means never.
        zone: Whose local time.
    """

    start: time
    end: time
    zone: ZoneInfo

    @classmethod
    def parse(cls, text: str, zone: ZoneInfo) -> Self:
        """Return the hours written as "22:00-07:00"."""
        try:
            start, end = (time.fromisoformat(part.strip()) for part in text.split("-"))
        except ValueError as error:
            raise InputError(f"{text!r} is not a range of hours; write e.g. 22:00-07:00") from error
        if start.tzinfo or end.tzinfo:
            raise InputError(f"{text!r} has a UTC offset; write the household's local time")
        return cls(start=start, end=end, zone=zone)

    def hold(self, instant: datetime) -> bool:
        """Whether an instant (aware) lies within."""
        local = instant.astimezone(self.zone).time()
        if self.start <= self.end:
            return self.start <= local < self.end
        return local >= self.start or local < self.end

    def end_after(self, instant: datetime) -> datetime:
        """Return the UTC instant at which the hours end that an instant (aware) lies within; the instant itself outside."""
        if not self.hold(instant):
            return as_utc(instant)
        local = instant.astimezone(self.zone)
        day = local.date() if local.time() < self.end else local.date() + timedelta(days=1)
        return as_utc(datetime.combine(day, self.end, tzinfo=self.zone))
