"""Delivers what waits to go out, and shows that an answer is being made.

Texts go out plain, without marks of any kind, so nothing in them needs escaping.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    ReplyParameters,
)
from telegram.constants import ChatAction
from telegram.error import TelegramError

from kinkeeper.channels.telegram.connection import told_apart
from kinkeeper.channels.telegram.families import CHANNEL
from kinkeeper.channels.telegram.inbound import plain_id
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.stages import Stage
from kinkeeper.core.errors import InvariantError
from kinkeeper.household.model import Household
from kinkeeper.messaging.outbound import (
    Delivered,
    OutboundKind,
    OutgoingItem,
    PressButton,
    RefusedError,
    Route,
)
from kinkeeper.observability.failures import surviving

_MOST_TEXT = 4096
_MOST_ANSWER = 200
_MOST_LABEL = 64
_WIDE_LABEL = 14
_MOST_BESIDE = 3
_UNCHANGED = "message is not modified"


class TelegramChannel:
    """Delivers to the chats of one household, or to those of nobody.

    Args:
        bot: Makes the calls.
        household: Whose members' accounts its file names; what is for one member alone reaches no other, and
            who left it nothing. None tells strangers what strangers are told.
    """

    name = CHANNEL

    def __init__(self, bot: Bot, household: Household | None) -> None:
        self._bot = bot
        self._accounts = {
            member.id: member.telegram_id
            for member in (household.members if household else ())
            if member.telegram_id is not None
        }
        # A private chat goes by the account of the person in it; groups have numbers below zero.
        allowed = {*map(str, self._accounts.values()), *(household.chats if household else ())}
        self._alone = None if household is None else allowed

    async def deliver(self, item: OutgoingItem) -> Delivered:
        """Do one thing, once; `Channel` tells what is raised."""
        if self._alone is not None and int(item.chat_id) > 0 and item.chat_id not in self._alone:
            raise RefusedError("this chat no longer belongs to anyone in the household file")
        with told_apart():
            match item.kind:
                case OutboundKind.SEND:
                    return await self._send(item)
                case OutboundKind.EDIT:
                    return await self._edit(item)
                case OutboundKind.NOTICE:
                    return await self._answer(item)

    async def _send(self, item: OutgoingItem) -> Delivered:
        more: dict[str, Any] = {}
        if item.route is Route.MEMBER:
            more["ephemeral_message_parameters"] = {"receiver_user_id": self._account(item)}
        message = await self._bot.send_message(
            chat_id=int(item.chat_id),
            text=_clipped(item.body, _MOST_TEXT),
            reply_markup=_keyboard(item.buttons),
            disable_notification=item.is_soundless,
            link_preview_options=LinkPreviewOptions(is_disabled=True),
            reply_parameters=_answered(item),
            api_kwargs=more or None,
        )
        ephemeral = message.api_kwargs.get("ephemeral_message_id")
        if ephemeral:
            return Delivered(ephemeral_id=str(ephemeral))
        return Delivered(channel_message_id=str(message.message_id))

    async def _edit(self, item: OutgoingItem) -> Delivered:
        target = item.target
        if target is None:
            raise InvariantError("the channel was given an edit without a message to change")
        try:
            with told_apart():
                await self._change(item, target)
        except RefusedError as error:
            if _UNCHANGED not in str(error).lower():
                raise
        return target

    async def _change(self, item: OutgoingItem, target: Delivered) -> None:
        text, keyboard = _clipped(item.body, _MOST_TEXT), _keyboard(item.buttons)
        if target.ephemeral_id is None:
            await self._bot.edit_message_text(
                chat_id=int(item.chat_id),
                message_id=int(target.channel_message_id or 0),
                text=text,
                reply_markup=keyboard,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
            return
        arguments: dict[str, Any] = {
            "chat_id": int(item.chat_id),
            "receiver_user_id": self._account(item),
            "ephemeral_message_id": int(target.ephemeral_id),
            "text": text,
        }
        if keyboard is not None:
            arguments["reply_markup"] = keyboard
        await self._bot.do_api_request("editEphemeralMessageText", arguments)

    async def _answer(self, item: OutgoingItem) -> Delivered:
        await self._bot.answer_callback_query(
            item.answer_to or "", text=_clipped(item.body, _MOST_ANSWER)
        )
        return Delivered()

    def _account(self, item: OutgoingItem) -> int:
        account = self._accounts.get(item.audience or "")
        if account is None:
            raise RefusedError("the household file has no telegram_id for this member")
        return account


def _keyboard(buttons: tuple[PressButton, ...]) -> InlineKeyboardMarkup | None:
    """Return the buttons: short ones beside each other, else one below the other."""
    if not buttons:
        return None
    drawn = [
        InlineKeyboardButton(_clipped(each.label, _MOST_LABEL), callback_data=each.data)
        for each in buttons
    ]
    is_narrow = all(len(each.label) <= _WIDE_LABEL for each in buttons)
    is_row = is_narrow and len(drawn) <= _MOST_BESIDE
    return InlineKeyboardMarkup([drawn] if is_row else [[each] for each in drawn])


def _answered(item: OutgoingItem) -> ReplyParameters | None:
    if item.reply_to is None:
        return None
    number = plain_id(item.reply_to)
    if not number.isdecimal():
        return None
    return ReplyParameters(message_id=int(number), allow_sending_without_reply=True)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# Shows in a chat that an answer is being made, while that takes longer than a moment.

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
    """

    def __init__(self, bot: Bot, *, pace: TypingPace | None = None) -> None:
        self._bot = bot
        self._pace = pace or TypingPace()
        self._awaited: asyncio.Queue[_Awaited] = asyncio.Queue()

    def expect(self, talk: Conversation, turn_id: str, chat_id: str) -> None:
        """Show it for an answer to a message that was for the bot, and is committed, should that take long."""
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
