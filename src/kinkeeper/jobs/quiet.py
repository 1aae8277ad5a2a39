"""Keeps the job engine from working while there is nothing to do, and calls it when there is.

On its own it looks into every queue at fixed intervals, once a second into one for features that are
not used here, once a second for queues it does not know yet, once a second for messages between dispatches, and once
a second for delayed dispatches whose time has come; together that is most of what an idle process costs. It has no settings for it.
"""

import threading
from collections.abc import Iterable
from datetime import timedelta

from kinkeeper.jobs.library import (
    DBOS,
    database_internals,
    engine_internals,
    queue_internals,
    upkeep_internals,
)

_UNUSED_QUEUE_SECONDS = 3600.0
_UNKNOWN_QUEUES_SECONDS = 300.0
_LOOKING = "queue-worker-"  # how the engine names the thread that looks into a queue


class Bell(threading.Event):
    """What the engine's threads wait on to be stopped; those that look into queues can also be called.

    Args:
        lines: Names of the queues that are looked into when it rings for them.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__()
        self._called = {_LOOKING + line: threading.Event() for line in lines}

    def ring(self, line: str) -> None:
        """Let one queue be looked into now, or once more where that is under way."""
        self._called[_LOOKING + line].set()

    def set(self) -> None:
        """Stop all threads."""
        super().set()
        for called in self._called.values():
            called.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait to be stopped, in the thread of a queue also to be called; returns whether to stop."""
        name = threading.current_thread().name
        called = self._called.get(name)
        if called is not None:
            called.wait(timeout)
            called.clear()
            return self.is_set()
        if timeout is not None and not name.startswith(_LOOKING):
            timeout = max(timeout, _UNKNOWN_QUEUES_SECONDS)
        return super().wait(timeout)


def make_quiet(engine: DBOS, *, lines: Iterable[str], delayed_every: timedelta) -> Bell:
    """Set the engine's fixed intervals; call it before the launch.

    Args:
        engine: Not launched yet.
        lines: The queues it is to look into.
        delayed_every: How often it looks for delayed dispatches whose time has come.

    Returns:
        What to ring when something was put into a queue.
    """
    unused = engine._registry.get_internal_queue()  # noqa: SLF001 - no setting for it
    unused._polling_interval_sec = _UNUSED_QUEUE_SECONDS  # noqa: SLF001 - no setting for it
    upkeep_internals._BACKGROUND_JOBS_INTERVAL_SEC = delayed_every.total_seconds()  # noqa: SLF001 - no setting for it
    # No dispatch waits for a message of another one; the listener would look for some once a second, to the last.
    database_internals.SystemDatabase.run_notification_listener = _hear_nothing  # type: ignore[assignment, method-assign]  # no setting for it
    bell = Bell(lines)
    engine.background_thread_stop_events.append(bell)

    def look(_stop_event: threading.Event, dbos: DBOS) -> None:
        queue_internals.queue_thread(bell, dbos)

    engine_internals.queue_thread = look  # type: ignore[attr-defined, assignment]  # no setting for it
    return bell


def _hear_nothing(_database: object) -> None:
    """Listen for no messages."""
