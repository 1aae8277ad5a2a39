"""A person's word that a turn is to stop: what waits under it is broken off where it stands."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kinkeeper.core.errors import KinkeeperError


class StoppedError(KinkeeperError):
    """The person said stop."""


class StopSignal:
    """Whether the person of one turn said stop, as this process knows it."""

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: set[asyncio.Task[Any]] = set()

    @property
    def is_set(self) -> bool:
        """Whether they did."""
        return self._is_set

    def set(self) -> None:
        """Stop; called on the turn's loop. Said again it changes nothing, so that what is being broken off can clear up."""
        if self._is_set:
            return
        self._is_set = True
        for task in self._waiting:
            task.cancel()

    @contextmanager
    def breaking_off(self) -> Iterator[None]:
        """Let a stop end whatever the block waits for; only for what may be left half-way.

        Raises:
            StoppedError: The person said stop, before it or meanwhile.
        """
        if self._is_set:
            raise StoppedError("the person said stop")
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only an asyncio task can be cancelled")
        before = task.cancelling()
        self._waiting.add(task)
        try:
            yield
        except asyncio.CancelledError:
            # As with a time limit: only a cancellation of our own becomes an error.
            if self.is_set and task.uncancel() <= before:
                raise StoppedError("the person said stop") from None
            raise
        finally:
            self._waiting.discard(task)
