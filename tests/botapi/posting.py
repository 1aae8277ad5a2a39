"""Putting messages into chats, and telling the bots that may know."""

from typing import Any

from botapi.accounts import Bot, User
from botapi.chats import Chat, Message
from botapi.members import PRESENT, Membership, Status
from botapi.messages import shown_to
from botapi.privacy import hearers, keeps_to_itself
from botapi.world import World


def post(world: World, message: Message, *, also_told: tuple[Bot, ...] = ()) -> Message:
    """Number the message, keep it, and give it to the bots that hear it."""
    number(message, also_told)
    return keep(world, message, also_told=also_told)


def keep(world: World, message: Message, *, also_told: tuple[Bot, ...] = ()) -> Message:
    """Keep a numbered message, and give it to the bots that hear it."""
    chat = message.chat
    chat.messages.append(message)
    if isinstance(message.sender, Bot) and not message.is_service:
        chat.last_bot = message.sender
        return message
    for bot in {*hearers(chat, message), *also_told}:
        message.heard_by.add(bot.id)
        tell(world, bot, "message", chat, shown_to(bot, message))
    return message


def number(message: Message, also_told: tuple[Bot, ...] = ()) -> None:
    """Give the message its place, and its ids where every bot counts for itself."""
    chat = message.chat
    chat.last_number += 1
    message.number = chat.last_number
    if chat.kind != "supergroup":
        for bot in {*chat.bots(), *also_told}:
            message.ids[bot.id] = bot.next_message_id()


def announce(
    world: World,
    chat: Chat,
    by: User,
    told: dict[str, Any],
    *,
    also_told: tuple[Bot, ...] = (),
    topic: Any = None,
) -> Message:
    """Post a service message."""
    message = Message(
        chat=chat, sender=by, date=world.date(), content=told, is_service=True, topic=topic
    )
    return post(world, message, also_told=also_told)


def tell_edit(world: World, message: Message) -> None:
    """Tell bots that a person edited a message; those in privacy mode only of what they got."""
    chat = message.chat
    for bot in chat.bots():
        knows = bot.id in message.heard_by or not keeps_to_itself(chat, bot)
        if knows and message.id_for(bot):
            tell(world, bot, "edited_message", chat, shown_to(bot, message))


def tell(world: World, bot: Bot, kind: str, chat: Chat, body: dict[str, Any]) -> None:
    """Queue an update in the order of what happens in the chat."""
    bot.updates.add(
        kind, body, queue=f"{kind.rsplit('_', maxsplit=1)[-1]}{chat.id}", now=world.seconds()
    )


def set_status(
    world: World,
    chat: Chat,
    user: User,
    status: Status,
    *,
    by: User,
    rights: frozenset[str] = frozenset(),
) -> None:
    """Change what an account is in a chat, and tell it and the bots that govern."""
    unknown: Status = "member" if chat.kind == "private" else "left"
    old = chat.member(user.id) or Membership(user=user, status=unknown)
    new = Membership(user=user, status=status, rights=rights, private=old.private)
    if isinstance(user, Bot) and old.status not in PRESENT:
        new.private = user.privacy
    before, after = old.as_json(chat.kind), new.as_json(chat.kind)
    chat.members[user.id] = new
    if before == after:
        return
    body = {
        "chat": chat.as_json(),
        "from": by.as_json(),
        "date": world.date(),
        "old_chat_member": before,
        "new_chat_member": after,
    }
    if isinstance(user, Bot):
        tell(world, user, "my_chat_member", chat, body)
    for bot in chat.bots():
        member = chat.member(bot.id)
        if bot is not user and member is not None and member.governs:
            tell(world, bot, "chat_member", chat, body)
