"""A message as one bot is shown it."""

from typing import Any

from botapi.accounts import Bot
from botapi.chats import Message

ANONYMOUS = {
    "id": 1087968824,
    "is_bot": True,
    "first_name": "Group",
    "username": "GroupAnonymousBot",
}


def shown_to(bot: Bot, message: Message, *, with_reply: bool = True) -> dict[str, Any]:
    """Return the message as `bot` is shown it."""
    shown: dict[str, Any] = {"message_id": message.id_for(bot)}
    if message.topic is not None:
        shown["message_thread_id"] = message.topic.id
    sender = ANONYMOUS if "sender_chat" in message.header else message.sender.as_json()
    shown |= {"from": sender, "chat": message.chat.as_json(), "date": message.date}
    if message.edited_at:
        shown["edit_date"] = message.edited_at
    if message.receiver is not None:
        shown["receiver_user"] = message.receiver.as_json()
        shown["ephemeral_message_id"] = message.ephemeral_id
    if message.topic is not None:
        shown["is_topic_message"] = True
    if with_reply:
        shown |= _reply_json(message, bot)
    shown |= message.header
    shown |= _content_json(message, bot)
    if message.protected:
        shown["has_protected_content"] = True
    if message.keyboard:
        shown["reply_markup"] = {"inline_keyboard": message.keyboard}
    return shown


def _reply_json(message: Message, bot: Bot) -> dict[str, Any]:
    answered = message.reply_to
    if answered is None and message.topic is not None and message is not message.topic.opened_by:
        answered = message.topic.opened_by
    if answered is None or answered.deleted or not answered.id_for(bot):
        return {}
    shown: dict[str, Any] = {"reply_to_message": shown_to(bot, answered, with_reply=False)}
    if message.quote is not None:
        shown["quote"] = message.quote
    return shown


def _content_json(message: Message, bot: Bot) -> dict[str, Any]:
    shown = {
        name: shown_to(bot, value, with_reply=False) if isinstance(value, Message) else value
        for name, value in message.content.items()
    }
    if message.is_service:
        return shown
    text = "caption" if message.content else "text"
    if message.text:
        shown[text] = message.text
    if message.entities:
        shown[f"{text}_entities" if message.content else "entities"] = message.entities
    if message.link_preview:
        shown["link_preview_options"] = message.link_preview
    return shown
