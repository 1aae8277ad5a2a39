"""Reports to the service manager: ready, alive, stopping. One datagram each."""

import asyncio
import socket

from kinkeeper.observability.failures import surviving
from kinkeeper.settings.supervisor import Supervisor

READY = "READY=1"
STOPPING = "STOPPING=1"
ALIVE = "WATCHDOG=1"


def report(supervisor: Supervisor | None, state: str) -> None:
    """Send one report; without a supervisor nothing happens, and one that is gone is no error.

    Args:
        supervisor: Who waits for it.
        state: Such as `READY`.
    """
    if supervisor is None:
        return
    path = supervisor.socket
    address = "\0" + path[1:] if path.startswith("@") else path
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        try:
            sender.connect(address)
            sender.send(state.encode())
        except OSError:
            return


async def stay_alive(supervisor: Supervisor | None) -> None:
    """Report a sign of life, twice as often as it is waited for, until cancelled.

    It comes from the event loop: a loop that hangs reports nothing.
    """
    if supervisor is None or supervisor.patience is None:
        return
    half = supervisor.patience.total_seconds() / 2
    while True:
        with surviving("supervision", foreseen=OSError):
            report(supervisor, ALIVE)
        await asyncio.sleep(half)
