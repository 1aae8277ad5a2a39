"""The turns that one process works on, each of which hears a stop that its person says, here or to another process."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from kinkeeper.conversation import turns
from kinkeeper.conversation.commit_polling import Poll
from kinkeeper.conversation.turn_stop import StopSignal
from kinkeeper.store.store import Store


class UnderWay:
    """The turns of one household that this process works on.

    Args:
        store: Its database.
        household: Tenant key.
    """

    def __init__(self, store: Store, household: str) -> None:
        self._store = store
        self._household = household
        self._signals: dict[str, StopSignal] = {}
        self._poll = Poll(self._hear, self._signals, name="conversation.stops")

    @contextmanager
    def working_on(self, turn_id: str) -> Iterator[StopSignal]:
        """Yield what tells the block that its turn is to stop."""
        signal = self._signals[turn_id] = StopSignal()
        self._poll.begin()
        try:
            yield signal
        finally:
            self._signals.pop(turn_id, None)

    def stop(self, turn_ids: Iterable[str]) -> None:
        """Break off what this process works on of turns that were told to stop."""
        for turn_id in turn_ids:
            if turn_id in self._signals:
                self._signals[turn_id].set()

    async def close(self) -> None:
        """Listen no more."""
        await self._poll.close()

    async def _hear(self) -> None:
        """Hear of what is said to other processes."""
        look = partial(turns.stopped_of, household=self._household, turn_ids=list(self._signals))
        self.stop(await self._store.read(look))
