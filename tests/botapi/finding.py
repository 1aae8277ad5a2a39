"""Which chat and which message a call means, and whether its bot may reach them."""

from botapi.accounts import Bot
from botapi.chats import Chat, Message
from botapi.parameters import Arguments
from botapi.refusals import bad_request, forbidden
from botapi.world import World


def find_chat(world: World, bot: Bot, arguments: Arguments, *, to_write: bool = False) -> Chat:
    """Return the chat a call names.

    Raises:
        Refusal: It is not named, not known to the bot, gone, or shut to it.
    """
    given = arguments.text("chat_id")
    if not given:
        raise bad_request("chat_id is empty")
    chat_id = arguments.integer("chat_id")
    if chat_id > 0:
        return _private_chat(world, bot, chat_id, to_write=to_write)
    return find_group(world, bot, chat_id)


def find_group(world: World, bot: Bot, chat_id: int) -> Chat:
    """Return the group of this id.

    Raises:
        Refusal: The bot was never in it, is no longer, or it became a supergroup.
    """
    chat = world.groups.get(chat_id)
    member = chat.member(bot.id) if chat is not None else None
    if chat is None or member is None:
        raise bad_request("chat not found")
    if chat.migrated_to is not None:
        raise bad_request(
            "group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to.id
        )
    if member.status == "kicked":
        raise forbidden(f"bot was kicked from the {chat.kind} chat")
    if not member.present:
        raise forbidden(f"bot is not a member of the {chat.kind} chat")
    return chat


def _private_chat(world: World, bot: Bot, user_id: int, *, to_write: bool) -> Chat:
    user = world.account(user_id)
    if user is None:
        raise bad_request("chat not found")
    if user.is_bot:
        raise forbidden("bot can't send messages to bots")
    chat = world.private_chat(bot, user)
    met = chat.started or any(
        user_id in group.members and bot.id in group.members for group in world.groups.values()
    )
    if not met:
        raise bad_request("chat not found")
    if to_write and chat.blocked:
        raise forbidden("bot was blocked by the user")
    if to_write and not chat.started:
        raise forbidden("bot can't initiate conversation with a user")
    return chat


def find_message(chat: Chat, bot: Bot, arguments: Arguments, purpose: str) -> Message:
    """Return the message a call names.

    Raises:
        Refusal: It is not named, or not there.
    """
    message_id = arguments.integer("message_id")
    if message_id <= 0:
        raise bad_request("message identifier is not specified")
    message = chat.find(bot, message_id)
    if message is None:
        raise bad_request(f"message {purpose} not found")
    return message
