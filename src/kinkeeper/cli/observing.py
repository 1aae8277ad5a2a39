"""Runs chat messages through the observer and writes what it decides, line by line."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.proposals import expire_due
from kinkeeper.bootstrap import System
from kinkeeper.cli.chat_lines import BadLine, ChatLine
from kinkeeper.cli.chats import read_any_chat
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import instant_of, opened
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import ConflictError, DeniedError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.household.senders import resolve_sender
from kinkeeper.jobs.queue import JobQueue
from kinkeeper.observer import repository
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.lines import decision_line
from kinkeeper.observer.replay import Replay
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.runner_lock import runner_lock

_REFUSED = (ConflictError, DeniedError)


def replay_chat(where: Where, lines: Iterable[bytes], until: str | None) -> int:
    """Replay a chat and write its decisions; returns how many lines were bad.

    Raises:
        InputError: `until` is no time.
        KinkeeperError: The household or its database cannot be used.
    """
    start, inputs = _peek(read_any_chat(lines))
    with opened(where, now=start) as system, _turn(system):
        end = instant_of(until, system.household) if until else None
        return asyncio.run(_write(decisions(system, inputs, until=end)))


def enqueue_chat(where: Where, lines: Iterable[bytes]) -> int:
    """Take a chat in and enqueue what has to be understood; returns how many lines were bad.

    Raises:
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system, ExitStack() as held:
        queue = JobQueue(system.store)
        held.callback(queue.close)
        return asyncio.run(_write(_taken_in(system, system.intake(queue), read_any_chat(lines))))


async def decisions(
    system: System, inputs: Iterable[ChatLine | BadLine], *, until: datetime | None = None
) -> AsyncIterator[dict[str, Any]]:
    """Replay messages on a clock that begins with the first, and yield the output lines.

    Args:
        system: Open; the caller holds its database for itself.
        inputs: Messages and bad lines, taken one by one.
        until: Aware; the clock runs on to it at the end.
    """
    replay: Replay | None = None
    end = until
    for line in inputs:
        if isinstance(line, BadLine):
            yield line.record()
            continue
        message = line.placed(system.household)
        replay = replay or system.replay(message.sent_at)
        end = max(end or message.sent_at, message.sent_at)
        warning = _warning(system.household, line.number, message)
        try:
            async for record in replay.feed(message):
                yield _with_warning(record, message, warning)
        except _REFUSED as error:
            yield BadLine(number=line.number, error=str(error)).record()
    if until is not None:
        async for record in (replay or system.replay(until)).run_until(until):
            yield record
    if end is not None:
        stopped = end
        await system.store.write(lambda conn: expire_due(conn, system.household.id, stopped))


async def _taken_in(
    system: System, intake: Intake, inputs: Iterable[ChatLine | BadLine]
) -> AsyncIterator[dict[str, Any]]:
    """Yield what tier 1 decides about each message, on the wall clock."""
    clock = SystemClock()
    for line in inputs:
        if isinstance(line, BadLine):
            yield line.record()
            continue
        message = line.placed(system.household)
        warning = _warning(system.household, line.number, message)

        def take_in(conn: Connection, message: InboundMessage = message) -> dict[str, Any]:
            received = intake.receive(conn, message, now=clock.now())
            row = repository.find(conn, system.household.id, received.row_id)
            assert row is not None
            return decision_line(row, None)

        try:
            record = await system.store.write(take_in)
        except _REFUSED as error:
            yield BadLine(number=line.number, error=str(error)).record()
        else:
            yield _with_warning(record, message, warning)


async def _write(records: AsyncIterator[dict[str, Any]]) -> int:
    bad = 0
    async for record in records:
        bad += "error" in record
        answer_json(record)
    return bad


def _peek(
    inputs: Iterator[ChatLine | BadLine],
) -> tuple[datetime | None, Iterator[ChatLine | BadLine]]:
    """Return when the first message was sent, as far as its line alone tells, and all the lines."""
    read: list[ChatLine | BadLine] = []
    for line in inputs:
        read.append(line)
        if isinstance(line, ChatLine):
            return line.message.sent_at, chain(read, inputs)
    return None, iter(read)


@contextmanager
def _turn(system: System) -> Iterator[None]:
    """Hold the database against a second replay or worker; wait for one that has it."""
    if not is_sqlite(system.store.url):
        yield
        return

    def waiting(holder: int | None) -> None:
        who = "another process" if holder is None else f"process {holder}"
        notice(f"waiting for {who}, which works on this database")

    with runner_lock(str(system.store.url.database), on_wait=waiting):
        yield


def _warning(household: Household, number: int, message: InboundMessage) -> str | None:
    if resolve_sender(household, message.sender) is not None:
        return None
    warning = f"sender {message.sender!r} is not one member of the household; taken in as a guest"
    notice(f"line {number}: {warning}")
    return warning


def _with_warning(
    record: Mapping[str, Any], message: InboundMessage, warning: str | None
) -> dict[str, Any]:
    is_own = "event" not in record and record["message_id"] == message.message_id
    return {**record, "warning": warning} if warning and is_own else dict(record)
