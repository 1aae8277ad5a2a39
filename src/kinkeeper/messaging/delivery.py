"""Delivers the outbox: each chat in order and one message at a time, the chats beside each other.

A message cannot be sent exactly once: it is marked, committed, handed to the channel, and what became of
it recorded. What was marked when the process died, or came back with an error that does not say, may
have gone out: `lanes.lose` tells what follows.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import KinkeeperError, UnavailableError
from kinkeeper.core.time import A_DAY, Clock
from kinkeeper.jobs.runners import WORK_LEFT
from kinkeeper.messaging import lanes
from kinkeeper.messaging.channel import (
    Channel,
    ChatMovedError,
    NotSentError,
    RefusedError,
    TooManyError,
)
from kinkeeper.messaging.lanes import Lane, Mint, Taken
from kinkeeper.messaging.outbox import TOPIC
from kinkeeper.messaging.quiet_hours import QuietHours
from kinkeeper.observability.failures import surviving
from kinkeeper.store.commits import CommitWatch
from kinkeeper.store.store import Store

log = structlog.get_logger()
_NAME = "messaging.delivery"
_Record = Callable[[Connection], None]

_LONGEST_WAIT_SECONDS = 60
_SHORTEST_WAIT_SECONDS = 0.01
_BETWEEN_RECORDS_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPace:
    """How a deliverer goes about it.

    Attributes:
        poll_every: How often it looks for what other processes have put.
        call: Longest time one call of a channel may take.
        lease: After which time a row of a process that nothing is heard of counts as lost; above `call`.
        grace: How long calls under way may go on after the end.
        at_once: Most chats that are delivered to at the same time, > 0.
    """

    poll_every: timedelta = timedelta(seconds=5)
    call: timedelta = timedelta(seconds=60)
    lease: timedelta = timedelta(seconds=90)
    grace: timedelta = timedelta(seconds=10)
    at_once: int = 16


class Deliverer:
    """Delivers what one household's outbox holds for some channels.

    Args:
        store: Its database.
        household: Tenant key.
        channels: By their names; rows of other channels are left alone.
        mint: Makes what buttons give back.
        clock: Tells what is due and what is too late.
        quiet_hours: When nobody's phone should ring, if ever.
        pace: How it goes about it.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        channels: Sequence[Channel],
        *,
        mint: Mint,
        clock: Clock,
        quiet_hours: QuietHours | None = None,
        pace: DeliveryPace | None = None,
    ) -> None:
        self._store = store
        self._household = household
        self._channels = {channel.name: channel for channel in channels}
        self._mint = mint
        self._clock = clock
        self._quiet_hours = quiet_hours
        self._pace = pace or DeliveryPace()
        self._stop = asyncio.Event()
        self._slots = asyncio.Semaphore(self._pace.at_once)

    async def recover(self) -> None:
        """Let what is marked as being sent count as lost; only where no other process delivers."""
        now = self._clock.now()
        await self._store.write(lambda conn: lanes.end_leases(conn, self._household, now=now))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver for the length of the block; calls under way at its end get some grace.

        A call that outlasts it is cut off: its row stays marked, and counts as lost at the next start.
        """
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(self._serve())
            try:
                yield
            finally:
                self._stop.set()
                _, late = await asyncio.wait([serving], timeout=self._pace.grace.total_seconds())
                for task in late:
                    task.cancel()

    async def run_once(self) -> int:
        """Deliver everything that is due by now; returns how often a channel was called."""
        calls = 0
        while taken := [
            each for lane in await self._open_lanes() if (each := await self._step(lane)) is True
        ]:
            calls += len(taken)
        return calls

    async def _serve(self) -> None:
        active: set[Lane] = set()
        with self._store.watch((TOPIC, self._household), WORK_LEFT) as watch:
            async with asyncio.TaskGroup() as tasks:
                stopping = tasks.create_task(self._wake_at_stop(watch))
                while not self._stop.is_set():
                    for lane in await self._lanes_or_none():
                        if lane not in active:
                            active.add(lane)
                            tasks.create_task(self._work_off(lane, active, watch))
                    await watch.wait(self._pace.poll_every.total_seconds())
                await stopping

    async def _wake_at_stop(self, watch: CommitWatch) -> None:
        await self._stop.wait()
        watch.wake()

    async def _work_off(self, lane: Lane, active: set[Lane], watch: CommitWatch) -> None:
        """Deliver a lane until nothing is left in it, or it has to wait for longer than a look."""
        try:
            while not self._stop.is_set():
                async with self._slots:
                    step = await self._step_or_wait(lane)
                if step is None:
                    return
                if step is not True:
                    await self._pause(step)
        finally:
            active.discard(lane)
            # What was put after the last look found the lane still taken.
            watch.wake()

    async def _lanes_or_none(self) -> Sequence[Lane]:
        with surviving(_NAME):
            return await self._open_lanes()
        return ()

    async def _open_lanes(self) -> Sequence[Lane]:
        now, names = self._clock.now(), tuple(self._channels)
        found, is_late = await self._store.read(
            lambda conn: (
                lanes.open_lanes(conn, self._household, names),
                lanes.is_any_late(conn, self._household, now=now),
            )
        )
        if is_late:
            await self._store.write(lambda conn: lanes.drop_late(conn, self._household, now=now))
        return found

    async def _step_or_wait(self, lane: Lane) -> Literal[True] | datetime | None:
        with surviving(_NAME):
            return await self._step(lane)
        return self._clock.now() + self._pace.poll_every

    async def _step(self, lane: Lane) -> Literal[True] | datetime | None:
        """Deliver the first row of a lane: True where a channel was called, else when to look again."""
        now = self._clock.now()
        taken = await self._store.write(
            lambda conn: lanes.take_next(
                conn, self._household, lane, mint=self._mint, now=now, lease=self._pace.lease
            )
        )
        if not isinstance(taken, Taken):
            return taken
        record = await self._call(taken, now)
        await self._record(record)
        return True

    async def _call(self, taken: Taken, now: datetime) -> _Record:
        """Hand a row to its channel; return how to record what became of it."""
        row, item = taken.row, taken.item
        is_quiet = self._quiet_hours is not None and self._quiet_hours.hold(now)
        if is_quiet and not row.message.is_alarm:
            item = replace(item, is_soundless=True)
        try:
            async with asyncio.timeout(self._pace.call.total_seconds()):
                delivered = await self._channels[row.message.channel].deliver(item)
        except TooManyError as error:
            # Longer waits count as those of a wrong clock, and would be none.
            wait = min(error.retry_after, A_DAY)
            until, reason = self._clock.now() + wait, _reason(error)
            return lambda conn: lanes.put_back(conn, row, error=reason, until=until)
        except NotSentError as error:
            wait = timedelta(seconds=min(2**row.attempts, _LONGEST_WAIT_SECONDS))
            until, reason = self._clock.now() + wait, _reason(error)
            return lambda conn: lanes.put_back(conn, row, error=reason, until=until)
        except RefusedError as error:
            reason = _reason(error)
            log.warning("messaging.delivery.refused", row=row.id, reason=reason)
            return lambda conn: lanes.refuse(conn, row, error=reason)
        except ChatMovedError as error:
            new_chat_id, moved_at = error.new_chat_id, self._clock.now()
            return lambda conn: lanes.move(conn, row, new_chat_id, now=moved_at)
        except Exception as error:  # noqa: BLE001 - whatever else went wrong: it may have gone out
            reason, lost_at = _reason(error), self._clock.now()
            log.warning("messaging.delivery.unknown", row=row.id, reason=reason)
            return lambda conn: lanes.lose(conn, row, error=reason, now=lost_at)
        sent_at = self._clock.now()
        return lambda conn: lanes.sent(conn, row, delivered, now=sent_at)

    async def _record(self, record: _Record) -> None:
        """Record what became of a row; as long as the database cannot be written, try again."""
        while True:
            try:
                await self._store.write(record)
            except UnavailableError as error:
                log.warning("messaging.delivery.unrecorded", reason=type(error).__name__)
                await asyncio.sleep(_BETWEEN_RECORDS_SECONDS)
            else:
                return

    async def _pause(self, until: datetime) -> None:
        wait = min(until - self._clock.now(), self._pace.poll_every).total_seconds()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(wait, _SHORTEST_WAIT_SECONDS)):
                await self._stop.wait()


def _reason(error: Exception) -> str:
    """Say what went wrong. Our own errors quote no message; of others only the kind is known."""
    return str(error) if isinstance(error, KinkeeperError) else type(error).__name__
