"""All parts of one bot, put together; and the updates asked for in their order, each acknowledged once taken in."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import structlog
from sqlalchemy import Connection
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
)
from telegram.error import BadRequest, Conflict, Forbidden, TelegramError

from kinkeeper.channels.telegram import progress
from kinkeeper.channels.telegram.bot_rights import look
from kinkeeper.channels.telegram.bot_status import (
    NOBODY,
    GroupStanding,
    Standing,
    findings,
    load_known,
)
from kinkeeper.channels.telegram.commands import ALONE, MENU
from kinkeeper.channels.telegram.connection import FloodError
from kinkeeper.channels.telegram.families import CHANNEL, Families
from kinkeeper.channels.telegram.outbound import TelegramChannel, Typing
from kinkeeper.channels.telegram.reception import Identity, Reception
from kinkeeper.channels.telegram.updates import READERS
from kinkeeper.channels.telegram.webhook import TelegramWebhook, WebhookAddress
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.messaging import addresses
from kinkeeper.observability.failures import count_failure, surviving
from kinkeeper.observability.findings import Finding, broken
from kinkeeper.store.store import Store

log = structlog.get_logger()


LADDER = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Waits after failures, one after the other, seconds; the last stays."""


class Presence:
    """Tells Telegram, at the start and whenever the bot's rights change.

    Args:
        bot: Makes the calls.
        identity: Learns the bot's name.
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


# Asks for updates and takes them in, in their order; what was not taken in is never acknowledged.
#
# Telegram forgets what lies before the place that it is asked from. So it is told that place only
# after all before it was taken in, and asked without one as soon as it has heard.


TAKEN_OVER = "another program is fetching this bot's updates; stop it, or give it its own bot (each environment needs one)"
_AT_ONCE = 100
_WAIT_SECONDS = 50
_SLACK_SECONDS = 15.0
# The library warns of its own, parsing method of this name; Telegram does not mind the capital.
_METHOD = "GetUpdates"


class Polling:
    """Takes in the updates of one bot.

    Args:
        bot: Makes the calls.
        presence: Learns that the bot's rights changed.
        number: Telegram's number of the bot.
        ladder: Waits after failures, seconds.
    """

    def __init__(
        self,
        bot: Bot,
        store: Store,
        reception: Reception,
        *,
        presence: Presence,
        number: str,
        clock: Clock,
        ladder: Sequence[float] = LADDER,
    ) -> None:
        self._bot = bot
        self._store = store
        self._reception = reception
        self._presence = presence
        self._number = number
        self._clock = clock
        self._ladder = ladder
        self._place: int | None = None
        self.trouble: str | None = None
        """Why no updates come in, or None."""

    async def run(self) -> None:
        """Ask until cancelled; an update in hand is taken in wholly or not at all."""
        await self._presence.ready.wait()
        failures = 0
        self._place = await self._kept_place()
        while True:
            wait = self._ladder[min(failures, len(self._ladder) - 1)]
            try:
                await self._round()
            except FloodError as error:
                self.trouble, wait = (
                    "Telegram asked us to send fewer requests",
                    error.wait.total_seconds(),
                )
            except Conflict:
                self.trouble = TAKEN_OVER
                log.warning("telegram.polling.conflict", remedy=TAKEN_OVER)
            except TelegramError as error:
                self.trouble = f"Telegram does not answer ({type(error).__name__})"
                log.warning("telegram.polling.failed", reason=type(error).__name__)
            except UnavailableError as error:
                self.trouble = str(error)
                log.warning("telegram.polling.postponed", reason=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - nothing was acknowledged; pages and workers go on
                self.trouble = "an update could not be stored; see the log"
                count_failure("telegram.polling", error)
            else:
                self.trouble, failures = None, 0
                continue
            failures += 1
            await asyncio.sleep(wait)

    async def _kept_place(self) -> int | None:
        while True:
            now = self._clock.now()
            try:
                return await self._store.read(
                    lambda conn: progress.load(conn, self._number, now=now)  # noqa: B023 - read at once
                )
            except UnavailableError as error:
                self.trouble = str(error)
                await asyncio.sleep(self._ladder[-1])

    async def _round(self) -> None:
        """Ask once, and take in what comes."""
        arguments: dict[str, Any] = {
            "timeout": _WAIT_SECONDS,
            "limit": _AT_ONCE,
            "allowed_updates": list(READERS),
        }
        if self._place is not None:
            arguments["offset"] = self._place
        updates = await self._bot.do_api_request(
            _METHOD, arguments, read_timeout=_WAIT_SECONDS + _SLACK_SECONDS
        )
        self._place = None
        for content in updates if isinstance(updates, list) else ():
            await self._take_in(content)

    async def _take_in(self, content: object) -> None:
        taken = await self._reception.take_in(content, is_in_order=True)
        if taken.update_id is not None:
            self._place = taken.update_id + 1
        if taken.is_standing_changed:
            self._presence.look_again()


_Task = Callable[[], Coroutine[Any, Any, None]]


class Running:
    """One bot and its households.

    Args:
        number: Telegram's number of the bot.
        address: Where updates are posted; None where they are asked for.
        ladder: Waits after failures, seconds; the usual ones where None.
    """

    def __init__(
        self,
        bot: Bot,
        store: Store,
        families: Families,
        *,
        number: str,
        clock: Clock,
        address: WebhookAddress | None = None,
        ladder: Sequence[float] | None = None,
    ) -> None:
        identity, steps = Identity(bot=number), ladder or LADDER
        self._store = store
        self._households = [family.household for family in families.all]
        self._number = number
        self._address = address
        self._typing = Typing(bot)
        reception = Reception(
            store, families, identity=identity, clock=clock, expect=self._typing.expect
        )
        self._presence = Presence(
            bot, store, families, identity=identity, clock=clock, webhook=address, ladder=steps
        )
        self._polling = Polling(
            bot, store, reception, presence=self._presence, number=number, clock=clock, ladder=steps
        )
        self.channels: Mapping[str, tuple[TelegramChannel, ...]] = {
            NOBODY: (TelegramChannel(bot, None),),
            **{each.id: (TelegramChannel(bot, each),) for each in self._households},
        }
        self.webhook = (
            TelegramWebhook(reception, look_again=self._presence.look_again, secret=address.secret)
            if address
            else None
        )

    @property
    def tasks(self) -> tuple[_Task, ...]:
        """What is to run until the end."""
        further = (self._polling.run,) if self._address is None else ()
        return (self._presence.run, self._typing.run, *further)

    def findings(self) -> Sequence[Finding]:
        """Say how the bot stands, as Telegram said last. Blocks: reads the database."""
        trouble = self._presence.trouble or self._polling.trouble
        found = []
        if trouble is not None:
            found.append(broken("telegram", trouble, "see the log; it will be retried"))
        standing = self._presence.standing
        if standing is not None:
            known = self._store.read_now(
                lambda conn: load_known(conn, self._households, bot=self._number)
            )
            url = self._address.url if self._address else None
            found += findings(standing, known, households=self._households, webhook_url=url)
        return found
