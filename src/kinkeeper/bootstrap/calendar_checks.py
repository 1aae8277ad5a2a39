"""What a check of the calendar server finds, and what is to run for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from sqlalchemy import URL

from kinkeeper.bootstrap.household_work import LongTask
from kinkeeper.connectors.caldav.address import Address
from kinkeeper.connectors.caldav.sync_records import CHECK, findings, load_standing
from kinkeeper.connectors.caldav.wire import Collection
from kinkeeper.core.errors import KinkeeperError, UnavailableError
from kinkeeper.core.time import Clock, SystemClock
from kinkeeper.household.model import Household
from kinkeeper.observability.findings import Finding, broken, ok, warning
from kinkeeper.settings.model import Settings
from kinkeeper.store.checks import stored_findings
from kinkeeper.store.store import Store
from kinkeeper.web.security.hosts import is_loopback

_NONE = "none; set CALDAV_URL to use one"
_QUICK = timedelta(seconds=10)
_SEVERAL = (
    "CALDAV_URL works with one household only, and there are several here; syncing is switched off"
)


def calendar_tasks(
    settings: Settings, households: Sequence[Household], store: Store, clock: Clock
) -> list[LongTask]:
    """Return what runs to keep the calendar in step: nothing without a server, or with several households."""
    if len(households) != 1 or settings.caldav_url is None:
        return []
    from kinkeeper.bootstrap.calendar_sync import calendar_sync  # noqa: PLC0415 - loads the library for HTTP

    every = timedelta(minutes=settings.caldav_sync_minutes)
    return [partial(calendar_sync(settings, households[0], store, clock).run, every)]


def calendar_findings(
    settings: Settings, households: Sequence[Household], store: Store, *, clock: Clock
) -> list[Finding]:
    """Return how the calendar server stood when it was last looked at. Blocks for the database."""
    if settings.caldav_url is None:
        return [ok(CHECK, _NONE)]
    if len(households) != 1:
        remedy = "run this household separately, or remove CALDAV_URL"
        return [warning(CHECK, _SEVERAL, remedy)]
    household = households[0].id
    address = Address.parse(settings.caldav_url.get_secret_value())
    standing = store.read_now(lambda conn: load_standing(conn, household))
    found = findings(standing, host=address.host, now=clock.now())
    if not address.is_encrypted and not is_loopback(address.host):
        remedy = "use an https:// address, unless the server is on a private network"
        found.append(warning(CHECK, f"the connection to {address.host} is not encrypted", remedy))
    return [replace(each, household=household) for each in found]


def stored_calendar_findings(
    url: URL, settings: Settings, households: Sequence[Household]
) -> Sequence[Finding]:
    """Return how the calendar server stood by a database, as `stored_findings` does."""
    if settings.caldav_url is None:
        return ()
    return stored_findings(
        url,
        CHECK,
        lambda store: calendar_findings(settings, households, store, clock=SystemClock()),
    )


def calendar_server_findings(settings: Settings) -> Sequence[Finding]:
    """Ask the calendar server whether it lets us in, and say how to mend it where not. Blocks."""
    if settings.caldav_url is None:
        return (ok(CHECK, _NONE),)
    from kinkeeper.connectors.caldav.client import CalDavClient  # noqa: PLC0415 - as above

    address = Address.parse(settings.caldav_url.get_secret_value())

    async def look() -> Collection:
        async with CalDavClient(address, patience=_QUICK) as client:
            return await client.find_calendar()

    try:
        collection = asyncio.run(look())
    except UnavailableError as error:
        return (warning(CHECK, str(error), "it will be retried; nothing is lost"),)
    except KinkeeperError as error:
        return (broken(CHECK, str(error), "correct CALDAV_URL; until then nothing is uploaded"),)
    return (ok(CHECK, f"{collection.name or 'the calendar'} at {address.host}: signed in"),)
