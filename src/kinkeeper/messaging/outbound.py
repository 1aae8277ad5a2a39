"""What goes out: kinds, states, buttons, and a message as it is put and as it stands. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import RowMapping


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


def stored(row: RowMapping | Mapping[str, Any]) -> StoredOutbound:
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
            is_soundless=bool(row["is_soundless"]), is_alarm=bool(row["is_alarm"]),
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
