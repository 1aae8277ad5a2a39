"""What a server costs that nobody writes to: memory, and its share of a core."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.report import Figure
from bench.serving import talk
from bench.serving.processes import our_server

_SETTLING_SECONDS = 65
_MOST_MB = 150
_MOST_PERCENT = 0.5


def measure(seconds: int = 60) -> tuple[Figure, ...]:
    """Start a server with its workers, let it settle, and watch it.

    Args:
        seconds: How long.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        household, database, _ = talk.prepare(folder, "idle")
        with our_server(folder, household=household, database=database) as server:
            time.sleep(_SETTLING_SECONDS)
            begin, before = time.monotonic(), server.cpu_seconds()
            time.sleep(seconds)
            share = (server.cpu_seconds() - before) / (time.monotonic() - begin)
            memory = server.resident_mb()
    return (
        Figure(name="idle server, memory", value=memory, unit="MB", target=_MOST_MB),
        Figure(
            name=f"idle server, CPU over {seconds} s",
            value=100 * share,
            unit="% of a core",
            target=_MOST_PERCENT,
        ),
    )
