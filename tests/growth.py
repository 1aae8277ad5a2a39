"""What work costs in CPU time, and how that grows with its size: whatever else the machine does, only a real cost counts."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time, thread_time

DOUBLINGS = 3
MOST_GROWTH = 2.2**DOUBLINGS
"""How much more the largest size may cost than the smallest, eight times as large; a quadratic cost is 64 times as much."""

LEAST_SECONDS = 0.1
"""What cannot be too much at the largest size: below it a measurement is mostly noise."""

TRIES = 5
CALM_SECONDS = 0.04
"""What `_plain_work` takes where nothing else runs; a busy machine gets as much more time as that takes longer."""


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage meanwhile: it would be counted as work of whoever runs."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def cpu_seconds(work: Callable[[], object], *, in_threads: bool = False) -> float:
    """Return the CPU time of doing something once.

    Args:
        work: Done in this thread.
        in_threads: Whether other threads do a part of it.
    """
    clock = process_time if in_threads else thread_time
    begun = clock()
    work()
    return clock() - begun


def slowness() -> float:
    """Return how much slower the processor is now than on a calm machine, at least 1: others share its caches."""
    return max(1.0, cpu_seconds(_plain_work) / CALM_SECONDS)


def grows_too_fast(cost: Callable[[int], float], size: int) -> str | None:
    """Return what three doublings cost where that is too much; the best of several tries counts.

    The smaller size is measured as often as it takes to do as much work as the larger one, right after it, so that
    what slows one down slows down the other.

    Args:
        cost: Returns the CPU time, in seconds, of work of a size; never answered out of a cache.
        size: The smallest.
    """
    times = 2**DOUBLINGS
    best_small = best_large = float("inf")
    if cost(times * size) < LEAST_SECONDS:
        return None
    with without_collections():
        for _ in range(TRIES):
            large = cost(times * size)
            if large < LEAST_SECONDS:
                return None
            small = [cost(size) for _ in range(times)]
            best_large, best_small = min(best_large, large), min(best_small, *small)
            if large <= MOST_GROWTH * sum(small) / times or best_large <= MOST_GROWTH * best_small:
                return None
    return f"{best_small * 1000:.1f} ms, then {best_large * 1000:.0f} ms"


def takes_too_long(cost: Callable[[], float], most: float) -> str | None:
    """Return what something costs where that is too much; the best of several tries counts.

    Args:
        cost: Returns the CPU time, in seconds, of doing it once.
        most: Seconds that it may take on a calm machine.
    """
    if cost() <= most:
        return None
    best = float("inf")
    with without_collections():
        for _ in range(TRIES):
            taken = cost()
            best = min(best, taken if taken <= most else taken / slowness())
            if best <= most:
                return None
    return f"{best * 1000:.0f} ms"


def _plain_work() -> None:
    counts: dict[str, int] = {}
    for number in range(200_000):
        key = str(number % 5_000)
        counts[key] = counts.get(key, 0) + number
