"""Replays messages through both tiers on a virtual clock: the same steps as live, in order, without waiting.

The clock follows `sent_at`. What time brings (a question whose grace ends) happens at its time, between the
messages around it. A message that was interrupted half-way by a kill is finished before the next is taken.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import Connection, Row

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.payload import action_record
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import RowWorker
from kinkeeper.jobs.leases import RetryLadder
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.public_json import (
    action_fields,
    decision_line,
    further_withdrawals,
    withdrawal_line,
)
from kinkeeper.observer.cards.model_amendments import Effect
from kinkeeper.observer.intake import Intake, Received
from kinkeeper.observer.settling.message_reader import Understanding
from kinkeeper.observer.settling.settlement import Settlement
from kinkeeper.observer.speaker import Speaker
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store.store import Store

log = structlog.get_logger()

_LEASE = timedelta(minutes=5)
_NEVER = datetime.max.replace(tzinfo=UTC)
_Found = tuple[Row[Any], dict[str, Any] | None]
_AT_ONCE = RetryLadder(delays=(), attempts=1)


class Replay:
    """One household's observer on a virtual clock. The caller holds the runner lock of the database.

    Args:
        intake: Tier 1, without a queue.
        settlement: Decides about them.
        talk: Has a model read the stretches of talk that are due, where one is to.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        *,
        intake: Intake,
        understanding: Understanding,
        settlement: Settlement,
        speaker: Speaker,
        clock: VirtualClock,
        talk: RowWorker | None = None,
    ) -> None:
        self._store = store
        self._household = household
        self._intake = intake
        self._understanding = understanding
        self._settlement = settlement
        self._speaker = speaker
        self._clock = clock
        self._talk = talk
        # Before these nothing waits; None once nothing does. The first look is owed.
        self._earliest_deferred: datetime | None = datetime.min.replace(tzinfo=UTC)
        self._earliest_expiry: datetime | None = self._earliest_deferred
        self._waiting: Row[Any] | None = None

    async def feed(self, message: InboundMessage) -> AsyncIterator[dict[str, Any]]:
        """Take one message and yield output lines: what time brought first, then the message's own.

        Raises:
            DeniedError: The chat is not this household's; nothing was stored.
            ConflictError: The id is taken by a message with another text.
        """
        async for line in self.run_until(message.sent_at - timedelta(microseconds=1)):
            yield line
        self._clock.advance_to(message.sent_at)
        received, epoch, found = await self._store.write(lambda conn: self._receive(conn, message))
        if received.is_queued:
            await self._understand(received.row_id, epoch)
            found, self._earliest_expiry = await self._store.read(
                lambda conn: (
                    self._row(conn, received.row_id),
                    action_rows.next_expiry(conn, self._household),
                )
            )
        if self._talk:
            self._waiting = await self._store.read(
                lambda conn: repository.next_waiting_stretch(conn, self._household)
            )
        row, action = found
        if row.speak_at is not None and self._earliest_deferred is None:
            self._earliest_deferred = row.speak_at
        elif row.speak_at is not None:
            self._earliest_deferred = min(row.speak_at, self._earliest_deferred)
        yield decision_line(row, action)
        for line in further_withdrawals(row):
            yield line

    async def run_until(self, instant: datetime) -> AsyncIterator[dict[str, Any]]:
        """Let time pass to `instant` and yield a line for what is asked and read on the way."""
        while (due := self._next_due()) is not None and due <= instant:
            if self._talk and self._waiting is not None and due == self._waiting.due_at:
                for read in await self._read_stretch(self._talk, self._waiting):
                    yield read
            elif due == self._earliest_expiry:
                await self._expire(due)
            elif (line := await self._ask_next(instant)) is not None:
                yield line
        self._clock.advance_to(instant)

    def _next_due(self) -> datetime | None:
        stretch = self._waiting.due_at if self._waiting is not None else None
        known = (stretch, self._earliest_expiry, self._earliest_deferred)
        return min((each for each in known if each is not None), default=None)

    async def _read_stretch(self, talk: RowWorker, waiting: Row[Any]) -> list[dict[str, Any]]:
        """Have the model read what is due; returns a line for each card that followed."""
        self._clock.advance_to(waiting.due_at)
        standing = await self._store.read(self._standing)
        await talk.run_once()
        lines, self._waiting, self._earliest_expiry = await self._store.read(
            lambda conn: (
                [
                    *self._read_lines(conn, waiting.first),
                    *self._gone_lines(conn, waiting, standing),
                ],
                repository.next_waiting_stretch(conn, self._household),
                action_rows.next_expiry(conn, self._household),
            )
        )
        return lines

    def _read_lines(self, conn: Connection, first: str) -> Iterator[dict[str, Any]]:
        """Yield what the stretch that begins with a message led to."""
        stretch = repository.find_stretch(conn, (self._household, first))
        for effect in (stretch.effects or ()) if stretch else ():
            row = repository.find(conn, self._household, effect["message"])
            if effect["action"] is None or row is None:
                continue
            if effect["effect"] == Effect.WITHDRAWN:
                yield withdrawal_line(row.message_id, effect["action"])
            else:
                action = action_rows.load_action(conn, self._household, effect["action"])
                yield {
                    "message_id": row.message_id,
                    "event": "read",
                    "effect": effect["effect"],
                    "action": action_fields(action_record(action)),
                }

    def _gone_lines(
        self, conn: Connection, stretch: Row[Any], standing: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        last = repository.find(conn, self._household, stretch.last)
        if last is not None:
            for action_id in self._replaced(conn, standing):
                yield withdrawal_line(last.message_id, action_id)

    def _standing(self, conn: Connection) -> list[str]:
        """Return the ids of what waits for a person."""
        shared = Viewer.of(self._household)
        return [each.id for each in action_rows.open_actions(conn, shared, now=self._clock.now())]

    def _replaced(self, conn: Connection, standing: Sequence[str]) -> list[str]:
        """Return those of these actions that another has taken the place of."""
        actions = (action_rows.load_action(conn, self._household, each) for each in standing)
        return [each.id for each in actions if each.status is ActionStatus.SUPERSEDED]

    async def _expire(self, due: datetime) -> None:
        """Let what nobody decided on run out at its time."""
        self._clock.advance_to(due)

        def expire(conn: Connection) -> datetime | None:
            proposals.expire_due(conn, self._household, due)
            return action_rows.next_expiry(conn, self._household)

        self._earliest_expiry = await self._store.write(expire)

    async def _ask_next(self, instant: datetime) -> dict[str, Any] | None:
        """Ask the question whose grace ends first, if it does by `instant`; return its line if it was asked."""
        row = await self._store.read(
            lambda conn: repository.next_deferred(conn, self._household, until=_NEVER)
        )
        self._earliest_deferred = row.speak_at if row is not None else None
        if row is None or row.speak_at > instant:
            return None
        self._clock.advance_to(row.speak_at)
        spoken = await self._store.write(
            lambda conn: self._speaker.ask_late(conn, row, now=row.speak_at)
        )
        return None if spoken is None else await self._deferred_line(row.id, spoken)

    async def _deferred_line(self, row_id: str, spoken: dict[str, Any]) -> dict[str, Any]:
        row, _ = await self._store.read(lambda conn: self._row(conn, row_id))
        line = decision_line(row, spoken["action"])
        return {"message_id": line["message_id"], "event": "deferred", **line}

    def _receive(
        self, conn: Connection, message: InboundMessage
    ) -> tuple[Received, int | None, _Found]:
        now = self._clock.now()
        received = self._intake.receive(conn, message, now=now)
        epoch = None
        if received.is_queued:
            if received.is_repeat:
                leases.end_leases(conn, observer_messages, now=now)
            epoch = leases.claim(
                conn, observer_messages, (self._household, received.row_id), now=now, lease=_LEASE
            )
        return received, epoch, self._row(conn, received.row_id)

    async def _understand(self, row_id: str, epoch: int | None) -> None:
        if epoch is None:
            return
        try:
            loaded = await self._store.read(lambda conn: self._understanding.load(conn, row_id))
            prepared = await self._understanding.prepare(loaded)
            await self._store.write(
                lambda conn: self._settlement.settle(
                    conn, prepared, epoch=epoch, now=self._clock.now()
                )
            )
        except Exception as error:  # noqa: BLE001 - the boundary of the job: recorded on the row, visible in pending
            await self._hand_over(row_id, epoch, error)

    async def _hand_over(self, row_id: str, epoch: int, error: Exception) -> None:
        """Leave a message that could not be understood to a person."""
        log.error("observer.understanding.failed", row=row_id, error=type(error).__name__)
        await self._store.write(
            lambda conn: leases.fail(
                conn,
                observer_messages,
                (self._household, row_id),
                epoch,
                error=f"{type(error).__name__}",
                now=self._clock.now(),
                ladder=_AT_ONCE,
            )
        )

    def _row(self, conn: Connection, row_id: str) -> _Found:
        row = repository.find(conn, self._household, row_id)
        if row is None:
            raise InvariantError(f"message row {row_id} has no decision")
        action = (
            action_record(action_rows.load_action(conn, self._household, row.action_id))
            if row.action_id
            else None
        )
        return row, action
