"""What only the clock makes due: questions whose grace has ended, pending actions that nobody decided on."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

import structlog
from sqlalchemy import Connection, Row, exists, select

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock, ForwardJumps, is_held_until
from kinkeeper.jobs.leases import WorkState
from kinkeeper.observability.failures import count_failure, repeat
from kinkeeper.observer import repository, retention
from kinkeeper.observer.speaker import Speaker
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store.store import Store

log = structlog.get_logger()

_NAME = "observer.upkeep"
_BETWEEN_PURGES = timedelta(days=1)


class Purge(Protocol):
    """Removes the words of what others keep, and tells of how much."""

    def __call__(self, conn: Connection, household: str, *, before: datetime) -> int:
        """Remove words from before then."""
        ...


class Upkeep:
    """Looks after one household's waiting questions and pending actions, on the wall clock.

    Args:
        store: Its database.
        household: Tenant key.
        speaker: Asks late questions.
        clock: Tells what is due.
        keep_texts: Age up to which what people said is kept.
        purges: What else keeps words that people said.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        speaker: Speaker,
        clock: Clock,
        keep_texts: timedelta,
        purges: Sequence[Purge] = (),
    ) -> None:
        self._store = store
        self._household = household
        self._speaker = speaker
        self._clock = clock
        self._keep_texts = keep_texts
        self._purges = purges
        self._next_purge = clock.now()
        self._jumps = ForwardJumps()

    async def run(self, every: timedelta) -> None:
        """Do what is due, again and again, until cancelled.

        Args:
            every: Wait in between, > 0.
        """
        rest = partial(asyncio.sleep, every.total_seconds())
        await repeat(self.run_once, rest, name=_NAME)

    async def run_once(self) -> int:
        """Do what is due by now; returns how many questions were asked aloud."""
        now = self._clock.now()
        questions, is_expiring = await self._store.read(lambda conn: self._due(conn, now))
        if is_expiring:
            await self._store.write(lambda conn: proposals.expire_due(conn, self._household, now))
        asked = sum([await self._ask(row_id, now) for row_id in questions])
        is_early = is_held_until(self._next_purge, now, _BETWEEN_PURGES)
        if not self._jumps.is_recent(now) and not is_early:
            await self._purge(now)
        return asked

    async def _purge(self, now: datetime) -> None:
        purged = await self._store.write(lambda conn: self._purge_all(conn, now))
        if purged:
            log.info("observer.texts.purged", messages=purged)
        # Also where no message lost its text now: other words may have gone, or the log was in use last time.
        try:
            await asyncio.to_thread(self._store.fold_log)
        except UnavailableError:
            log.info("observer.log.in_use")  # by a reader: the next round purges and tries again
        else:
            self._next_purge = now + _BETWEEN_PURGES

    def _purge_all(self, conn: Connection, now: datetime) -> int:
        purged = retention.purge(conn, self._household, now=now, keep=self._keep_texts)
        before = now - self._keep_texts
        return purged + sum(purge(conn, self._household, before=before) for purge in self._purges)

    def _due(self, conn: Connection, now: datetime) -> tuple[Sequence[str], bool]:
        questions = [row.id for row in due_questions(conn, self._household, now=now)]
        expiry = action_rows.next_expiry(conn, self._household)
        return questions, expiry is not None and expiry <= now

    async def _ask(self, row_id: str, now: datetime) -> bool:
        try:
            return await self._store.write(lambda conn: self._ask_if_due(conn, row_id, now))
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad row must not keep all other questions waiting
            count_failure(_NAME, error, row=row_id)
            await self._store.write(
                lambda conn: repository.cancel_deferred(
                    conn, self._household, row_id, reason="failed"
                )
            )
            return False

    def _ask_if_due(self, conn: Connection, row_id: str, now: datetime) -> bool:
        rows = due_questions(conn, self._household, now=now)
        row = next((each for each in rows if each.id == row_id), None)
        return row is not None and self._speaker.ask_late(conn, row, now=now) is not None


def due_questions(conn: Connection, household: str, *, now: datetime) -> Sequence[Row[Any]]:
    """Return the messages whose question is to be asked by now, the earliest first.

    A chat in which messages still wait to be understood is left out: one of them may be the answer.

    Args:
        conn: Any transaction.
        household: Tenant key.
        now: Aware.
    """
    table, waiting = observer_messages, observer_messages.alias("waiting")
    answer_may_wait = exists().where(
        waiting.c.household == table.c.household,
        waiting.c.chat_id == table.c.chat_id,
        waiting.c.state.in_([WorkState.QUEUED.value, WorkState.RUNNING.value]),
        waiting.c.due_at <= now,
    )
    return conn.execute(
        select(table)
        .where(
            table.c.household == household,
            table.c.speak_at.is_not(None),
            table.c.speak_at <= now,
            ~answer_may_wait,
        )
        .order_by(table.c.speak_at, table.c.id)
    ).all()
