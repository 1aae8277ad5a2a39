"""Messages that one member of a group sees, and nobody else."""

from typing import Any

from botapi.accounts import Bot, User
from botapi.chats import Chat, Message
from botapi.finding import find_chat
from botapi.formatting import MOST_TEXT, read_text
from botapi.keyboards import check_data, read_markup
from botapi.parameters import Arguments
from botapi.refusals import bad_request
from botapi.world import World

ANSWER_WITHIN = 15


def receiver_of(
    world: World, bot: Bot, chat: Chat, parameters: Any, *, reply: dict[str, Any]
) -> User:
    """Return who is to see the message.

    Args:
        world: Where.
        bot: Who sends it.
        chat: A group.
        parameters: The call's, for such messages.
        reply: What the message answers.

    Raises:
        Refusal: They are not in the group; or the bot neither governs it, nor just had a press or
            a command for its eyes only from them.
    """
    if not isinstance(parameters, dict):
        raise bad_request("can't parse ephemeral message parameters: must be an Object")
    user = world.account(int(parameters.get("receiver_user_id") or 0))
    if chat.kind == "private":
        raise bad_request("PEER_ID_INVALID")
    if user is None:
        raise bad_request("invalid receiver_user_id specified")
    if user.is_bot:
        raise bad_request("USER_IS_BOT")
    member = chat.member(user.id)
    if member is None or not member.present:
        raise bad_request("USER_NOT_PARTICIPANT")
    own = chat.member(bot.id)
    pressed = _pressed_just_now(world, bot, user, str(parameters.get("callback_query_id") or ""))
    asked = _asked_just_now(world, bot, user, chat, reply)
    if not (pressed or asked) and (own is None or not own.governs):
        raise bad_request("CHAT_ADMIN_REQUIRED")
    return user


def _pressed_just_now(world: World, bot: Bot, user: User, query_id: str) -> bool:
    press = world.presses.get(query_id)
    return (
        press is not None
        and press.bot is bot
        and press.user is user
        and world.seconds() - press.made_at <= ANSWER_WITHIN
    )


def _asked_just_now(world: World, bot: Bot, user: User, chat: Chat, reply: dict[str, Any]) -> bool:
    command = chat.find_ephemeral(int(reply.get("ephemeral_message_id") or 0))
    return (
        command is not None
        and command.sender is user
        and command.receiver is bot
        and world.seconds() - command.date <= ANSWER_WITHIN
    )


def place_ephemeral(message: Message) -> None:
    """Keep the message beside the chat's own: it takes none of their numbers."""
    chat = message.chat
    chat.last_ephemeral += 1
    message.ephemeral_id = chat.last_ephemeral
    message.number = chat.last_number
    chat.ephemerals.append(message)


def _find(world: World, bot: Bot, arguments: Arguments) -> Message:
    chat = find_chat(world, bot, arguments, to_write=True)
    message = chat.find_ephemeral(arguments.integer("ephemeral_message_id"))
    receiver = arguments.user_id("receiver_user_id")
    if (
        message is None
        or message.sender is not bot
        or message.receiver is None
        or message.receiver.id != receiver
    ):
        raise bad_request("MESSAGE_ID_INVALID")
    return message


def edit_text(world: World, bot: Bot, arguments: Arguments) -> bool:
    text, entities = read_text(arguments)
    keyboard, _ = read_markup(arguments)
    message = _find(world, bot, arguments)
    if len(text) > MOST_TEXT:
        raise bad_request("MESSAGE_TOO_LONG")
    check_data(keyboard)
    message.keyboard, message.keyboard_by = keyboard, bot
    if text:
        message.text, message.entities = text, entities
    message.edited_at = world.date()
    return True


def edit_reply_markup(world: World, bot: Bot, arguments: Arguments) -> bool:
    keyboard, _ = read_markup(arguments)
    message = _find(world, bot, arguments)
    check_data(keyboard)
    message.keyboard, message.keyboard_by = keyboard, bot
    return True


def delete(world: World, bot: Bot, arguments: Arguments) -> bool:
    _find(world, bot, arguments).deleted = True
    return True


METHODS = {
    "editEphemeralMessageText": edit_text,
    "editEphemeralMessageReplyMarkup": edit_reply_markup,
    "deleteEphemeralMessage": delete,
}
