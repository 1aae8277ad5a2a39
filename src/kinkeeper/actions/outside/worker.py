"""Carries out what actions do outside the database: once, as far as anybody can know.

Before the step that may have an effect, a mark is committed. A row found with that mark after a crash, or
after an error that does not say, is asked about; if nobody can tell, the action fails and says so.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.effects.outside import TOPIC, outside_work
from kinkeeper.actions.outside import work_claims
from kinkeeper.actions.outside.adapter import Adapter, NotDoneError, RefusedError, Trace
from kinkeeper.actions.outside.work_claims import Taken
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import Key, LeaseLostError
from kinkeeper.jobs.runners import WORK_LEFT
from kinkeeper.observability.failures import surviving
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store

log = structlog.get_logger()
_NAME = "actions.outside"
_Record = Callable[[Connection], None]

_NO_ADAPTER = "nothing set up here can do this"
_NOT_REACHED = "it could not be reached"
_BETWEEN_RECORDS_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsidePace:
    """How the worker goes about it.

    Attributes:
        poll_every: How often it looks for what other processes have queued, and what is due again.
        call: Longest time one call may take.
        lease: After which time the work of a process that has vanished is taken over; above `call`.
        grace: How long calls under way may go on after the end.
        at_once: Most calls at the same time, > 0.
    """

    poll_every: timedelta = timedelta(seconds=5)
    call: timedelta = timedelta(seconds=60)
    lease: timedelta = timedelta(seconds=150)
    grace: timedelta = timedelta(seconds=10)
    at_once: int = 4


class OutsideWorker:
    """Does what one household's actions have queued to be done outside.

    Args:
        adapters: By the names of the effects that they carry out.
        pace: How it goes about it.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        adapters: Mapping[str, Adapter],
        *,
        clock: Clock,
        pace: OutsidePace | None = None,
    ) -> None:
        self._store = store
        self._household = household
        self._adapters = adapters
        self._clock = clock
        self._pace = pace or OutsidePace()
        self._slots = asyncio.Semaphore(self._pace.at_once)

    async def run(self) -> None:
        """Work until cancelled; calls under way then get some grace.

        Where this process alone works for the database, what another had begun is taken over at once.
        """
        if is_sqlite(self._store.url):
            now = self._clock.now()
            with surviving(_NAME):
                await self._store.write(lambda conn: leases.end_leases(conn, outside_work, now=now))
        active: dict[Key, asyncio.Task[None]] = {}
        with self._store.watch((TOPIC, self._household), WORK_LEFT) as watch:
            async with asyncio.TaskGroup() as tasks:
                try:
                    while True:
                        for key in await self._due_or_none():
                            if key not in active:
                                active[key] = tasks.create_task(self._work_off(key))
                                active[key].add_done_callback(partial(_forget, active, key))
                        await watch.wait(self._pace.poll_every.total_seconds())
                finally:
                    await self._let_end(active)

    async def run_once(self) -> int:
        """Do everything that is due by now; returns how many rows that were."""
        keys = await self._due()
        async with asyncio.TaskGroup() as tasks:
            for key in keys:
                tasks.create_task(self._work_off(key))
        return len(keys)

    async def _let_end(self, active: Mapping[Key, "asyncio.Task[None]"]) -> None:
        """Let calls under way end; what is cut off all the same is asked about at the next start."""
        if not active:
            return
        _, late = await asyncio.wait(active.values(), timeout=self._pace.grace.total_seconds())
        for task in late:
            task.cancel()

    async def _due(self) -> list[Key]:
        now = self._clock.now()
        rows = await self._store.read(
            lambda conn: leases.stranded(conn, outside_work, now=now, household=self._household)
        )
        return [row.key for row in rows]

    async def _due_or_none(self) -> list[Key]:
        with surviving(_NAME):
            return await self._due()
        return []

    async def _work_off(self, key: Key) -> None:
        async with self._slots:
            with surviving(_NAME):
                try:
                    await self._worked_off(key)
                except LeaseLostError:
                    log.warning("actions.outside.lease_lost")

    async def _worked_off(self, key: Key) -> None:
        now = self._clock.now()
        taken = await self._store.write(
            lambda conn: work_claims.take(conn, key, now=now, lease=self._pace.lease)
        )
        if taken is not None:
            await self._record(await self._outcome(taken))

    async def _outcome(self, taken: Taken) -> _Record:
        """Do it, and return how to record what became of it."""
        adapter = self._adapters.get(taken.work.effect.effect)
        if adapter is None:
            return partial(
                work_claims.refuse, taken=taken, reason=_NO_ADAPTER, now=self._clock.now()
            )
        if taken.is_in_doubt and (known := await self._look(adapter, taken)) is not None:
            return known
        return await self._call(adapter, taken)

    async def _call(self, adapter: Adapter, taken: Taken) -> _Record:
        is_marked = False

        async def point_of_no_return() -> None:
            nonlocal is_marked
            now = self._clock.now()
            await self._store.write(lambda conn: work_claims.mark(conn, taken, now=now))
            is_marked = True

        try:
            async with asyncio.timeout(self._pace.call.total_seconds()):
                result = await adapter.call(taken.work, point_of_no_return)
        except NotDoneError as error:
            return self._later(taken, str(error))
        except RefusedError as error:
            return partial(
                work_claims.refuse, taken=taken, reason=str(error), now=self._clock.now()
            )
        except LeaseLostError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever went wrong: whether it was done is found out
            log.warning("actions.outside.unclear", reason=type(error).__name__, marked=is_marked)
            if not is_marked:
                return self._later(taken, _NOT_REACHED)
            return await self._look(adapter, taken) or self._later(taken, _NOT_REACHED)
        return partial(work_claims.succeed, taken=taken, result=result, now=self._clock.now())

    async def _look(self, adapter: Adapter, taken: Taken) -> _Record | None:
        """Find out what became of a call; None where it surely had no effect."""
        try:
            async with asyncio.timeout(self._pace.call.total_seconds()):
                trace = await adapter.was_done(taken.work)
        except (NotDoneError, TimeoutError):
            return self._later(taken, _NOT_REACHED, is_in_doubt=True)
        except RefusedError:
            trace = Trace.UNKNOWN
        if trace is Trace.DONE:
            return partial(work_claims.succeed, taken=taken, result={}, now=self._clock.now())
        if trace is Trace.UNKNOWN:
            return partial(work_claims.give_up, taken=taken, now=self._clock.now())
        return None

    def _later(self, taken: Taken, reason: str, *, is_in_doubt: bool = False) -> _Record:
        now = self._clock.now()
        return partial(
            work_claims.postpone, taken=taken, reason=reason, is_in_doubt=is_in_doubt, now=now
        )

    async def _record(self, record: _Record) -> None:
        """Record what became of a row; as long as the database cannot be written, try again."""
        while True:
            try:
                await self._store.write(record)
            except UnavailableError as error:
                log.warning("actions.outside.unrecorded", reason=type(error).__name__)
                await asyncio.sleep(_BETWEEN_RECORDS_SECONDS)
            else:
                return


def _forget(active: dict[Key, asyncio.Task[None]], key: Key, _: asyncio.Task[None]) -> None:
    active.pop(key, None)
