"""What a service manager told this process: where to report to, and how often."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """A service manager that waits for reports.

    Attributes:
        socket: Path of its datagram socket; one that begins with "@" is abstract.
        patience: How long it waits for a sign of life before it starts the process again; None for ever.
    """

    socket: str
    patience: timedelta | None


def find_supervisor(
    environment: Mapping[str, str] | None = None, *, process: int | None = None
) -> Supervisor | None:
    """Return who supervises this process, if anybody does.

    Args:
        environment: Variables; the process's own where None.
        process: Its id; this process's where None.
    """
    values = os.environ if environment is None else environment
    socket = values.get("NOTIFY_SOCKET", "")
    if not socket.startswith(("/", "@")):
        return None
    pid = values.get("WATCHDOG_PID", "")
    is_meant = pid in {"", str(os.getpid() if process is None else process)}
    microseconds = values.get("WATCHDOG_USEC", "")
    has_watchdog = is_meant and microseconds.isdecimal() and int(microseconds) > 0
    patience = timedelta(microseconds=int(microseconds)) if has_watchdog else None
    return Supervisor(socket=socket, patience=patience)
