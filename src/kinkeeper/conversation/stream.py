"""What a turn tells while it is under way: collected, and written in pieces so that a row is not a syllable."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial

from sqlalchemy import Connection

from kinkeeper.actions.payload import plain
from kinkeeper.actions.requests.model import Card
from kinkeeper.conversation import events
from kinkeeper.conversation.events import Told
from kinkeeper.conversation.model import Answer, EventName
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.told_audience import replies_to
from kinkeeper.conversation.turn import Turn, card_record
from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import LeaseLostError
from kinkeeper.observability.failures import surviving
from kinkeeper.store.store import Store

_GATHERED = timedelta(milliseconds=100)


class TurnStream:
    """Tells of one turn under one claim.

    Args:
        gathered: How long what is told may wait for more before it is written.
    """

    def __init__(
        self, store: Store, turn: Turn, epoch: int, *, clock: Clock, gathered: timedelta = _GATHERED
    ) -> None:
        self._store = store
        self._turn = turn
        self._epoch = epoch
        self._clock = clock
        self._gathered = gathered.total_seconds()
        self._waiting: list[Told] = []
        self._writing = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None

    def status(self, stage: str, text: str, **more: object) -> None:
        """Tell what is being done."""
        self._tell((EventName.STATUS, {"stage": stage, "text": text, **more}))

    def token(self, text: str) -> None:
        """Tell a piece of the answer; it joins a piece that is not written yet."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last[0] is EventName.TOKEN:
            self._waiting[-1] = (EventName.TOKEN, {"text": last[1]["text"] + text})
            return
        self._tell((EventName.TOKEN, {"text": text}))

    def card(self, card: Card) -> None:
        """Show a result."""
        self._tell((EventName.CARD, card_record(card)))

    def confirm(self, action: dict[str, object], message: str) -> None:
        """Show what awaits a yes."""
        self._tell((EventName.CONFIRM, {"action": action, "message": message}))

    def done(self, answer: Answer) -> None:
        """Tell that the turn is answered, and how."""
        data = {
            "turn_id": self._turn.id,
            "trace_id": self._turn.id,
            "mode": answer.mode.value,
            "text": answer.text,
            "used": plain(answer.used),
            "replies": replies_to(answer.text),
        }
        self._tell((EventName.DONE, data))

    def failed(self, stage: str, message: str) -> None:
        """Tell that the turn broke down; saying the same again takes it up again."""
        self._tell((EventName.ERROR, {"stage": stage, "message": message, "retry": True}))

    async def flush(self) -> None:
        """Write what was told so far.

        Raises:
            LeaseLostError: Somebody else has taken the turn; nothing was written.
        """
        async with self.closing() as tell:
            await self._store.write(partial(self._write_alone, tell))

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[Callable[[Connection], None]]:
        """Yield what writes all that was told; nothing is told twice.

        It is for one transaction within the block, which also makes sure that the claim still stands.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        async with self._writing:
            told, self._waiting = self._waiting, []
            try:
                yield partial(self._write, told)
            except BaseException:
                self._waiting = told + self._waiting
                raise

    @asynccontextmanager
    async def telling_if_long(
        self, stage: str, text: str, *, after: timedelta
    ) -> AsyncIterator[None]:
        """Tell what is being done if the block takes longer than some time."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(after.total_seconds(), self.status, stage, text)
        try:
            yield
        finally:
            timer.cancel()

    def _tell(self, told: Told) -> None:
        self._waiting.append(told)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._gathered, self._flush_soon)

    def _flush_soon(self) -> None:
        self._timer = None
        self._flushing = asyncio.get_running_loop().create_task(self._flush_alone())

    async def _flush_alone(self) -> None:
        """Write what waits; where that cannot be done now, it stays for the next time."""
        with surviving("conversation.stream"), suppress(LeaseLostError):
            await self.flush()

    def _write_alone(self, tell: Callable[[Connection], None], conn: Connection) -> None:
        if not leases.hold(conn, turns, self._turn.key, self._epoch):
            raise LeaseLostError(f"turn {self._turn.id!r} was taken over by another worker")
        tell(conn)

    def _write(self, told: list[Told], conn: Connection) -> None:
        turn = self._turn
        events.append(
            conn, turn.household, turn.thread_id, told, turn_id=turn.id, at=self._clock.now()
        )
