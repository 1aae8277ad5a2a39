"""What Telegram says happened, as values: any JSON gives one, and none an error. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kinkeeper.messaging.message_json import storable


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
        message_id: The message; None where only the bot was shown it.
        name: Of the command, in small letters.
        addressee: Name of the bot it is for, in small letters, if it names one.
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
        added: Signs that were not there before.
        removed: Signs that are gone.
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
    """

    update_id: int | None
    kind: str | None
    chat_id: str | None


Update = Said | Commanded | Reacted | Pressed | StandingChanged | Moved | Nothing | Unknown


# Reads what Telegram says happened: any JSON gives a value, and none an error. Pure.

_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]{1,64}))?(?:\s+(.*))?", re.DOTALL)
_GOVERNING = frozenset({"creator", "administrator"})
_PRESENT = _GOVERNING | {"member"}
_LARGEST = 2**63
_LATEST = int(datetime(2200, 1, 1, tzinfo=UTC).timestamp())
_LONGEST_NAME = 60
_LONGEST_DATA = 64
_LONGEST_QUERY = 128

_Json = Mapping[str, Any]


def parse_update(value: object) -> Update:
    """Return what an update says."""
    if not isinstance(value, dict):
        return Unknown(update_id=None, kind=None, chat_id=None)
    update_id = _number(value, "update_id")
    kind = next((name for name in READERS if name in value), None)
    content = _part(value, kind) if kind else None
    if update_id is None or kind is None or content is None:
        return Unknown(update_id=update_id, kind=kind, chat_id=_chat_id(content or {}))
    found = READERS[kind](update_id, content)
    return found or Unknown(update_id=update_id, kind=kind, chat_id=_chat_id(content))


def _message(update_id: int, content: _Json) -> Update | None:
    chat, at = _chat(content), _instant(content, "date")
    if chat is None or at is None:
        return None
    if (moved := _moved(update_id, chat, content)) is not None:
        return moved
    text, author = _words(content), _author(content)
    if text is None or author is None:
        return Nothing(update_id=update_id)
    message_id, reply_to = _id(content, "message_id"), _reply(content)
    is_forwarded = isinstance(content.get("forward_origin"), dict)
    command = None if is_forwarded or "text" not in content else _COMMAND.fullmatch(text.strip())
    if command is not None:
        return Commanded(
            update_id=update_id,
            chat=chat,
            author=author,
            message_id=message_id,
            name=command[1].lower(),
            addressee=command[2].lower() if command[2] else None,
            argument=(command[3] or "").strip(),
            reply_to=reply_to,
        )
    if message_id is None:
        return None
    return Said(
        update_id=update_id,
        chat=chat,
        author=author,
        message_id=message_id,
        text=text,
        at=at,
        reply_to=reply_to,
        is_edit=False,
    )


def _edited_message(update_id: int, content: _Json) -> Update | None:
    chat, message_id = _chat(content), _id(content, "message_id")
    at = _instant(content, "edit_date") or _instant(content, "date")
    if chat is None or message_id is None or at is None:
        return None
    text, author = _words(content), _author(content)
    if text is None or author is None:
        return Nothing(update_id=update_id)
    # Telegram dates edits to the second; two within one second are told apart by their order.
    at = at.replace(microsecond=update_id % 1_000_000)
    return Said(
        update_id=update_id,
        chat=chat,
        author=author,
        message_id=message_id,
        text=text,
        at=at,
        reply_to=_reply(content),
        is_edit=True,
    )


def _reaction(update_id: int, content: _Json) -> Update | None:
    chat, target = _chat(content), _id(content, "message_id")
    at = _instant(content, "date")
    if chat is None or target is None or at is None:
        return None
    user = _part(content, "user")
    if user is None:
        return Nothing(update_id=update_id)  # in the name of the group: nobody knows who
    account = _number(user, "id")
    if account is None:
        return None
    before, after = _signs(content, "old_reaction"), _signs(content, "new_reaction")
    return Reacted(
        update_id=update_id,
        chat=chat,
        author=Author(name=str(account), account=account),
        target=target,
        at=at,
        added=tuple(sign for sign in after if sign not in before),
        removed=tuple(sign for sign in before if sign not in after),
    )


def _press(update_id: int, content: _Json) -> Update | None:
    query_id, user = _text(content, "id"), _part(content, "from") or {}
    account, message = _number(user, "id"), _part(content, "message")
    if message is None:
        return Nothing(update_id=update_id)  # under a message of another chat, not one of ours
    chat = _chat(message)
    key = _id(message, "ephemeral_message_id") or _id(message, "message_id")
    data = _text(content, "data")
    if chat is None or account is None or key is None:
        return None
    if query_id is None or not 0 < len(query_id) <= _LONGEST_QUERY:
        return None
    if data is None or len(data) > _LONGEST_DATA or not data.isascii():
        data = ""  # not one of our buttons; the press is answered all the same
    return Pressed(
        update_id=update_id,
        chat=chat,
        account=account,
        query_id=storable(query_id),
        message_key=key,
        data=data,
    )


def _standing(update_id: int, content: _Json) -> Update | None:
    chat, new = _chat(content), _part(content, "new_chat_member") or {}
    status = _text(new, "status")
    if chat is None or status is None:
        return None
    return StandingChanged(
        update_id=update_id,
        chat=chat,
        account=_number(_part(content, "from") or {}, "id"),
        is_present=status in _PRESENT or (status == "restricted" and new.get("is_member") is True),
        governs=status in _GOVERNING,
    )


READERS: Mapping[str, Callable[[int, _Json], Update | None]] = {
    "message": _message,
    "edited_message": _edited_message,
    "message_reaction": _reaction,
    "callback_query": _press,
    "my_chat_member": _standing,
}
"""The kinds of updates that are asked for."""


def _moved(update_id: int, chat: Chat, content: _Json) -> Moved | None:
    new = _id(content, "migrate_to_chat_id")
    if new is not None:
        return Moved(update_id=update_id, old=chat.id, new=new)
    old = _id(content, "migrate_from_chat_id")
    return None if old is None else Moved(update_id=update_id, old=old, new=chat.id)


def _author(content: _Json) -> Author | None:
    """Return whose words a message holds; None of another bot's."""
    sender = _part(content, "from") or {}
    account = _number(sender, "id")
    speaks_as = _part(content, "sender_chat")
    origin = _part(content, "forward_origin")
    if origin is not None:
        return Author(name=f"{_origin(origin)} (forwarded)", account=None)
    if speaks_as is not None:
        return Author(name=f"{_name(speaks_as, 'title')} (not by name)", account=None)
    if account is None or sender.get("is_bot") is True or "via_bot" in content:
        return None
    return Author(name=str(account), account=account)


def _origin(origin: _Json) -> str:
    if "sender_user_name" in origin:
        return _name(origin, "sender_user_name")
    user = _part(origin, "sender_user")
    if user is not None:
        return _name(user, "first_name")
    return _name(_part(origin, "sender_chat") or _part(origin, "chat") or {}, "title")


def _name(part: _Json, key: str) -> str:
    return storable(_text(part, key) or "somebody")[:_LONGEST_NAME]


def _words(content: _Json) -> str | None:
    found = _text(content, "text")
    if found is None:
        found = _text(content, "caption")
    return storable(found) if found else None


def _reply(content: _Json) -> str | None:
    """Return the message that is answered; in a topic every message answers the one that opened it."""
    answered = _part(content, "reply_to_message") or {}
    message_id = _id(answered, "message_id")
    is_topic = "forum_topic_created" in answered or (
        content.get("is_topic_message") is True and message_id == _id(content, "message_thread_id")
    )
    return None if is_topic else message_id


def _signs(content: _Json, key: str) -> tuple[str, ...]:
    given = content.get(key)
    if not isinstance(given, list):
        return ()
    signs = [_text(each, "emoji") for each in given if isinstance(each, dict)]
    return tuple(dict.fromkeys(storable(sign) for sign in signs if sign))


def _chat(content: _Json) -> Chat | None:
    chat = _part(content, "chat") or {}
    chat_id, kind = _id(chat, "id"), _text(chat, "type")
    if chat_id is None or kind is None:
        return None
    return Chat(id=chat_id, is_private=kind == "private")


def _chat_id(content: _Json) -> str | None:
    place = _part(content, "chat") or _part(_part(content, "message") or {}, "chat") or {}
    return _id(place, "id")


def _part(content: _Json, key: str) -> _Json | None:
    value = content.get(key)
    return value if isinstance(value, dict) else None


def _text(content: _Json, key: str) -> str | None:
    value = content.get(key)
    return value if isinstance(value, str) else None


def _number(content: _Json, key: str) -> int | None:
    value = content.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not -_LARGEST < value < _LARGEST:
        return None
    return value


def _id(content: _Json, key: str) -> str | None:
    """Return a number that names something, as text; zero names nothing."""
    number = _number(content, key)
    return str(number) if number else None


def _instant(content: _Json, key: str) -> datetime | None:
    seconds = _number(content, key)
    if seconds is None or not 0 < seconds < _LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)
