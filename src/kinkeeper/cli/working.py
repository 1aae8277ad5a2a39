"""Runs the workers of this process until a signal ends them."""

import asyncio
import signal

from kinkeeper.bootstrap import System
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import opened
from kinkeeper.cli.terminal import notice


def work(where: Where) -> None:
    """Run workers until SIGINT or SIGTERM; what is in hand is finished or handed back.

    Args:
        where: Household and database.

    Raises:
        ConflictError: Another process runs the jobs of this SQLite file.
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system:
        asyncio.run(_until_told(system))
    notice("stopped")


async def _until_told(system: System) -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    async with system.worker():
        notice(f"working for household {system.household.id}; Ctrl-C stops")
        await told.wait()
