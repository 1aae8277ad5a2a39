"""Telegram by the settings: what delivers, what takes in, and what runs for it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kinkeeper.bootstrap.doing import LongTask
from kinkeeper.bootstrap.system import Houses
from kinkeeper.core.time import Clock, SystemClock
from kinkeeper.messaging.channel import Channel
from kinkeeper.observer.intake import Intake
from kinkeeper.web.context import Check, Webhook


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """What a process runs for a chat service.

    Attributes:
        channels: What each household's messages go out through, by household id.
        tasks: What runs as long as the process does.
        webhook: Takes posted updates, where they are posted.
        checks: What readiness depends on, by name.
    """

    channels: Mapping[str, Sequence[Channel]] = field(default_factory=dict)
    tasks: Sequence[LongTask] = ()
    webhook: Webhook | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)


@asynccontextmanager
async def telegram_connected(
    houses: Houses,
    intakes: Mapping[str, Intake],
    *,
    clock: Clock | None = None,
    ladder: Sequence[float] | None = None,
) -> AsyncIterator[Connected]:
    """Yield what is to be run for Telegram; nothing where no bot is set up.

    Args:
        houses: The households; all share the bot of the settings.
        intakes: Their tier 1, by household id.
        clock: The wall clock where None.
        ladder: Waits after failures, seconds; the usual ones where None.
    """
    settings = houses.settings
    if settings.telegram_bot_token is None:
        yield Connected()
        return
    from kinkeeper.channels.telegram.connection import bot_number, open_bot  # noqa: PLC0415 - slow to load, and often not needed
    from kinkeeper.channels.telegram.families import Families, Family  # noqa: PLC0415
    from kinkeeper.channels.telegram.polling import Polling  # noqa: PLC0415
    from kinkeeper.channels.telegram.presence import LADDER, Presence, WebhookAddress  # noqa: PLC0415
    from kinkeeper.channels.telegram.reception import Identity, Reception  # noqa: PLC0415
    from kinkeeper.channels.telegram.sending import TelegramChannel  # noqa: PLC0415
    from kinkeeper.channels.telegram.webhook import TelegramWebhook  # noqa: PLC0415

    clock, steps = clock or SystemClock(), ladder or LADDER
    token = settings.telegram_bot_token.get_secret_value()
    identity = Identity(bot=bot_number(token))
    families = Families(
        all=tuple(
            Family(participants=system.participants, intake=intakes[household])
            for household, system in houses.by_id.items()
        )
    )
    reception = Reception(houses.store, families, identity=identity, clock=clock)
    address = None
    if settings.telegram_webhook_url and settings.telegram_webhook_secret:
        secret = settings.telegram_webhook_secret.get_secret_value()
        address = WebhookAddress(url=settings.telegram_webhook_url, secret=secret)
    async with open_bot(token, api_url=settings.telegram_api_url) as bot:
        presence = Presence(
            bot, houses.store, families, identity=identity, clock=clock, webhook=address,
            ladder=steps,
        )  # fmt: skip
        polling = Polling(
            bot, houses.store, reception, presence=presence, number=identity.bot, clock=clock,
            ladder=steps,
        )  # fmt: skip

        async def what_is_wrong() -> str | None:
            return presence.trouble or polling.trouble

        yield Connected(
            channels={
                household: (TelegramChannel(bot, system.household),)
                for household, system in houses.by_id.items()
            },
            tasks=(presence.run,) if address else (presence.run, polling.run),
            webhook=TelegramWebhook(reception, presence=presence, secret=address.secret)
            if address
            else None,
            checks={"telegram": what_is_wrong},
        )
