"""Replays chat messages through the observer on a virtual clock."""

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any

from kinkeeper.actions.proposals import expire_due
from kinkeeper.bootstrap import System
from kinkeeper.cli.chat_lines import BadLine, ChatLine
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import ConflictError, DeniedError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household
from kinkeeper.household.senders import resolve_sender
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.replay import Replay
from kinkeeper.reading.batch import SILENCE

REFUSED = (ConflictError, DeniedError)


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
