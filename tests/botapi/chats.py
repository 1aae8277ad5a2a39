"""Chats and the messages in them, as everyone keeps them."""

from dataclasses import dataclass, field
from typing import Any, Literal

from botapi.accounts import Bot, User
from botapi.members import Membership

Keyboard = list[list[dict[str, Any]]]


@dataclass(eq=False, slots=True, kw_only=True)
class Topic:
    """A topic of a forum; its thread is named by the message that opened it."""

    name: str
    opened_by: "Message"

    @property
    def id(self) -> int:
        return self.opened_by.number


@dataclass(eq=False, slots=True, kw_only=True)
class Chat:
    """A private chat of a user with a bot, a basic group or a supergroup."""

    id: int
    kind: Literal["private", "group", "supergroup"]
    title: str = ""
    user: User | None = None
    bot: Bot | None = None
    started: bool = False
    blocked: bool = False
    is_forum: bool = False
    members: dict[int, Membership] = field(default_factory=dict)
    messages: list["Message"] = field(default_factory=list)
    ephemerals: list["Message"] = field(default_factory=list)
    topics: dict[int, Topic] = field(default_factory=dict)
    last_number: int = 0
    last_ephemeral: int = 0
    last_bot: Bot | None = None
    migrated_to: "Chat | None" = None

    def member(self, account_id: int) -> Membership | None:
        return self.members.get(account_id)

    def bots(self) -> list[Bot]:
        """Return the bots that hear this chat."""
        if self.bot is not None:
            return [self.bot]
        return [
            entry.user
            for entry in self.members.values()
            if isinstance(entry.user, Bot) and entry.present
        ]

    def find(self, bot: Bot, message_id: int) -> "Message | None":
        """Return the message that `bot` knows by this id and that is still there."""
        for message in reversed(self.messages):
            if message_id > 0 and message.id_for(bot) == message_id and not message.deleted:
                return message
        return None

    def find_ephemeral(self, ephemeral_id: int) -> "Message | None":
        for message in self.ephemerals:
            if message.ephemeral_id == ephemeral_id and not message.deleted:
                return message
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the chat as messages name it."""
        if self.user is not None:
            person = self.user.as_json()
            names: dict[str, Any] = {
                name: person[name]
                for name in ("first_name", "last_name", "username")
                if name in person
            }
            return {"id": self.id, **names, "type": "private"}
        shown: dict[str, Any] = {"id": self.id, "title": self.title}
        if self.is_forum:
            shown["is_forum"] = True
        shown["type"] = self.kind
        if self.kind == "group":
            shown["all_members_are_administrators"] = False
        return shown


@dataclass(eq=False, slots=True, kw_only=True)
class Message:
    """What was sent. Tests read it; it changes as it is edited, reacted to and deleted."""

    chat: Chat
    sender: User
    date: int
    number: int = 0
    """Its place in the chat; a supergroup's id of it, the same for everyone."""
    ids: dict[int, int] = field(default_factory=dict)
    """What each bot of a private chat or basic group calls it."""
    text: str = ""
    entities: list[dict[str, Any]] = field(default_factory=list)
    content: dict[str, Any] = field(default_factory=dict)
    """Fields of its own: what a service message tells, or media."""
    header: dict[str, Any] = field(default_factory=dict)
    """Where it came from, when it was forwarded or written in the name of a chat."""
    keyboard: Keyboard | None = None
    keyboard_by: Bot | None = None
    other_markup: bool = False
    reply_to: "Message | None" = None
    quote: dict[str, Any] | None = None
    topic: Topic | None = None
    link_preview: dict[str, Any] = field(default_factory=dict)
    silent: bool = False
    protected: bool = False
    edited_at: int = 0
    deleted: bool = False
    reactions: dict[int, list[str]] = field(default_factory=dict)
    receiver: User | None = None
    ephemeral_id: int = 0
    heard_by: set[int] = field(default_factory=set)
    is_service: bool = False

    @property
    def buttons(self) -> list[str]:
        """What stands on its buttons, row by row."""
        return [button["text"] for row in self.keyboard or [] for button in row]

    def id_for(self, bot: Bot) -> int:
        """Return what `bot` calls it."""
        if self.receiver is not None:
            return 0
        return self.number if self.chat.kind == "supergroup" else self.ids.get(bot.id, 0)

    def button(self, label: str) -> dict[str, Any]:
        """Return the button with this label.

        Raises:
            AssertionError: There is none.
        """
        for row in self.keyboard or []:
            for button in row:
                if button["text"] == label:
                    return button
        raise AssertionError(f"no button {label!r} on {self.text!r}; there are {self.buttons}")
