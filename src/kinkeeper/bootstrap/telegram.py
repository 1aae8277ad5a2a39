"""Telegram by the settings: what delivers, what takes in, what runs for it, and how it stands."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL

from kinkeeper.bootstrap.conversation import Talk
from kinkeeper.bootstrap.household_work import LongTask
from kinkeeper.bootstrap.houses import Houses
from kinkeeper.channels.telegram.bot_status import Known, findings, load_known
from kinkeeper.channels.telegram.families import Families, Family
from kinkeeper.channels.telegram.webhook import WebhookAddress
from kinkeeper.core.errors import DeniedError, KinkeeperError, UnavailableError
from kinkeeper.core.time import Clock, SystemClock
from kinkeeper.household.model import Household
from kinkeeper.messaging.outbound import Channel
from kinkeeper.observability.findings import Finding, broken, ok, warning
from kinkeeper.observer.intake import Intake
from kinkeeper.settings.model import Settings
from kinkeeper.store.engines import is_sqlite, reader_engine, translated
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.web.context import Webhook


def _nothing() -> Sequence[Finding]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """What a process runs for a chat service.

    Attributes:
        channels: What each household's messages go out through, by household id, and under an empty id
            what strangers are told.
        webhook: Takes posted updates, where they are posted.
        findings: Says how it stands; reads the database, so call it in a thread.
    """

    channels: Mapping[str, Sequence[Channel]] = field(default_factory=dict)
    tasks: Sequence[LongTask] = ()
    webhook: Webhook | None = None
    findings: Callable[[], Sequence[Finding]] = _nothing


@asynccontextmanager
async def telegram_connected(
    houses: Houses,
    intakes: Mapping[str, Intake],
    talks: Mapping[str, Talk],
    *,
    clock: Clock | None = None,
    ladder: Sequence[float] | None = None,
) -> AsyncIterator[Connected]:
    """Yield what is to be run for Telegram; nothing where no bot is set up.

    Args:
        houses: The households; all share the bot of the settings.
        intakes: Their tier 1, by household id.
        talks: What their members are talked with, by household id.
        ladder: Waits after failures, seconds; the usual ones where None.
    """
    settings = houses.settings
    if settings.telegram_bot_token is None:
        yield Connected()
        return
    # Slow to load, and often not needed.
    from kinkeeper.channels.telegram.bot import Running  # noqa: PLC0415
    from kinkeeper.channels.telegram.connection import bot_number, open_bot  # noqa: PLC0415

    token = settings.telegram_bot_token.get_secret_value()
    families = Families(
        all=tuple(
            Family(
                participants=system.participants,
                intake=intakes[household],
                conversation=talks[household].conversation,
            )
            for household, system in houses.by_id.items()
        )
    )
    for family in families.all:
        await houses.store.locking(family.household.id).write(family.forget_who_left)
    async with open_bot(token, api_url=settings.telegram_api_url) as bot:
        running = Running(
            bot,
            houses.store,
            families,
            number=bot_number(token),
            clock=clock or SystemClock(),
            address=_webhook_address(settings),
            ladder=ladder,
        )
        yield Connected(
            channels=running.channels,
            tasks=running.tasks,
            webhook=running.webhook,
            findings=running.findings,
        )


def telegram_findings(
    settings: Settings, households: Sequence[Household], database: URL
) -> Sequence[Finding]:
    """Ask Telegram how the bot stands, and say how to mend what is missing. Blocks; changes nothing."""
    if settings.telegram_bot_token is None:
        return (ok("telegram bot", "not set up; set TELEGRAM_BOT_TOKEN to use one"),)
    from kinkeeper.channels.telegram.bot_rights import ask  # noqa: PLC0415
    from kinkeeper.channels.telegram.connection import bot_number  # noqa: PLC0415

    token = settings.telegram_bot_token.get_secret_value()
    known = _known(households, database, bot=bot_number(token))
    try:
        standing = ask(token, api_url=settings.telegram_api_url, groups=known.groups)
    except DeniedError as error:
        remedy = "copy the token from @BotFather into TELEGRAM_BOT_TOKEN again"
        return (broken("telegram bot", str(error), remedy),)
    except UnavailableError as error:
        remedy = "is this machine online? The bot's permissions were not checked"
        return (warning("telegram bot", str(error), remedy),)
    url = settings.telegram_webhook_url
    return tuple(findings(standing, known, households=households, webhook_url=url))


def _webhook_address(settings: Settings) -> WebhookAddress | None:
    url, secret = settings.telegram_webhook_url, settings.telegram_webhook_secret
    if url is None or secret is None:
        return None
    return WebhookAddress(url=url, secret=secret.get_secret_value())


def _known(households: Sequence[Household], database: URL, *, bot: str) -> Known:
    """Return what the database knows, as far as there is one and this program can read it."""
    if not is_sqlite(database) or Path(str(database.database)).exists():
        engine = reader_engine(database, connections=1)
        try:
            with translated(), engine.connect() as connection:
                if current_version(connection) == SCHEMA_VERSION:
                    return load_known(connection, households, bot=bot)
        except KinkeeperError:
            pass  # the check of the database says why
        finally:
            engine.dispose()
    groups = tuple((each.id, chat_id) for each in households for chat_id in each.chats)
    return Known(groups=groups, reachable=frozenset(), strangers=())
