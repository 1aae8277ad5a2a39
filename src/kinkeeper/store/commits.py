"""Wakes whoever waits for a commit of this process: what was written says which topics it touched.

Costs nothing where nobody waits. It is only ever a hint: other processes commit without it, so whoever
waits also looks now and then, and a unit of work that was undone may wake somebody for nothing.

Work that nobody waits for is woken a moment later: begun with the commit, it would hold up the answer that
the same commit sends.
"""

import asyncio
import threading
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from typing import Self

from sqlalchemy import Connection

AFTERWARDS = timedelta(milliseconds=50)
"""How long work that nobody waits for lets answers go first."""

_TOUCHED = "kinkeeper.touched"
Touch = tuple[str, str]


def touch(conn: Connection, topic: str, household: str) -> None:
    """Say that this transaction changes something that others may wait for.

    Args:
        topic: What kind of thing ("outbox", "messages", "actions").
    """
    conn.info.setdefault(_TOUCHED, set()).add((topic, household))


def touched(conn: Connection) -> Collection[Touch]:
    """Return what was touched since the last call, and forget it; for the store."""
    found: Collection[Touch] = conn.info.pop(_TOUCHED, ())
    return found


class CommitWatch:
    """One waiter. Make it with `CommitSignal.watch`, on the event loop that waits."""

    def __init__(
        self, signal: "CommitSignal", topics: Collection[Touch], *, after: timedelta
    ) -> None:
        self._signal = signal
        self.topics = frozenset(topics)
        self._after = after.total_seconds()
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._is_called = False

    async def wait(self, timeout: float) -> bool:  # noqa: ASYNC109 - a wait that ends is no error
        """Wait for a commit that touches one of the topics since the last wait.

        Args:
            timeout: Longest wait, seconds.

        Returns:
            Whether there was one.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._event.wait()
        except TimeoutError:
            return False
        self._is_called = False
        self._event.clear()
        return True

    def wake(self) -> None:
        """End the wait that is under way, or the next one. From any thread."""
        if self._is_called:
            return
        self._is_called = True
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._set)

    def _set(self) -> None:
        if self._after:
            self._loop.call_later(self._after, self._event.set)
        else:
            self._event.set()

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._signal.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        self._signal.remove(self)


class CommitSignal:
    """Tells watches of commits; one a store."""

    def __init__(self) -> None:
        self._watches: dict[Touch, tuple[CommitWatch, ...]] = {}
        self._lock = threading.Lock()

    def watch(self, *topics: Touch, after: timedelta = timedelta(0)) -> CommitWatch:
        """Return a watch, to be used in a `with` block on an event loop.

        Args:
            topics: Pairs of a topic and a household.
            after: How long it lets a commit rest before it wakes its waiter, >= 0.
        """
        return CommitWatch(self, topics, after=after)

    def notify(self, touches: Collection[Touch]) -> None:
        """Wake those who wait for one of these; called after a commit, from any thread."""
        for each in touches:
            for watch in self._watches.get(each, ()):
                watch.wake()

    def add(self, watch: CommitWatch) -> None:
        """Let a watch hear of commits."""
        with self._lock:
            for each in watch.topics:
                self._watches[each] = (*self._watches.get(each, ()), watch)

    def remove(self, watch: CommitWatch) -> None:
        """Let a watch hear no more."""
        with self._lock:
            for each in watch.topics:
                left = tuple(other for other in self._watches.get(each, ()) if other is not watch)
                if left:
                    self._watches[each] = left
                else:
                    self._watches.pop(each, None)
