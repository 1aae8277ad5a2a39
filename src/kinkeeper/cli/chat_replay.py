"""Replays chat messages through the observer on a virtual clock and writes its decisions, line by line."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from kinkeeper.actions.proposals import expire_due
from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.models import models_opened, reads_talk
from kinkeeper.cli.chat_lines import BadLine, ChatLine
from kinkeeper.cli.chats import read_any_chat
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import instant_of, opened
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import ConflictError, DeniedError, UnavailableError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.household.senders import resolve_sender
from kinkeeper.messaging import inbox
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.replay import Replay
from kinkeeper.observer.speaker import REPLAY
from kinkeeper.reading.batch import SILENCE
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.runner_lock import runner_lock

REFUSED = (ConflictError, DeniedError)


def replay_chat(
    where: Where,
    lines: Iterable[bytes],
    *,
    until: str | None,
    into: str | None,
    with_model: bool,
) -> int:
    """Replay a chat and write its decisions; returns how many lines were bad.

    Without `into` and without a database named in `where`, it runs in a scratch database that is deleted afterwards.

    Args:
        where: Household and database.
        lines: The chat.
        until: Time at which the virtual clock stops; at the last message where None.
        into: Address of a database to add the replayed chat to, even one in live use.
        with_model: Whether the model of the settings reads the talk, too.

    Raises:
        UnavailableError: There is no model, and one is to read.
        InputError: `until` is not a time.
        ConflictError: The database named in `where` is in live use.
        KinkeeperError: The household or its database cannot be used.
    """
    start, inputs = _peek(read_any_chat(lines))
    with _target(where, into) as target, opened(target, now=start) as system, _turn(system):
        _require_replays_only(system, is_meant=into is not None)
        end = instant_of(until, system.household) if until else None
        return asyncio.run(_replay(system, inputs, until=end, with_model=with_model))


async def _replay(
    system: System,
    inputs: Iterable[ChatLine | BadLine],
    *,
    until: datetime | None,
    with_model: bool,
) -> int:
    if not with_model:
        return await write_all(decisions(system, inputs, until=until))
    household = system.household
    async with models_opened(
        system.settings,
        store=system.store,
        clock=SystemClock(),
        zones={household.id: household.zone},
    ) as gateway:
        if gateway is None or not reads_talk(system.settings):
            raise UnavailableError(
                "no model reads talk; set MODEL_URL or MODEL_GGUF, and READER=auto"
            )
        return await write_all(decisions(system, inputs, until=until, gateway=gateway))


@contextmanager
def _target(where: Where, into: str | None) -> Iterator[Where]:
    """Yield where to replay, and say on stderr what that changes."""
    if into is not None:
        notice(f"replaying into {into}: messages, decisions and cards are added; nothing is sent")
        yield replace(where, db=into)
    elif where.db is not None:
        yield where
    else:
        with tempfile.TemporaryDirectory(prefix="kinkeeper-replay-") as folder:
            notice("replaying in a scratch database; use --into FILE to keep the result")
            yield replace(where, db=str(Path(folder) / "replay.sqlite"))


def _require_replays_only(system: System, *, is_meant: bool) -> None:
    """Refuse to mix replayed days into a database in live use, unless the person named it for that."""
    household = system.household.id
    if not is_meant and system.store.read_now(
        lambda conn: inbox.has_arrived(conn, household, except_by=REPLAY)
    ):
        raise ConflictError("this database is in live use; use --into to add a replayed chat to it")


async def decisions(
    system: System,
    inputs: Iterable[ChatLine | BadLine],
    *,
    until: datetime | None = None,
    gateway: ModelGateway | None = None,
) -> AsyncIterator[dict[str, Any]]:
    """Replay messages on a clock that begins with the first, and yield the output lines.

    Args:
        system: Open; the caller holds its database for itself.
        inputs: Messages and bad lines, taken one by one.
        until: Aware; the clock runs on to it at the end.
        gateway: The way to the model that reads the talk, where one is to; the clock then runs on to the end of its last stretch.
    """
    replay: Replay | None = None
    end = until
    for line in inputs:
        if isinstance(line, BadLine):
            yield line.record()
            continue
        message = line.placed(system.household)
        replay = replay or system.replay(message.sent_at, gateway=gateway)
        end = max(end or message.sent_at, message.sent_at)
        warning = guest_warning(system.household, message)
        if warning is not None:
            notice(f"line {line.number}: {warning}")
        try:
            async for record in replay.feed(message):
                yield with_warning(record, message, warning)
        except REFUSED as error:
            yield BadLine(number=line.number, error=str(error)).record()
    if gateway is not None and end is not None:
        until = end = max(until or end, end + SILENCE)
    if until is not None:
        async for record in (replay or system.replay(until)).run_until(until):
            yield record
    if end is not None:
        stopped = end
        await system.store.write(lambda conn: expire_due(conn, system.household.id, stopped))


async def write_all(records: AsyncIterator[Mapping[str, Any]]) -> int:
    """Write output lines as they come; returns how many were of bad input."""
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
        notice(f"waiting for {who}, which is using this database")

    with runner_lock(str(system.store.url.database), on_wait=waiting):
        yield


def guest_warning(household: Household, message: InboundMessage) -> str | None:
    """Return the warning about a sender whom the household does not know."""
    if resolve_sender(household, message.sender) is not None:
        return None
    return f"sender {message.sender!r} does not match exactly one member of the household; treated as a guest"


def with_warning(
    record: Mapping[str, Any], message: InboundMessage, warning: str | None
) -> dict[str, Any]:
    """Return an output line, with the warning if it is the message's own."""
    is_own = "event" not in record and record["message_id"] == message.message_id
    return {**record, "warning": warning} if warning and is_own else dict(record)
