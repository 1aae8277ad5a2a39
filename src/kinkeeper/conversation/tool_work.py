"""What outlasts anybody's patience: a turn that waits for slow tools does so behind the talk, until it can tell the end."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.outside.result_wait import settled
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.request_runner import result_of
from kinkeeper.conversation import cycles
from kinkeeper.conversation.cycles import CycleHead
from kinkeeper.conversation.stages import Limits
from kinkeeper.conversation.stream import TurnStream
from kinkeeper.conversation.turn import Turn
from kinkeeper.conversation.turn_stop import StoppedError, StopSignal
from kinkeeper.core.time import Clock
from kinkeeper.jobs.leases import LeaseLostError
from kinkeeper.observability.failures import surviving
from kinkeeper.store.store import Store

_LEASE_BEATS = 4  # that may be missed before another process takes the turn up
_WAITING = "Waiting for an answer…"
GoesOn = Callable[[Connection, Turn, str], None]
"""Tells on a channel without a stream that a turn goes on behind the talk, in the transaction that puts it there."""

_GO_ON = "This will take a while. Carry on, and I'll tell you when it's done."


class ToolWork:
    """The slow part of one turn, if it has one.

    Args:
        store: The household's database.
        turn: The turn.
        epoch: Of the claim.
        clock: Tells the time.
        limits: How long it may take, and how often the claim is renewed.
        stream: Told what is being done.
        stop: Whether the person said stop.
        follow: Has the thread's next turn worked on, given its id and epoch.
        goes_on: Tells where nobody reads the stream that it takes a while.
    """

    def __init__(
        self,
        store: Store,
        turn: Turn,
        epoch: int,
        *,
        clock: Clock,
        limits: Limits,
        stream: TurnStream,
        stop: StopSignal,
        follow: Callable[[tuple[str, int]], None],
        goes_on: GoesOn | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._goes_on = goes_on
        self._turn = turn
        self._epoch = epoch
        self._stream = stream
        self._stop = stop
        self.head = CycleHead()
        """What the turn is, as far as it is known."""
        self._follow = follow
        self._began: datetime | None = None
        self._doing: str | None = None
        self._tending: asyncio.Task[None] | None = None
        self.is_aside = turn.is_aside
        """Whether the talk goes on without it."""

    @property
    def has_begun(self) -> bool:
        """Whether the turn waits, or waited, for a slow tool."""
        return self._began is not None

    @property
    def left(self) -> timedelta:
        """How long all that it waits for may still take, ≥ 0."""
        if self._began is None:
            return self._limits.tools
        gone = self._clock.now() - self._began
        return max(timedelta(0), self._limits.tools - gone)

    async def begin(self, doing: str) -> None:
        """Begin to wait for a slow tool: from now on the claim is kept alive, and the talk goes on after a while.

        Args:
            doing: What is being done, for people.

        Raises:
            LeaseLostError: Somebody else has taken the turn.
        """
        self._doing = doing
        if self._began is not None:
            return
        now = self._clock.now()
        self._began = await self._store.write(
            lambda conn: cycles.begin(
                conn, self._turn, self._epoch, self.head, now=now, until=self._until()
            )
        )
        self._tending = asyncio.get_running_loop().create_task(self._tend())

    async def ran(self, results: Sequence[ActionResult], *, ms: float) -> None:
        """Keep what came of a request, where the turn waits for slow ones.

        Args:
            results: Of all requests so far; the last one is new.
            ms: How long that one took.

        Raises:
            LeaseLostError: Somebody else has taken the turn.
        """
        self._doing = None
        if self._began is None:
            return
        now = self._clock.now()
        await self._store.write(
            lambda conn: cycles.note_run(conn, self._turn, self._epoch, results, ms=ms, now=now)
        )

    async def settled(self, result: ActionResult) -> ActionResult:
        """Return what came of a request once the server outside has said so: after a little, or behind the talk.

        Args:
            result: Of any request; others than those under way are given back.
        """
        if result.status is not ResultStatus.UNDER_WAY or result.action_id is None:
            return result
        wait = partial(
            settled, self._store, self._turn.household, result.action_id, clock=self._clock
        )
        try:
            with self._stop.breaking_off():
                action = await wait(within=self._limits.outside)
                if action.status is ActionStatus.EXECUTING and self._limits.tools:
                    await self.begin(_WAITING)
                    action = await wait(within=self.left)
        except StoppedError:
            action = await wait(within=timedelta(0))
        self._doing = None
        return result_of(action)

    async def end(self) -> None:
        """End what kept the claim alive."""
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.gather(self._tending, return_exceptions=True)

    def _until(self) -> datetime:
        return self._clock.now() + _LEASE_BEATS * self._limits.beat

    async def _tend(self) -> None:
        """Keep the claim alive, tell that it goes on, and step aside once that has taken long enough."""
        limits, loop = self._limits, asyncio.get_running_loop()
        began, steps_at = loop.time(), loop.time() + limits.in_line.total_seconds()
        while True:
            due = limits.beat.total_seconds()
            if not self.is_aside:
                due = min(due, max(0.0, steps_at - loop.time()))
            await asyncio.sleep(due)
            with surviving("conversation.tool_work") as beat:
                try:
                    await self._renew()
                    if not self.is_aside and loop.time() >= steps_at:
                        await self._step_aside()
                    elif self._doing is not None:
                        so_far = f"{loop.time() - began:.0f} s so far."
                        self._stream.status("tool", f"{self._doing} {so_far}")
                except LeaseLostError:
                    return
            if beat.error is not None:
                steps_at = max(steps_at, loop.time() + limits.beat.total_seconds())

    async def _renew(self) -> None:
        await self._store.write(
            lambda conn: cycles.renew(conn, self._turn, self._epoch, until=self._until())
        )

    async def _step_aside(self) -> None:
        text = f"{self._doing} {_GO_ON}" if self._doing is not None else _GO_ON

        def write(conn: Connection) -> tuple[str, int] | None:
            following = cycles.step_aside(conn, self._turn, self._epoch, now=self._clock.now())
            if self._goes_on is not None:
                self._goes_on(conn, self._turn, text)
            return following

        following = await self._store.write(write)
        self.is_aside = True
        self._stream.status("aside", text)
        if following is not None:
            self._follow(following)
