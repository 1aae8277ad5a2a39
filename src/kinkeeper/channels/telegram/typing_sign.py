"""Shows in a chat that an answer is being made, while that takes longer than a moment."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import structlog
from telegram import Bot
from telegram.constants import ChatAction
from telegram.error import TelegramError

from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.stages import Stage
from kinkeeper.observability.failures import surviving

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class TypingPace:
    """When it is shown.

    Attributes:
        after: What is answered sooner needs no sign.
        every: How often it is shown again; Telegram takes it away after five seconds.
    """

    after: timedelta = timedelta(seconds=2)
    every: timedelta = timedelta(seconds=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Awaited:
    """An answer that somebody waits for; attributes as for `Typing.expect`."""

    talk: Conversation
    turn_id: str
    chat_id: str


class Typing:
    """Shows it in all chats of one bot.

    Args:
        bot: Makes the calls.
        pace: When it is shown.
    """

    def __init__(self, bot: Bot, *, pace: TypingPace | None = None) -> None:
        self._bot = bot
        self._pace = pace or TypingPace()
        self._awaited: asyncio.Queue[_Awaited] = asyncio.Queue()

    def expect(self, talk: Conversation, turn_id: str, chat_id: str) -> None:
        """Show it for an answer to a message that was for the bot, and is committed, should that take long.

        Args:
            talk: Makes it.
            turn_id: Of the message.
            chat_id: Where it was said.
        """
        self._awaited.put_nowait(_Awaited(talk=talk, turn_id=turn_id, chat_id=chat_id))

    async def run(self) -> None:
        """Do so until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(self._show(await self._awaited.get()))

    async def _show(self, awaited: _Awaited) -> None:
        """Show it until there is an answer; a chat that takes no sign is left alone, and that is counted."""
        await asyncio.sleep(self._pace.after.total_seconds())
        with surviving("telegram.typing"):
            while await awaited.talk.is_awaited(awaited.turn_id):
                try:
                    await self._bot.send_chat_action(int(awaited.chat_id), ChatAction.TYPING)
                except TelegramError as error:
                    reason = type(error).__name__
                    log.warning("telegram.typing.refused", reason=reason)
                    await awaited.talk.note_failure(awaited.turn_id, Stage.TYPING, reason)
                    return
                await asyncio.sleep(self._pace.every.total_seconds())
