"""What outlasts anybody's patience: turns that wait for slow tools behind the talk, and their rows."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.outside.work_claims import settled
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.request_runner import result_of
from kinkeeper.conversation.stages import Limits, StoppedError, StopSignal
from kinkeeper.conversation.stream import TurnStream
from kinkeeper.conversation.tables import tool_cycles, tool_runs, turns
from kinkeeper.conversation.turn import Turn, TurnOutcome, result_record
from kinkeeper.conversation.turns import claim_next
from kinkeeper.core.time import Clock
from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import LeaseLostError
from kinkeeper.observability.failures import surviving
from kinkeeper.store.store import Store

# Turns that wait for slow tools, as rows: begun, kept alive, put behind the talk, ended.
#
# What was said and what came of it are the turn's; these rows tell how it went, without a word of
# it.

TYPE = "tool_work"
RUNNING = "running"
_cycles = tool_cycles.c


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleHead:
    """What a turn was when it began to wait.

    Attributes:
        topic: Id of what it is about; "" where nothing.
        intent: What it is by its form; "" where it was not routed.
        warmth: How much is known about it, in [0, 1].
        hints: Requests that triage named.
    """

    topic: str = ""
    intent: str = ""
    warmth: float = 0.0
    hints: Sequence[str] = ()


def begin(
    conn: Connection, turn: Turn, epoch: int, head: CycleHead, *, now: datetime, until: datetime
) -> datetime:
    """Note that a turn waits for slow tools, under a lease that has to be renewed from now on.

    Args:
        epoch: Of the claim it is worked on under.
        until: When the lease runs out unless it is renewed, aware.

    Returns:
        When that began: before a crash, where it is taken up again.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    renew(conn, turn, epoch, until=until)
    known = conn.execute(select(_cycles.at, _cycles.state).where(*_of(turn))).first()
    if known is not None and known.state == RUNNING:
        resumed = update(tool_cycles).where(*_of(turn)).values(resumed=_cycles.resumed + 1)
        conn.execute(resumed)
        began: datetime = known.at
        return began
    conn.execute(delete(tool_cycles).where(*_of(turn)))
    conn.execute(
        insert(tool_cycles).values(
            household=turn.household,
            turn=turn.id,
            type=TYPE,
            source=turn.channel,
            topic=head.topic,
            intent=head.intent,
            warmth=head.warmth,
            hints=list(head.hints),
            state=RUNNING,
            at=now,
        )
    )
    return now


def renew(conn: Connection, turn: Turn, epoch: int, *, until: datetime) -> None:
    """Keep a turn's claim alive.

    Args:
        until: When it runs out unless it is renewed again, aware.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    if not leases.renew(conn, turns, turn.key, epoch, until=until):
        raise LeaseLostError(f"turn {turn.id!r} was taken over by another worker")


def step_aside(
    conn: Connection, turn: Turn, epoch: int, *, now: datetime
) -> tuple[str, int] | None:
    """Put a turn behind the talk: those after it in its thread need not wait for it.

    Returns:
        The thread's next turn, claimed; None where there is none.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    if not leases.hold(conn, turns, turn.key, epoch):
        raise LeaseLostError(f"turn {turn.id!r} was taken over by another worker")
    conn.execute(update(turns).where(*_row(turn)).values(aside=1))
    return claim_next(conn, turn.household, turn.thread_id, now=now)


def note_run(
    conn: Connection,
    turn: Turn,
    epoch: int,
    results: Sequence[ActionResult],
    *,
    ms: float,
    now: datetime,
) -> None:
    """Keep what a turn has done so far: who takes it up after a crash does none of it again.

    Args:
        results: Of all requests so far; the last one is new.
        ms: How long that one took.

    Raises:
        LeaseLostError: Somebody else has taken the turn.
    """
    if not leases.hold(conn, turns, turn.key, epoch):
        raise LeaseLostError(f"turn {turn.id!r} was taken over by another worker")
    so_far = [result_record(each) for each in results]
    conn.execute(update(turns).where(*_row(turn)).values(results=so_far))
    number, last = len(results) - 1, results[-1]
    runs = tool_runs.c
    conn.execute(
        delete(tool_runs).where(
            runs.household == turn.household, runs.turn == turn.id, runs.number == number
        )
    )
    conn.execute(
        insert(tool_runs).values(
            household=turn.household,
            turn=turn.id,
            number=number,
            request=f"{last.domain}.{last.action}",
            status=last.status.value,
            ms=ms,
            at=now,
        )
    )


def end(conn: Connection, turn: Turn, outcome: TurnOutcome, *, now: datetime) -> None:
    """Note what a turn that waited for slow tools came to."""
    conn.execute(update(tool_cycles).where(*_of(turn)).values(state=outcome.value, finished_at=now))


def _of(turn: Turn) -> tuple[ColumnElement[bool], ...]:
    return (_cycles.household == turn.household, _cycles.turn == turn.id)


def _row(turn: Turn) -> tuple[ColumnElement[bool], ...]:
    return (turns.c.household == turn.household, turns.c.id == turn.id)


_LEASE_BEATS = 4  # that may be missed before another process takes the turn up
_WAITING = "Waiting for an answer…"
GoesOn = Callable[[Connection, Turn, str], None]
"""Tells on a channel without a stream that a turn goes on behind the talk, in the transaction that puts it there."""

_GO_ON = "This will take a while. Carry on, and I'll tell you when it's done."


class ToolWork:
    """The slow part of one turn, if it has one.

    Args:
        store: The household's database.
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
            lambda conn: begin(
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
            lambda conn: note_run(conn, self._turn, self._epoch, results, ms=ms, now=now)
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
            lambda conn: renew(conn, self._turn, self._epoch, until=self._until())
        )

    async def _step_aside(self) -> None:
        text = f"{self._doing} {_GO_ON}" if self._doing is not None else _GO_ON

        def write(conn: Connection) -> tuple[str, int] | None:
            following = step_aside(conn, self._turn, self._epoch, now=self._clock.now())
            if self._goes_on is not None:
                self._goes_on(conn, self._turn, text)
            return following

        following = await self._store.write(write)
        self.is_aside = True
        self._stream.status("aside", text)
        if following is not None:
            self._follow(following)
