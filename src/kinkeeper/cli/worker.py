"""`kinkeeper worker`: understands the messages that were taken in; what is to go out to a chat service waits for the server."""

import asyncio
import signal

import typer

from kinkeeper.bootstrap import Houses
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import opened_houses
from kinkeeper.cli.process_memory import give_back_unused, keep_what_is_loaded
from kinkeeper.cli.terminal import notice
from kinkeeper.observability.failures import count_unforeseen

app = typer.Typer()


@app.command()
@located
def worker(where: Where) -> None:
    """Run a background worker."""
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
