"""Tier 2 as durable work: one queued message a job, the messages of a chat in their order.

A message is only understood after the earlier ones of its chat: an answer needs its question. Whoever gets to
a message first does the waiting ones before it; their own dispatches then find nothing left to do.
"""

import asyncio
from datetime import timedelta

from sqlalchemy import Connection

from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key
from kinkeeper.observer import repository
from kinkeeper.observer.intake import JOB_NAME
from kinkeeper.observer.settlement import Settlement
from kinkeeper.observer.speaking import Speaker
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.understanding import Understanding
from kinkeeper.store.store import Store

_LEASE = timedelta(minutes=5)
_LOOK_AGAIN_SECONDS = 0.05


class UnderstandingJob:
    """Understands queued messages of one household, on the wall clock.

    Args:
        store: Its database.
        household: Tenant key.
        understanding: Reads messages.
        settlement: Decides about them.
        speaker: Asks late questions.
        clock: Tells when leases run out and when effects happen.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        understanding: Understanding,
        settlement: Settlement,
        speaker: Speaker,
        clock: Clock,
    ) -> None:
        self._store = store
        self._household = household
        self._understanding = understanding
        self._settlement = settlement
        self._speaker = speaker
        self._clock = clock

    def as_job(self) -> Job:
        """Return the kind of work for the job engine."""
        return Job(name=JOB_NAME, table=observer_messages, handler=self.handle, lease=_LEASE)

    async def handle(self, key: Key, epoch: int) -> None:
        """Understand the message of a claimed row, after the earlier ones of its chat.

        Raises:
            LeaseLostError: Another worker took the row meanwhile.
        """
        row_id = key[1]
        while earlier := await self._store.read(lambda conn: self._earlier(conn, row_id)):
            claimed = await self._store.write(lambda conn: self._claim(conn, earlier))
            if claimed is None:
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            else:
                await self._understand(earlier, claimed)
        await self._understand(row_id, epoch)

    async def ask_due(self) -> int:
        """Ask the questions whose grace has ended by now; returns how many were asked aloud."""
        asked = 0
        while True:
            now = self._clock.now()
            row = await self._store.read(
                lambda conn: repository.next_deferred(conn, self._household, until=now)
            )
            if row is None:
                return asked
            spoken = await self._store.write(
                lambda conn, row=row: self._speaker.ask_late(conn, row)  # type: ignore[misc]
            )
            asked += spoken is not None

    def _earlier(self, conn: Connection, row_id: str) -> str | None:
        own = repository.find(conn, self._household, row_id)
        if own is None:
            return None
        found = repository.unfinished_before(
            conn, self._household, own.chat_id, row_id, now=self._clock.now()
        )
        return found.id if found is not None and found.id != row_id else None

    def _claim(self, conn: Connection, row_id: str) -> int | None:
        key = (self._household, row_id)
        return leases.claim(
            conn, observer_messages, key, now=self._clock.now(), lease=_LEASE
        )

    async def _understand(self, row_id: str, epoch: int) -> None:
        loaded = await self._store.read(lambda conn: self._understanding.load(conn, row_id))
        prepared = await self._understanding.prepare(loaded)
        await self._store.write(
            lambda conn: self._settlement.settle(
                conn, prepared, epoch=epoch, now=self._clock.now()
            )
        )
