"""Makes Telegram know how the bot works here, and takes in the updates that it posts."""

import asyncio
from collections.abc import Sequence

import structlog
from sqlalchemy import Connection
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
)
from telegram.error import BadRequest, Forbidden, TelegramError

from kinkeeper.channels.telegram.bot_rights import look
from kinkeeper.channels.telegram.bot_status import GroupStanding, Standing, load_known
from kinkeeper.channels.telegram.commands import ALONE, MENU
from kinkeeper.channels.telegram.families import CHANNEL, Families
from kinkeeper.channels.telegram.reception import Identity
from kinkeeper.channels.telegram.updates import READERS
from kinkeeper.channels.telegram.webhook import WebhookAddress
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.messaging import addresses
from kinkeeper.observability.failures import surviving
from kinkeeper.store.store import Store

log = structlog.get_logger()


LADDER = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Waits after failures, one after the other, seconds; the last stays."""


class Presence:
    """Tells Telegram, at the start and whenever the bot's rights change.

    Args:
        bot: Makes the calls.
        identity: Learns the bot's name.
        clock: Tells when something was learnt.
        webhook: Where updates are posted; None where they are asked for.
        ladder: Waits after failures, seconds.
    """

    def __init__(
        self,
        bot: Bot,
        store: Store,
        families: Families,
        *,
        identity: Identity,
        clock: Clock,
        webhook: WebhookAddress | None = None,
        ladder: Sequence[float] = LADDER,
    ) -> None:
        self._bot = bot
        self._store = store
        self._families = families
        self._identity = identity
        self._clock = clock
        self._webhook = webhook
        self._ladder = ladder
        self._due = asyncio.Event()
        self.standing: Standing | None = None
        """What Telegram said last; None until it was asked."""
        self.ready = asyncio.Event()
        """Set once Telegram knows where updates go."""
        self.trouble: str | None = "Telegram has not been checked yet"
        """What is wrong, or None."""

    def look_again(self) -> None:
        """Look anew at what the bot may do where; its rights have changed."""
        self._due.set()

    async def run(self) -> None:
        """Do so until cancelled."""
        while True:
            self._due.clear()
            await self._until_done()
            self.ready.set()
            await self._due.wait()

    async def _until_done(self) -> None:
        failures = 0
        while True:
            with surviving("telegram.presence", foreseen=(TelegramError, UnavailableError)) as told:
                await self._tell()
            if told.error is None:
                self.trouble = None
                return
            self.trouble = f"Telegram does not answer ({type(told.error).__name__})"
            await asyncio.sleep(self._ladder[min(failures, len(self._ladder) - 1)])
            failures += 1

    async def _tell(self) -> None:
        await self._bot.initialize()
        if not self.ready.is_set():
            await self._set_webhook()
            await self._set_menus()
        households = [family.household for family in self._families.all]
        known = await self._store.read(
            lambda conn: load_known(conn, households, bot=self._identity.bot)
        )
        self.standing = await look(self._bot, known.groups)
        for group in self.standing.groups:
            await self._settle(group)
        self._identity.username = self.standing.username.lower()

    async def _set_webhook(self) -> None:
        if self._webhook is None:
            await self._bot.delete_webhook(drop_pending_updates=False)
            return
        await self._bot.set_webhook(
            self._webhook.url, secret_token=self._webhook.secret, allowed_updates=list(READERS)
        )

    async def _set_menus(self) -> None:
        everything = [BotCommand(name, words) for name, words in MENU.items()]
        await self._bot.set_my_commands(everything, scope=BotCommandScopeAllPrivateChats())
        await self._bot.set_my_commands(everything, scope=BotCommandScopeAllGroupChats())

    async def _settle(self, group: GroupStanding) -> None:
        """Note whether the bot may show something to one member alone, and let it be asked so."""
        now = self._clock.now()

        def note(conn: Connection) -> None:
            addresses.set_member_only(
                conn, group.household, CHANNEL, group.chat_id, may=group.governs, now=now
            )

        await self._store.locking(group.household).write(note)
        if not group.is_present:
            return
        menu = [
            BotCommand(name, words, api_kwargs={"is_ephemeral": True})
            if group.governs and name in ALONE
            else BotCommand(name, words)
            for name, words in MENU.items()
        ]
        try:
            await self._bot.set_my_commands(menu, scope=BotCommandScopeChat(int(group.chat_id)))
        except (BadRequest, Forbidden) as error:
            log.warning("telegram.menu.refused", reason=type(error).__name__)
