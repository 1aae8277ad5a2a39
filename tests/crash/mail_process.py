"""A process to be killed: sends what actions have queued, at real servers. Not a test itself."""

import asyncio
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pydantic import SecretStr

from kinkeeper.actions.outside.adapter import Adapter, PointOfNoReturn, Trace, Work
from kinkeeper.actions.outside.work_claims import work_states
from kinkeeper.actions.outside.worker import OutsidePace, OutsideWorker
from kinkeeper.bootstrap.outside import mail_adapters
from kinkeeper.core.time import SystemClock
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

HOUSE = "vienna"
PACE = OutsidePace(poll_every=timedelta(milliseconds=50))


class Telling:
    """Says on the output how far each call is."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        async def told() -> None:
            print("before", flush=True)
            await point_of_no_return()
            print("behind", flush=True)

        print("begun", flush=True)
        result = await self._adapter.call(work, told)
        print("done", flush=True)
        return result

    async def was_done(self, work: Work) -> Trace:
        print("looking", flush=True)
        return await self._adapter.was_done(work)


async def send(store: Store, settings: Settings) -> None:
    """Send until killed; say so when nothing is left to do."""
    found = mail_adapters(settings, is_only_household=True)
    adapters = {name: Telling(adapter) for name, adapter in found.items()}
    worker = OutsideWorker(store, HOUSE, adapters, clock=SystemClock(), pace=PACE)
    long_ago = SystemClock().now() - timedelta(days=1)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run())
        while True:
            await asyncio.sleep(0.1)
            states = await store.read(lambda conn: work_states(conn, HOUSE, since=long_ago))
            if not states.keys() & {"queued", "running"}:
                print("idle", flush=True)


def main() -> None:
    """Do what the arguments say: DATABASE SMTP_URL IMAP_URL."""
    settings = Settings(
        smtp_url=SecretStr(sys.argv[2]),
        imap_url=SecretStr(sys.argv[3]),
        mail_from="family@home.test",
    )
    with Store.open(sys.argv[1]) as store:
        asyncio.run(send(store, settings))


if __name__ == "__main__":
    main()
