"""Tier 2 as durable work: one queued message a job, the messages of a chat in their order.

A message is only understood after the earlier ones of its chat: an answer needs its question. What it means
is decided as of the moment it arrived, so it comes out the same whether it waited or was tried again.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, func, or_, select

from kinkeeper.core.errors import NotFoundError
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, LeaseLostError, WorkState
from kinkeeper.observer import repository
from kinkeeper.observer.extraction.prepared import Loaded
from kinkeeper.observer.intake import JOB_NAME
from kinkeeper.observer.settling.message_reader import Understanding
from kinkeeper.observer.settling.settlement import Settlement
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store.store import Store

_LEASE = timedelta(minutes=5)

_columns = observer_messages.c
_asked = observer_messages.alias("asked")
# What failed and waits for its next try is due later, and holds nobody up meanwhile; a row that was
# dispatched is due, whatever this machine's clock says.
_FIRST_IN_CHAT = (
    select(_columns.household, _columns.id)
    .where(
        _columns.household == bindparam("of_household"),
        _columns.chat_id
        == select(_asked.c.chat_id)
        .where(_asked.c.household == bindparam("of_household"), _asked.c.id == bindparam("of_id"))
        .scalar_subquery(),
        _columns.state.in_([WorkState.QUEUED.value, WorkState.RUNNING.value]),
        or_(_columns.due_at <= bindparam("now"), _columns.id == bindparam("of_id")),
    )
    .order_by(func.length(_columns.id), _columns.id)
    .limit(1)
)


class UnderstandingJob:
    """Understands queued messages of one household, on the wall clock.

    Args:
        settlement: Decides about them.
    """

    def __init__(
        self, store: Store, household: str, *, understanding: Understanding, settlement: Settlement
    ) -> None:
        self._store = store
        self._household = household
        self._understanding = understanding
        self._settlement = settlement

    def as_job(self) -> Job:
        """Return the kind of work for the job engine."""
        return Job(
            name=JOB_NAME,
            table=observer_messages,
            handler=self.handle,
            lease=_LEASE,
            household=self._household,
            line=first_in_chat,
        )

    async def handle(self, key: Key, epoch: int) -> None:
        """Understand the message of a claimed row.

        Raises:
            LeaseLostError: Another worker took the row meanwhile; nothing was written.
            NotFoundError: There is no such message in this household.
        """
        loaded, arrived_at = await self._store.read(lambda conn: self._load(conn, key))
        prepared = await self._understanding.prepare(loaded)

        def settle(conn: Connection) -> None:
            if not leases.hold(conn, observer_messages, key, epoch):
                raise LeaseLostError(
                    f"the claim {epoch} on message row {key[1]!r} is no longer valid"
                )
            self._settlement.settle(conn, prepared, epoch=epoch, now=arrived_at)

        await self._store.write(settle)

    def _load(self, conn: Connection, key: Key) -> tuple[Loaded, datetime]:
        household, row_id = key
        row = repository.find(conn, self._household, row_id)
        if household != self._household or row is None:
            raise NotFoundError(f"household {self._household!r} has no message row {row_id!r}")
        return self._understanding.load(conn, row_id), row.created_at


def first_in_chat(conn: Connection, key: Key, now: datetime) -> Key | None:
    """Return the first message of a row's chat that waits for tier 2 or is being understood.

    Args:
        key: Household and id of a row of that chat.
        now: Aware; what is not due by then is not waited for, except that row itself.
    """
    household, row_id = key
    row = conn.execute(
        _FIRST_IN_CHAT, {"of_household": household, "of_id": row_id, "now": now}
    ).first()
    return None if row is None else (row.household, row.id)
