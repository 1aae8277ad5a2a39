"""What an operation costs, and what the process holds: the figures that several benchmarks take."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time_ns

_MEGABYTE = 1 << 20


def cpu_microseconds(operation: Callable[[], object]) -> float:
    """Return the CPU time of the process, in microseconds, that an operation takes."""
    start = process_time_ns()
    operation()
    return (process_time_ns() - start) / 1_000


def p99_of(found: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return sorted(found)[int(len(found) * 0.99)]


def resident_megabytes() -> float:
    """Return how much memory the process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE
