"""What is told in a household's threads, to those who listen: what is stored, then what comes.

What this process commits wakes those whom it concerns. For what other processes commit, one look a second
serves all that listen: a stream that hears nothing costs nothing of its own.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import structlog
from sqlalchemy import Connection

from kinkeeper.conversation import events
from kinkeeper.conversation.commit_polling import Poll
from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.threads import thread_of, topic_of
from kinkeeper.household.model import Household, Member
from kinkeeper.store.store import Store

log = structlog.get_logger()

_LOOK_ANYWAY_SECONDS = 60.0  # a signal is only ever a hint
_ENDS = frozenset({EventName.DONE, EventName.ERROR})


class Streams:
    """The listeners of one household in one process.

    Args:
        store: Its database.
        household: Whose.
    """

    def __init__(self, store: Store, household: Household) -> None:
        self._store = store
        self._people = household
        self._household = household.id
        self._listeners: Counter[str] = Counter()
        self._told: Mapping[str, int] = {}
        self._poll = Poll(self._look_elsewhere, self._listeners, name="conversation.streams")

    async def events(
        self, member: Member, thread_id: str, *, after: int, turn_id: str | None
    ) -> AsyncGenerator[TurnEvent]:
        """Yield a thread's events: those that are stored, then those that come.

        Args:
            member: Whose thread it is, with the rights of their login.
            thread_id: Of the thread.
            after: Number of the last event that is known.
            turn_id: Only this turn's, and no further than its end; all, without end, where None.

        Raises:
            NotFoundError: The member has no such thread.
        """
        household, is_theirs = self._household, False

        def read(conn: Connection) -> Sequence[TurnEvent]:
            if not is_theirs:
                thread_of(conn, self._people, member, thread_id)
            return events.events_after(conn, household, thread_id, after)

        with (
            self._store.watch((topic_of(thread_id), household)) as watch,
            self._listening_to(thread_id),
        ):
            while True:
                found, is_theirs = await self._store.read(read), True
                for event in found:
                    after = event.number
                    if turn_id in {None, event.turn_id}:
                        yield event
                    if event.turn_id == turn_id and event.name in _ENDS:
                        return
                if not found:
                    await watch.wait(_LOOK_ANYWAY_SECONDS)

    async def close(self) -> None:
        """Look no more."""
        await self._poll.close()

    @contextmanager
    def _listening_to(self, thread_id: str) -> Iterator[None]:
        self._listeners[thread_id] += 1
        self._poll.begin()
        try:
            yield
        finally:
            self._listeners[thread_id] -= 1
            if not self._listeners[thread_id]:
                del self._listeners[thread_id]

    async def _look_elsewhere(self) -> None:
        """Wake those whose threads have gone on, whichever process it was."""
        look = partial(
            events.last_numbers, household=self._household, thread_ids=list(self._listeners)
        )
        now = await self._store.read(look)
        gone_on = [each for each, number in now.items() if self._told.get(each) != number]
        self._store.wake((topic_of(each), self._household) for each in gone_on)
        self._told = now
