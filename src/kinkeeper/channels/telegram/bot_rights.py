"""Asks Telegram what the bot may do where: nothing of it is concluded from settings."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from telegram import Bot
from telegram.error import BadRequest, Forbidden, InvalidToken, TelegramError

from kinkeeper.channels.telegram.bot_status import GroupStanding, Standing
from kinkeeper.channels.telegram.connection import open_bot
from kinkeeper.core.errors import DeniedError, UnavailableError

_PATIENCE = timedelta(seconds=10)


def ask(token: str, *, api_url: str, groups: Sequence[tuple[str, str]]) -> Standing:
    """Ask once, on an event loop of its own. Blocks.

    Args:
        token: From @BotFather.
        api_url: Where the Bot API is.
        groups: Household id and number of each group.

    Raises:
        DeniedError: Telegram does not know the token.
    """

    async def asked() -> Standing:
        async with (
            asyncio.timeout(_PATIENCE.total_seconds()),
            open_bot(token, api_url=api_url) as bot,
        ):
            return await look(bot, groups)

    try:
        return asyncio.run(asked())
    except InvalidToken as error:
        raise DeniedError("Telegram rejects TELEGRAM_BOT_TOKEN") from error
    except (TelegramError, TimeoutError) as error:
        raise UnavailableError(f"{api_url} cannot be reached ({type(error).__name__})") from error


async def look(bot: Bot, groups: Sequence[tuple[str, str]]) -> Standing:
    """Ask Telegram what the bot is.

    Args:
        groups: Household id and number of each group.
    """
    await bot.initialize()
    about, webhook = await bot.get_me(), await bot.get_webhook_info()
    return Standing(
        username=about.username or "",
        hears_all=bool(about.can_read_all_group_messages),
        groups=tuple([await _look_at(bot, household, chat_id) for household, chat_id in groups]),
        webhook_url=webhook.url,
        webhook_error=webhook.last_error_message or "",
    )


async def _look_at(bot: Bot, household: str, chat_id: str) -> GroupStanding:
    status = ""
    if chat_id.lstrip("-").isdecimal():
        try:
            status = str((await bot.get_chat_member(int(chat_id), bot.id)).status)
        except (BadRequest, Forbidden):
            status = ""
    return GroupStanding(household=household, chat_id=chat_id, status=status)
