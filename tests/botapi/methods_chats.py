"""Asking about the bot itself, chats and their members; leaving; the menu of commands."""

from typing import Any

from botapi.accounts import Bot
from botapi.chats import Chat
from botapi.finding import find_chat
from botapi.members import Membership
from botapi.parameters import Arguments
from botapi.posting import announce, set_status
from botapi.refusals import bad_request
from botapi.world import World

_SCOPES = {
    "default",
    "all_private_chats",
    "all_group_chats",
    "all_chat_administrators",
    "chat",
    "chat_administrators",
    "chat_member",
}
_DEFAULT_PERMISSIONS = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
)


def get_me(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    return bot.about_itself()


def get_chat(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    old = world.groups.get(arguments.integer("chat_id"))
    if old is not None and old.migrated_to is not None and old.member(bot.id):
        return _in_full(old)
    return _in_full(find_chat(world, bot, arguments))


def _in_full(chat: Chat) -> dict[str, Any]:
    shown = chat.as_json() | {
        "accent_color_id": abs(chat.id) % 7,
        "max_reaction_count": 11,
        "accepted_gift_types": {
            "unlimited_gifts": False,
            "limited_gifts": False,
            "unique_gifts": False,
            "premium_subscription": False,
            "gifts_from_channels": False,
        },
    }
    if chat.kind != "private":
        shown["permissions"] = dict.fromkeys(_DEFAULT_PERMISSIONS, True)
    return shown


def _member(world: World, chat: Chat, user_id: int) -> Membership:
    user = world.account(user_id)
    if user is None:
        raise bad_request("user not found")
    if chat.kind == "private":
        return Membership(user=user, status="member")
    member = chat.member(user_id)
    if member is None:
        if chat.kind == "group":
            raise bad_request("user not found")
        return Membership(user=user, status="left")
    return member


def get_chat_member(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    user_id = arguments.user_id()
    chat = find_chat(world, bot, arguments)
    return _member(world, chat, user_id).as_json(chat.kind)


def get_chat_administrators(world: World, bot: Bot, arguments: Arguments) -> list[dict[str, Any]]:
    chat = find_chat(world, bot, arguments)
    if chat.kind == "private":
        raise bad_request("there are no administrators in the private chat")
    with_bots = arguments.flag("return_bots")
    return [
        member.as_json(chat.kind)
        for member in chat.members.values()
        if member.governs and (with_bots or member.user is bot or not member.user.is_bot)
    ]


def get_chat_member_count(world: World, bot: Bot, arguments: Arguments) -> int:
    chat = find_chat(world, bot, arguments)
    if chat.kind == "private":
        return 2
    return sum(member.present for member in chat.members.values())


def leave_chat(world: World, bot: Bot, arguments: Arguments) -> bool:
    chat = find_chat(world, bot, arguments)
    if chat.kind == "private":
        raise bad_request("chat is not a group")
    set_status(world, chat, bot, "left", by=bot)
    announce(world, chat, bot, {"left_chat_member": bot.as_json()})
    return True


def set_my_commands(world: World, bot: Bot, arguments: Arguments) -> bool:
    commands = arguments.parsed("commands", "BotCommand")
    key = _commands_key(world, bot, arguments)
    if not isinstance(commands, list):
        raise bad_request("expected an Array of BotCommand")
    bot.commands[key] = [_command(given) for given in commands]
    return True


def _command(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise bad_request("expected an Object")
    command = str(given.get("command", "")).strip().removeprefix("/")
    description = str(given.get("description", "")).strip()
    if not command:
        raise bad_request("command must be non-empty")
    if len(command) > 32:
        raise bad_request("command length must not exceed 32")
    if not command.replace("_", "").isalnum() or command != command.lower():
        raise bad_request("BOT_COMMAND_INVALID")
    if not description:
        raise bad_request("command description must be non-empty")
    if len(description) > 256:
        raise bad_request("command description length must not exceed 256")
    kept = {"command": command, "description": description}
    return kept | ({"is_ephemeral": True} if given.get("is_ephemeral") else {})


def get_my_commands(world: World, bot: Bot, arguments: Arguments) -> list[dict[str, Any]]:
    return bot.commands.get(_commands_key(world, bot, arguments), [])


def delete_my_commands(world: World, bot: Bot, arguments: Arguments) -> bool:
    bot.commands.pop(_commands_key(world, bot, arguments), None)
    return True


def _commands_key(world: World, bot: Bot, arguments: Arguments) -> tuple[str, str]:
    scope = arguments.parsed("scope", "BotCommandScope") or {"type": "default"}
    reason = "can't parse BotCommandScope: "
    if not isinstance(scope, dict):
        raise bad_request(f"{reason}must be an Object")
    kind = scope.get("type")
    if kind not in _SCOPES:
        raise bad_request(f"{reason}unsupported type specified")
    language = arguments.text("language_code")
    if language and not (len(language) == 2 and language.isalpha() and language.islower()):
        raise bad_request("invalid language code specified")
    name = str(kind)
    if kind in {"chat", "chat_administrators", "chat_member"}:
        chat = find_chat(world, bot, Arguments({"chat_id": scope.get("chat_id")}))
        if chat.kind == "private" and kind != "chat":
            raise bad_request("can't use the scope in a private chat")
        name += f":{chat.id}"
    if kind == "chat_member":
        user_id = scope.get("user_id")
        if not isinstance(user_id, int) or user_id <= 0:
            raise bad_request(f"{reason}invalid user_id specified")
        name += f":{user_id}"
    return name, language


METHODS = {
    "getMe": get_me,
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "getChatAdministrators": get_chat_administrators,
    "getChatMemberCount": get_chat_member_count,
    "leaveChat": leave_chat,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "deleteMyCommands": delete_my_commands,
}
