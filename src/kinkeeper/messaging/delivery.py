"""Delivers the outbox: lanes in order, one message at a time, and what became of each.

A message cannot be sent exactly once: it is marked, committed, handed to the channel, and what became of
it recorded. What was marked when the process died, or came back with an error that does not say, may
have gone out: `lanes.lose` tells what follows.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

import structlog
from sqlalchemy import ColumnElement, Connection, and_, func, select, update

from kinkeeper.core.errors import KinkeeperError, UnavailableError
from kinkeeper.core.time import A_DAY, Clock, is_held_until
from kinkeeper.jobs.runners import WORK_LEFT, is_dead
from kinkeeper.messaging.addresses import private_chat_of, record_move
from kinkeeper.messaging.outbound import (
    Channel,
    ChatMovedError,
    Delivered,
    NotSentError,
    OutboundKind,
    OutboundState,
    OutgoingItem,
    PressButton,
    QuietHours,
    RefusedError,
    Route,
    StoredOutbound,
    TooManyError,
    stored,
)
from kinkeeper.messaging.outbox import TOPIC, load
from kinkeeper.messaging.tables import outbox
from kinkeeper.observability.failures import surviving
from kinkeeper.store.commits import CommitWatch, touch
from kinkeeper.store.locks import runner_of
from kinkeeper.store.store import Store

# The outbox as whoever delivers sees it: rows in order, taken one at a time, and what became of
# each.
#
# A lane is what keeps its order: the messages of a chat; the answers to presses in it are another
# lane. Every step finds the row as it was taken or changes nothing, so who comes back late does no
# harm.

REPEATED = " (sent again)"
TOO_LATE = "too late to be useful"
OVERTAKEN = "a newer change to the same message replaced it"
NEVER_SENT = "the message it changes was never sent"
LEFT_BEHIND = "the message it changes was sent before the chat changed its id"

_columns = outbox.c
_OPEN = (OutboundState.QUEUED.value, OutboundState.SENDING.value)
_NOTICE = OutboundKind.NOTICE.value
# An edit or an answer to a press does no harm twice; after this often it is a fault of the channel.
_MOST_UNKNOWNS = 5

Mint = Callable[[Connection, StoredOutbound, datetime], tuple[PressButton, ...]]
"""Makes what the buttons of a row give back when pressed; leaves out those that would do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """What is delivered in order.

    Attributes:
        is_notices: Whether it holds the answers to presses rather than the messages.
    """

    channel: str
    chat_id: str
    is_notices: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A row handed to its channel.

    Attributes:
        row: As it stands now.
    """

    row: StoredOutbound
    item: OutgoingItem


def open_lanes(conn: Connection, household: str, channels: Collection[str]) -> Sequence[Lane]:
    """Return the lanes of these channels in which something waits, or is being sent."""
    is_notice = (_columns.kind == _NOTICE).label("is_notice")
    rows = conn.execute(
        select(_columns.channel, _columns.chat_id, is_notice)
        .where(
            _columns.household == household,
            _columns.state.in_(_OPEN),
            _columns.channel.in_(channels),
        )
        .group_by(_columns.channel, _columns.chat_id, is_notice)
        .order_by(func.min(_columns.id))
    )
    return [
        Lane(channel=row.channel, chat_id=row.chat_id, is_notices=bool(row.is_notice))
        for row in rows
    ]


def take_next(
    conn: Connection, household: str, lane: Lane, *, mint: Mint, now: datetime, lease: timedelta
) -> Taken | datetime | None:
    """Take the first row of a lane, after clearing away what is not to be sent any more.

    Args:
        conn: In a write transaction, to be committed before the channel is called.
        lease: Longest time a call of the channel may take; afterwards the row counts as lost, as it does once
            its process is known to be dead.

    Returns:
        The row taken; or when to look again; or None where the lane is empty.
    """
    while (row := _first(conn, household, lane)) is not None:
        if row.state is OutboundState.SENDING:
            until = row.lease_until
            if until is not None and _waits_until(until, now) and not _is_abandoned(conn, row):
                return until
            lose(conn, row, error="its delivery was interrupted", now=now)
            continue
        reason = _why_drop(conn, row, now)
        if reason is not None:
            _set(conn, row, state=OutboundState.DROPPED, error=reason)
            continue
        if row.not_before is not None and _waits_until(row.not_before, now):
            return row.not_before
        return _take(conn, row, mint, now=now, lease=lease)
    return None


def _waits_until(until: datetime, now: datetime) -> bool:
    return is_held_until(until, now, A_DAY)


def _is_abandoned(conn: Connection, row: StoredOutbound) -> bool:
    """Whether the process that was sending a row is known to be dead."""
    return bool(conn.execute(select(is_dead(_columns.runner)).where(_is(row))).scalar())


def _is(row: StoredOutbound) -> ColumnElement[bool]:
    return and_(_columns.household == row.household, _columns.id == row.id)


def end_leases(conn: Connection, household: str, *, now: datetime) -> int:
    """Let everything that is being sent count as lost: for the one process that knows that it is alone."""
    mine = and_(_columns.household == household, _columns.state == OutboundState.SENDING.value)
    return conn.execute(update(outbox).where(mine).values(lease_until=now)).rowcount


def is_any_late(conn: Connection, household: str, *, now: datetime) -> bool:
    """Whether something waits beyond its time."""
    return (
        conn.execute(select(_columns.id).where(_late(household, now)).limit(1)).first() is not None
    )


def drop_late(conn: Connection, household: str, *, now: datetime) -> int:
    """Drop what waits beyond its time, whatever the channel: also where none of it runs here."""
    values = {"state": OutboundState.DROPPED.value, "error": TOO_LATE}
    return conn.execute(update(outbox).where(_late(household, now)).values(values)).rowcount


def sent(conn: Connection, row: StoredOutbound, delivered: Delivered, *, now: datetime) -> None:
    """Record that a row went out."""
    _set(
        conn,
        row,
        state=OutboundState.SENT,
        error=None,
        sent_at=now,
        channel_message_id=delivered.channel_message_id,
        ephemeral_id=delivered.ephemeral_id,
    )


def put_back(conn: Connection, row: StoredOutbound, *, error: str, until: datetime) -> None:
    """Queue a row again that surely did not go out."""
    _set(conn, row, state=OutboundState.QUEUED, error=error, not_before=until)


def lose(conn: Connection, row: StoredOutbound, *, error: str, now: datetime) -> None:
    """Record that nobody can tell whether a row went out.

    What nobody asked for is left at that. An awaited message is sent once more, and says so. An edit or
    an answer to a press does the same thing twice, so it is tried again.
    """
    unknowns = row.unknowns + 1
    if row.message.kind is OutboundKind.SEND:
        is_over = row.message.is_unprompted or row.unknowns > 0
        end = OutboundState.UNKNOWN
    else:
        is_over, end = unknowns >= _MOST_UNKNOWNS, OutboundState.FAILED
    state = end if is_over else OutboundState.QUEUED
    _set(conn, row, state=state, error=error, unknowns=unknowns, not_before=now)


def refuse(conn: Connection, row: StoredOutbound, *, error: str) -> None:
    """Record that a channel will never deliver a row this way; one for a member alone tries the next way.

    Within the group, then in private; where neither works it stays failed, and the pages show it.
    """
    if row.message.kind is OutboundKind.NOTICE:
        _set(conn, row, state=OutboundState.DROPPED, error=error)
        return
    private = _private_chat(conn, row)
    if private is None:
        _set(conn, row, state=OutboundState.FAILED, error=error)
        return
    way = {"chat_id": private, "route": Route.PRIVATE.value, "reply_to": None}
    _set(conn, row, state=OutboundState.QUEUED, error=error, not_before=None, **way)
    _follow(conn, row, way)


def move(conn: Connection, row: StoredOutbound, new_chat_id: str, *, now: datetime) -> None:
    """Send a row, and everything else that waits for its chat, to the chat's new id from now on."""
    message = row.message
    leads_on = record_move(
        conn, row.household, message.channel, old=message.chat_id, new=new_chat_id, now=now
    )
    if not leads_on:
        _set(conn, row, state=OutboundState.FAILED, error="the new ids of the chat form a loop")
        return
    _set(conn, row, state=OutboundState.QUEUED, error="the chat has a new id", not_before=None)
    waiting = and_(
        _columns.household == row.household,
        _columns.channel == message.channel,
        _columns.chat_id == message.chat_id,
        _columns.state == OutboundState.QUEUED.value,
    )
    # The new chat does not know the old one's message ids.
    conn.execute(update(outbox).where(waiting).values(chat_id=new_chat_id, reply_to=None))
    touch(conn, TOPIC, row.household)


def _late(household: str, now: datetime) -> ColumnElement[bool]:
    return and_(
        _columns.household == household,
        _columns.state == OutboundState.QUEUED.value,
        _columns.deliver_by <= now,
    )


def _first(conn: Connection, household: str, lane: Lane) -> StoredOutbound | None:
    is_notice = _columns.kind == _NOTICE
    row = (
        conn.execute(
            select(outbox)
            .where(
                _columns.household == household,
                _columns.state.in_(_OPEN),
                _columns.channel == lane.channel,
                _columns.chat_id == lane.chat_id,
                is_notice if lane.is_notices else ~is_notice,
            )
            .order_by(_columns.id)
            .limit(1)
        )
        .mappings()
        .first()
    )
    return None if row is None else stored(row)


def _why_drop(conn: Connection, row: StoredOutbound, now: datetime) -> str | None:
    deliver_by = row.message.deliver_by
    if deliver_by is not None and deliver_by <= now:
        return TOO_LATE
    if row.message.kind is not OutboundKind.EDIT:
        return None
    target = _target(conn, row)
    if target is None or not target.has_arrived:
        return NEVER_SENT
    if target.message.chat_id != row.message.chat_id:
        return LEFT_BEHIND
    newer = select(_columns.id).where(
        _columns.household == row.household,
        _columns.edits == row.message.edits,
        _columns.id > row.id,
        _columns.state != OutboundState.DROPPED.value,
    )
    return OVERTAKEN if conn.execute(newer.limit(1)).first() is not None else None


def _take(
    conn: Connection, row: StoredOutbound, mint: Mint, *, now: datetime, lease: timedelta
) -> Taken:
    taken = _set(
        conn,
        row,
        state=OutboundState.SENDING,
        attempts=row.attempts + 1,
        lease_until=now + lease,
        not_before=None,
        runner=runner_of(conn),
    )
    message, target = taken.message, _target(conn, taken)
    body = message.body + (REPEATED if _is_repeat(taken) else "")
    item = OutgoingItem(
        id=taken.id,
        kind=message.kind,
        chat_id=message.chat_id,
        route=taken.route,
        audience=message.audience,
        body=body,
        buttons=mint(conn, taken, now),
        reply_to=message.reply_to,
        target=_held(target),
        answer_to=message.answer_to,
        is_soundless=message.is_soundless,
    )
    return Taken(row=taken, item=item)


def _held(target: StoredOutbound | None) -> Delivered | None:
    if target is None:
        return None
    return Delivered(channel_message_id=target.channel_message_id, ephemeral_id=target.ephemeral_id)


def _is_repeat(row: StoredOutbound) -> bool:
    return row.message.kind is OutboundKind.SEND and row.unknowns > 0


def _target(conn: Connection, row: StoredOutbound) -> StoredOutbound | None:
    edits = row.message.edits
    return None if edits is None else load(conn, row.household, edits)


def _private_chat(conn: Connection, row: StoredOutbound) -> str | None:
    audience = row.message.audience
    if audience is None or row.route is not Route.MEMBER or row.message.kind is OutboundKind.EDIT:
        return None
    return private_chat_of(conn, row.household, row.message.channel, audience)


def _follow(conn: Connection, row: StoredOutbound, way: dict[str, Any]) -> None:
    """Let waiting edits of a message go where it goes."""
    edits: ColumnElement[bool] = and_(
        _columns.household == row.household,
        _columns.edits == row.id,
        _columns.state == OutboundState.QUEUED.value,
    )
    conn.execute(update(outbox).where(edits).values(way))
    touch(conn, TOPIC, row.household)


def _set(
    conn: Connection, row: StoredOutbound, *, state: OutboundState, **values: Any
) -> StoredOutbound:
    """Move a row on if it still stands as it was read; return it as it stands now."""
    unmoved = and_(_is(row), _columns.state == row.state.value, _columns.attempts == row.attempts)
    if state is not OutboundState.SENDING:
        values["lease_until"] = None
    conn.execute(update(outbox).where(unmoved).values(state=state.value, **values))
    touch(conn, TOPIC, row.household)
    return load(conn, row.household, row.id) or row


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
        channels: By their names; rows of other channels are left alone.
        quiet_hours: When nobody's phone should ring, if ever.
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
        await self._store.write(lambda conn: end_leases(conn, self._household, now=now))

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
                open_lanes(conn, self._household, names),
                is_any_late(conn, self._household, now=now),
            )
        )
        if is_late:
            await self._store.write(lambda conn: drop_late(conn, self._household, now=now))
        return found

    async def _step_or_wait(self, lane: Lane) -> Literal[True] | datetime | None:
        with surviving(_NAME):
            return await self._step(lane)
        return self._clock.now() + self._pace.poll_every

    async def _step(self, lane: Lane) -> Literal[True] | datetime | None:
        """Deliver the first row of a lane: True where a channel was called, else when to look again."""
        now = self._clock.now()
        taken = await self._store.write(
            lambda conn: take_next(
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
            return lambda conn: put_back(conn, row, error=reason, until=until)
        except NotSentError as error:
            wait = timedelta(seconds=min(2**row.attempts, _LONGEST_WAIT_SECONDS))
            until, reason = self._clock.now() + wait, _reason(error)
            return lambda conn: put_back(conn, row, error=reason, until=until)
        except RefusedError as error:
            reason = _reason(error)
            log.warning("messaging.delivery.refused", row=row.id, reason=reason)
            return lambda conn: refuse(conn, row, error=reason)
        except ChatMovedError as error:
            new_chat_id, moved_at = error.new_chat_id, self._clock.now()
            return lambda conn: move(conn, row, new_chat_id, now=moved_at)
        except Exception as error:  # noqa: BLE001 - whatever else went wrong: it may have gone out
            reason, lost_at = _reason(error), self._clock.now()
            log.warning("messaging.delivery.unknown", row=row.id, reason=reason)
            return lambda conn: lose(conn, row, error=reason, now=lost_at)
        sent_at = self._clock.now()
        return lambda conn: sent(conn, row, delivered, now=sent_at)

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
