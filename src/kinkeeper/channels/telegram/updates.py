"""What Telegram says happened, as values."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """Where something happened.

    Attributes:
        id: Telegram's number of it.
        is_private: Whether it is one person's chat with the bot.
    """

    id: str
    is_private: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Whose words they are.

    Attributes:
        name: The account's number; of words that are nobody's own here (forwarded, a channel's, of an
            administrator who does not say which), what they are shown as, which no member is called.
        account: The number of the person's account, where it is known.
    """

    name: str
    account: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Words in a chat: a text or what stands under a picture; or other words in place of them.

    Attributes:
        update_id: Telegram's number of the update.
        chat: Where.
        author: Whose words.
        message_id: The message.
        text: Verbatim.
        at: Aware; of an edit, when it was made.
        reply_to: The message it answers, if any.
        is_edit: Whether the words take the place of earlier ones.
    """

    update_id: int
    chat: Chat
    author: Author
    message_id: str
    text: str
    at: datetime
    reply_to: str | None
    is_edit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Commanded:
    """A line that begins with a slash.

    Attributes:
        update_id: Telegram's number of the update.
        chat: Where.
        author: Who.
        message_id: The message; None where only the bot was shown it.
        name: Of the command, in small letters.
        addressee: Name of the bot it is for, in small letters, if it names one.
        argument: What follows it.
        reply_to: The message it answers, if any.
    """

    update_id: int
    chat: Chat
    author: Author
    message_id: str | None
    name: str
    addressee: str | None
    argument: str
    reply_to: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reacted:
    """Somebody put signs on a message, or took them away.

    Attributes:
        update_id: Telegram's number of the update.
        chat: Where.
        author: Who.
        target: The message.
        added: Signs that were not there before.
        removed: Signs that are gone.
        at: Aware.
    """

    update_id: int
    chat: Chat
    author: Author
    target: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """Somebody pressed a button.

    Attributes:
        update_id: Telegram's number of the update.
        chat: Where its message stands.
        account: Who.
        query_id: What an answer to the press names.
        message_key: Its message; where only one person sees it, that message's other number.
        data: What the button gave back.
    """

    update_id: int
    chat: Chat
    account: int
    query_id: str
    message_key: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingChanged:
    """The bot came, left, was made an administrator, blocked, and so on.

    Attributes:
        update_id: Telegram's number of the update.
        chat: Where.
        account: Who did it.
        is_present: Whether the bot is there now.
        governs: Whether it is an administrator now.
    """

    update_id: int
    chat: Chat
    account: int | None
    is_present: bool
    governs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A group got another number.

    Attributes:
        update_id: Telegram's number of the update.
        old: Its number until now.
        new: Its number from now on.
    """

    update_id: int
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """Something that concerns nobody here: other bots, service messages, pictures without words.

    Attributes:
        update_id: Telegram's number of the update.
    """

    update_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Something that could not be read, or is of a kind that was not asked for.

    Attributes:
        update_id: Telegram's number of the update, if even that can be read.
        kind: What it says it is, if that is a kind that was asked for.
        chat_id: Where, if that can be read.
    """

    update_id: int | None
    kind: str | None
    chat_id: str | None


Update = (
    Said | Commanded | Reacted | Pressed | StandingChanged | Moved | Nothing | Unknown
)  # fmt: skip
