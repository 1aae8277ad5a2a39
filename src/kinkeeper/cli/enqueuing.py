"""Takes chat messages in on the wall clock and leaves understanding them to workers."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from sqlalchemy import Connection

from kinkeeper.bootstrap import System, live_intake
from kinkeeper.cli.chat_lines import BadLine, ChatLine
from kinkeeper.cli.chats import read_any_chat
from kinkeeper.cli.located import Where
from kinkeeper.cli.observing import REFUSED, guest_warning, with_warning, write_all
from kinkeeper.cli.opening import opened
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import SystemClock
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.lines import decision_line
from kinkeeper.observer.intake import Intake


def enqueue_chat(where: Where, lines: Iterable[bytes]) -> int:
    """Take a chat in and enqueue what has to be understood; returns how many lines were bad.

    Raises:
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system, live_intake(system, refuses_chats=False) as intake:
        return asyncio.run(write_all(_taken_in(system, intake, read_any_chat(lines))))


async def _taken_in(
    system: System, intake: Intake, inputs: Iterable[ChatLine | BadLine]
) -> AsyncIterator[dict[str, Any]]:
    """Yield what tier 1 decides about each message."""
    for line in inputs:
        if isinstance(line, BadLine):
            yield line.record()
            continue
        message = line.placed(system.household)
        warning = guest_warning(system.household, line.number, message)
        try:
            record = await system.store.write(
                lambda conn, message=message: _take_in(conn, system, intake, message)  # type: ignore[misc]
            )
        except REFUSED as error:
            yield BadLine(number=line.number, error=str(error)).record()
        else:
            yield with_warning(record, message, warning)


def _take_in(
    conn: Connection, system: System, intake: Intake, message: InboundMessage
) -> dict[str, Any]:
    received = intake.receive(conn, message, now=SystemClock().now())
    row = repository.find(conn, system.household.id, received.row_id)
    if row is None:
        raise InvariantError("a message that was just taken in is not there")
    return decision_line(row, None)
