"""Changing and deleting what was sent, reacting to it, and answering presses."""

from typing import Any

from botapi.accounts import Bot
from botapi.chats import Message
from botapi.entities import is_blank
from botapi.finding import find_chat, find_message
from botapi.formatting import MOST_TEXT, read_text
from botapi.keyboards import check_data, read_markup
from botapi.messages import shown_to
from botapi.parameters import Arguments
from botapi.refusals import bad_request
from botapi.world import World

MOST_ANSWER = 200
PRESS_LIFETIME = 150
DELETABLE_FOR = 48 * 60 * 60
_SAME = (
    "message is not modified: specified new message content and reply markup are exactly "
    "the same as a current content and reply markup of the message"
)


def edit_message_text(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    if not arguments.text("text"):
        raise bad_request("message text is empty")
    text, entities = read_text(arguments)
    keyboard, _ = read_markup(arguments)
    message = _editable(world, bot, arguments)
    if message.content:
        raise bad_request("there is no text in the message to edit")
    if is_blank(text):
        raise bad_request("text must be non-empty")
    if len(text) > MOST_TEXT:
        raise bad_request("MESSAGE_TOO_LONG")
    check_data(keyboard)
    if (text, entities, keyboard) == (message.text, message.entities, message.keyboard):
        raise bad_request(_SAME)
    message.text, message.entities = text, entities
    return _edited(world, bot, message, keyboard)


def edit_message_reply_markup(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    keyboard, _ = read_markup(arguments)
    message = _editable(world, bot, arguments)
    check_data(keyboard)
    if keyboard == message.keyboard:
        raise bad_request(_SAME)
    return _edited(world, bot, message, keyboard)


def _editable(world: World, bot: Bot, arguments: Arguments) -> Message:
    chat = find_chat(world, bot, arguments, to_write=True)
    message = find_message(chat, bot, arguments, "to edit")
    if message.sender is not bot or message.other_markup or message.is_service:
        raise bad_request("message can't be edited")
    return message


def _edited(world: World, bot: Bot, message: Message, keyboard: Any) -> dict[str, Any]:
    message.keyboard, message.keyboard_by = keyboard, bot if keyboard else None
    message.edited_at = world.date()
    return shown_to(bot, message)


def delete_message(world: World, bot: Bot, arguments: Arguments) -> bool:
    chat = find_chat(world, bot, arguments, to_write=True)
    message = find_message(chat, bot, arguments, "to delete")
    member = chat.member(bot.id)
    allowed = (
        message.sender is bot
        or chat.kind == "private"
        or (member is not None and member.may("can_delete_messages"))
    )
    if not allowed or world.seconds() - message.date >= DELETABLE_FOR:
        raise bad_request("message can't be deleted")
    message.deleted = True
    return True


def set_message_reaction(world: World, bot: Bot, arguments: Arguments) -> bool:
    given = arguments.parsed("reaction", "reaction") or []
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
        raise bad_request("can't parse reaction types JSON object")
    chat = find_chat(world, bot, arguments, to_write=True)
    message = find_message(chat, bot, arguments, "to react")
    emoji = [entry.get("emoji", "") for entry in given]
    if len(emoji) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    if not all(emoji):
        raise bad_request("REACTION_INVALID")
    message.reactions[bot.id] = emoji
    return True


def answer_callback_query(world: World, bot: Bot, arguments: Arguments) -> bool:
    press = world.presses.get(arguments.text("callback_query_id"))
    if (
        press is None
        or press.bot is not bot
        or press.answer is not None
        or world.seconds() - press.made_at >= PRESS_LIFETIME
    ):
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    text = arguments.text("text")
    if len(text) > MOST_ANSWER:
        raise bad_request("MESSAGE_TOO_LONG")
    press.answer = {
        "text": text,
        "show_alert": arguments.flag("show_alert"),
        "url": arguments.text("url"),
    }
    return True


METHODS = {
    "editMessageText": edit_message_text,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
    "setMessageReaction": set_message_reaction,
    "answerCallbackQuery": answer_callback_query,
}
