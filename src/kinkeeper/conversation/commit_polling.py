"""Polling for what other processes commit, which comes without a signal, while somebody here waits for it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

from kinkeeper.observability.failures import surviving

_EVERY_SECONDS = 1.0


class Poll:
    """One look a second while something is waited for; no task otherwise.

    Args:
        look: One look.
        awaited: What is waited for, as it changes; the polling ends once it is empty.
        name: Of the work, in the log and the figures.
    """

    def __init__(
        self, look: Callable[[], Awaitable[object]], awaited: Collection[str], *, name: str
    ) -> None:
        self._look = look
        self._awaited = awaited
        self._name = name
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Poll from now on, unless it is done already."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._go_on())

    async def close(self) -> None:
        """Poll no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _go_on(self) -> None:
        while self._awaited:
            await asyncio.sleep(_EVERY_SECONDS)
            with surviving(self._name):
                await self._look()
