"""A process to be killed: keeps a calendar in step, and prints a dot for each object written. Not a test itself."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from kinkeeper.connectors.caldav.address import Address
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.kinds import Events
from kinkeeper.connectors.caldav.rounds import CalendarSync
from kinkeeper.core.time import SystemClock
from kinkeeper.household.file import load_household
from kinkeeper.store.store import Store


class Telling(CalDavClient):
    """Tells before and after each write, so that it can be killed in between."""

    async def create(self, url: str, path: str, data: bytes) -> str | None:
        print(".", flush=True)
        etag = await super().create(url, path, data)
        print(".", flush=True)
        return etag

    async def replace(self, *parts: Any, **named: Any) -> str | None:
        print(".", flush=True)
        etag = await super().replace(*parts, **named)
        print(".", flush=True)
        return etag


async def main(path: str, household_file: str, address: str) -> None:
    household = load_household(Path(household_file))
    with Store.open(path) as store:
        syncing = CalendarSync(
            store=store,
            household=household,
            kinds=(Events(household),),
            connect=lambda: Telling(Address.parse(address)),
            clock=SystemClock(),
        )
        print("ready", flush=True)
        await syncing.run_once()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
