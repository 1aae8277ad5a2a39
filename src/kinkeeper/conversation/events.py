"""The events of threads' streams: rows first, numbered; then told to those who listen."""

import asyncio
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from sqlalchemy import Connection, Integer, bindparam, func, insert, literal_column, select, update

from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.tables import threads, turn_events
from kinkeeper.conversation.threads import thread_of, topic_of
from kinkeeper.household.model import Household, Member
from kinkeeper.observability.failures import surviving
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared, is_one_of
from kinkeeper.store.store import Store

# Polling for what other processes commit, which comes without a signal, while somebody here waits
# for it.

_EVERY_SECONDS = 1.0


class Poll:
    """One look a second while something is waited for; no task otherwise.

    Args:
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


Told = tuple[EventName, Mapping[str, Any]]
"""An event that has no number yet."""

_columns = turn_events.c
_MOST_AT_ONCE = 500
_INSERT = Prepared(
    insert(turn_events), ("household", "thread", "number", "turn", "name", "data", "at")
)
_COUNT = Prepared(
    update(threads)
    .where(threads.c.household == bindparam("of_household"), threads.c.id == bindparam("of_thread"))
    .values(events=threads.c.events + bindparam("more", type_=Integer))
    .returning(threads.c.events)
)
_LAST = Prepared(
    select(threads.c.id, threads.c.events).where(
        threads.c.household == bindparam("of_household"), is_one_of(threads.c.id, "of_threads")
    )
)
_AFTER = Prepared(
    select(_columns.number, _columns.turn, _columns.name, _columns.data)
    .where(
        _columns.household == bindparam("of_household"),
        _columns.thread == bindparam("of_thread"),
        _columns.number > bindparam("after"),
    )
    .order_by(_columns.number)
    .limit(literal_column(str(_MOST_AT_ONCE), Integer))
)


def append(
    conn: Connection,
    household: str,
    thread_id: str,
    told: Sequence[Told],
    *,
    turn_id: str,
    at: datetime,
) -> None:
    """Add events to a thread's stream, and wake who listens once they are committed.

    Args:
        told: In order.
        turn_id: The turn they belong to.
    """
    if not told:
        return
    of_thread = {"of_household": household, "of_thread": thread_id}
    last = int(_COUNT.execute(conn, of_thread | {"more": len(told)})[0][0])
    for number, (name, data) in enumerate(told, start=last - len(told) + 1):
        values = {
            "household": household,
            "thread": thread_id,
            "number": number,
            "turn": turn_id,
            "name": name.value,
            "data": dict(data),
            "at": at,
        }
        _INSERT.execute(conn, values)
    touch(conn, topic_of(thread_id), household)


def events_after(
    conn: Connection, household: str, thread_id: str, number: int
) -> Sequence[TurnEvent]:
    """Return the events of a thread behind a number, in order; at most 500.

    Args:
        number: Of the last event that is known; 0 for none.
    """
    values = {"of_household": household, "of_thread": thread_id, "after": number}
    return [
        TurnEvent(number=row[0], turn_id=row[1], name=EventName(row[2]), data=row[3])
        for row in _AFTER.execute(conn, values)
    ]


def last_numbers(conn: Connection, household: str, thread_ids: Sequence[str]) -> Mapping[str, int]:
    """Return the number of the last event of each of some threads; 0 where there is none.

    Args:
        thread_ids: Of threads; unknown ones are left out.
    """
    of_threads = {"of_household": household, "of_threads": list(thread_ids)}
    return {row[0]: row[1] for row in _LAST.execute(conn, of_threads)}


def last_number(conn: Connection, household: str, thread_id: str) -> int:
    """Return the number of a thread's last event; 0 where there is none."""
    query = select(threads.c.events).where(
        threads.c.household == household, threads.c.id == thread_id
    )
    return int(conn.execute(query).scalar() or 0)


def number_before(conn: Connection, household: str, thread_id: str, turn_id: str) -> int:
    """Return the number behind which a turn's events stand; the thread's last where it has none yet."""
    query = select(func.min(_columns.number)).where(
        _columns.household == household, _columns.thread == thread_id, _columns.turn == turn_id
    )
    first = conn.execute(query).scalar()
    return last_number(conn, household, thread_id) if first is None else int(first) - 1


def has_events(conn: Connection, household: str, thread_id: str, turn_id: str) -> bool:
    """Whether a turn told something already."""
    query = select(_columns.number).where(
        _columns.household == household, _columns.thread == thread_id, _columns.turn == turn_id
    )
    return conn.execute(query.limit(1)).first() is not None


# What is told in a household's threads, to those who listen: what is stored, then what comes.
#
# What this process commits wakes those whom it concerns. For what other processes commit, one look
# a second serves all that listen: a stream that hears nothing costs nothing of its own.

log = structlog.get_logger()

_LOOK_ANYWAY_SECONDS = 60.0  # a signal is only ever a hint
_ENDS = frozenset({EventName.DONE, EventName.ERROR})


class Streams:
    """The listeners of one household in one process."""

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
            after: Number of the last event that is known.
            turn_id: Only this turn's, and no further than its end; all, without end, where None.

        Raises:
            NotFoundError: The member has no such thread.
        """
        household, is_theirs = self._household, False

        def read(conn: Connection) -> Sequence[TurnEvent]:
            if not is_theirs:
                thread_of(conn, self._people, member, thread_id)
            return events_after(conn, household, thread_id, after)

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
        look = partial(last_numbers, household=self._household, thread_ids=list(self._listeners))
        now = await self._store.read(look)
        gone_on = [each for each, number in now.items() if self._told.get(each) != number]
        self._store.wake((topic_of(each), self._household) for each in gone_on)
        self._told = now
