"""Runs the workers of this process until a signal ends them."""

import asyncio
import signal

from kinkeeper.bootstrap import Houses
from kinkeeper.cli.located import Where
from kinkeeper.cli.memory import give_back_unused, keep_what_is_loaded
from kinkeeper.cli.opener import opened_houses
from kinkeeper.cli.terminal import notice
from kinkeeper.observability.failures import count_unforeseen


def work(where: Where) -> None:
    """Run workers until SIGINT or SIGTERM; what is in hand is finished or handed back.

    They talk to no chat service: what is to go out there waits for the server.

    Args:
        where: Households and database.

    Raises:
        ConflictError: Another process runs the jobs of this SQLite file.
        KinkeeperError: A household or the database cannot be used.
    """
    give_back_unused()
    with opened_houses(where) as houses:
        asyncio.run(_until_told(houses))
    notice("stopped")


async def _until_told(houses: Houses) -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    count_unforeseen(loop)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    async with houses.working():
        keep_what_is_loaded()
        noun = "household" if len(houses.systems) == 1 else "households"
        notice(f"running jobs for {noun} {', '.join(houses.by_id)}; Ctrl-C stops")
        await told.wait()
