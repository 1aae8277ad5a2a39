"""All parts of one bot, put together: what takes in, what delivers, what runs."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from telegram import Bot

from kinkeeper.channels.telegram.bot_status import findings, load_known
from kinkeeper.channels.telegram.families import Families
from kinkeeper.channels.telegram.outbound import TelegramChannel
from kinkeeper.channels.telegram.presence import LADDER, Presence
from kinkeeper.channels.telegram.reception import Identity, Reception
from kinkeeper.channels.telegram.strangers import NOBODY
from kinkeeper.channels.telegram.typing_sign import Typing
from kinkeeper.channels.telegram.update_polling import Polling
from kinkeeper.channels.telegram.webhook import TelegramWebhook, WebhookAddress
from kinkeeper.core.time import Clock
from kinkeeper.observability.findings import Finding, broken
from kinkeeper.store.store import Store

_Task = Callable[[], Coroutine[Any, Any, None]]


class Running:
    """One bot and its households.

    Args:
        bot: Made by `open_bot`.
        store: Database of its households.
        families: Its households.
        number: Telegram's number of the bot.
        clock: Tells when something happened.
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
            bot, store, reception, presence=self._presence, number=number, clock=clock,
            ladder=steps,
        )  # fmt: skip
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
