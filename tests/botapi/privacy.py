"""Which bots hear a message of a group: privacy mode, as it was when each bot came."""

from botapi.accounts import Bot
from botapi.chats import Chat, Message


def hearers(chat: Chat, message: Message) -> list[Bot]:
    """Return the bots that get this message of a person."""
    private = [bot for bot in chat.bots() if keeps_to_itself(chat, bot)]
    open_to_all = [bot for bot in chat.bots() if bot not in private]
    if message.is_service:
        return chat.bots()
    return open_to_all + _addressed(chat, message, private)


def keeps_to_itself(chat: Chat, bot: Bot) -> bool:
    member = chat.member(bot.id) if chat.kind != "private" else None
    return member is not None and member.private and not member.governs


def _addressed(chat: Chat, message: Message, bots: list[Bot]) -> list[Bot]:
    """One message is for one such bot only; a reply weighs most, then a name, then who spoke last."""
    answered = message.reply_to
    if answered is not None:
        for bot in bots:
            if answered.sender is bot or bot.id in answered.heard_by:
                return [bot]
    for bot in bots:
        if _names(message, bot):
            return [bot]
    return [bot for bot in bots if bot is chat.last_bot and _is_general_command(message)]


def _names(message: Message, bot: Bot) -> bool:
    handle = f"@{bot.username.lower()}"
    for entity in message.entities:
        words = entity_text(message.text, entity).lower()
        if entity["type"] == "mention" and words == handle:
            return True
        if entity["type"] == "bot_command" and words.endswith(handle):
            return True
    return False


def _is_general_command(message: Message) -> bool:
    return any(
        entity["type"] == "bot_command"
        and entity["offset"] == 0
        and "@" not in entity_text(message.text, entity)
        for entity in message.entities
    )


def entity_text(text: str, entity: dict[str, int]) -> str:
    """Return what an entity covers; its place counts UTF-16 units."""
    units = text.encode("utf-16-le")
    start, length = entity["offset"] * 2, entity["length"] * 2
    return units[start : start + length].decode("utf-16-le", errors="replace")
