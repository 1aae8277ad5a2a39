"""Takes chat messages in on the wall clock and leaves understanding them to workers."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from kinkeeper.bootstrap import System, live_intake
from kinkeeper.cli.chat_lines import BadLine, ChatLine
from kinkeeper.cli.chat_replay import REFUSED, guest_warning, with_warning, write_all
from kinkeeper.cli.chats import read_any_chat
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import opened
from kinkeeper.cli.progress import Progress
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import SystemClock
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.lines import decision_line
from kinkeeper.observer.intake import Intake

_AT_ONCE = 128
"""Messages that are made durable together: a sync of the disk costs more than a message."""

_MOST_GUESTS_TOLD = 100


def enqueue_chat(where: Where, lines: Iterable[bytes]) -> int:
    """Take a chat in and enqueue what has to be understood; returns how many lines were bad.

    What is taken in stays so if it is interrupted; the same chat again goes on where it was.

    Raises:
        KinkeeperError: The household or its database cannot be used.
    """
    with opened(where) as system, live_intake(system, refuses_chats=False) as intake:
        enqueuing = _Enqueuing(system, intake)
        try:
            return asyncio.run(write_all(enqueuing.records(read_any_chat(lines))))
        except KeyboardInterrupt:
            notice("stopped; run the same command again to continue; nothing is stored twice")
            raise


class _Enqueuing:
    """Takes a chat in, many messages at once, and tells how far it is.

    Args:
        system: Open.
        intake: Its tier 1.
    """

    def __init__(self, system: System, intake: Intake) -> None:
        self._system = system
        self._intake = intake
        self._progress = Progress("messages stored")
        self._guests: set[str] = set()

    async def records(
        self, inputs: Iterable[ChatLine | BadLine]
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Yield what tier 1 decides about each message, in their order."""
        rest = iter(inputs)
        while batch := [*islice(rest, _AT_ONCE)]:
            # Units of work run in the order in which they are handed to the store.
            for record in await asyncio.gather(*map(self._record, batch)):
                yield record
            self._progress.add(len(batch))
        self._progress.finish()

    async def _record(self, line: ChatLine | BadLine) -> Mapping[str, Any]:
        if isinstance(line, BadLine):
            return line.record()
        household = self._system.household
        message = line.placed(household)
        warning = guest_warning(household, message)
        if warning is not None:
            self._tell(line.number, message.sender, warning)
        try:
            record = await self._system.store.write(
                lambda conn: _take_in(conn, self._system, self._intake, message)
            )
        except REFUSED as error:
            return BadLine(number=line.number, error=str(error)).record()
        return with_warning(record, message, warning)

    def _tell(self, number: int, sender: str, warning: str) -> None:
        """Say once of each sender that nobody knows who it is."""
        if sender not in self._guests and len(self._guests) < _MOST_GUESTS_TOLD:
            self._guests.add(sender)
            notice(f"line {number}: {warning}")


def _take_in(
    conn: Connection, system: System, intake: Intake, message: InboundMessage
) -> dict[str, Any]:
    received = intake.receive(conn, message, now=SystemClock().now())
    row = repository.find(conn, system.household.id, received.row_id)
    if row is None:
        raise InvariantError("a message that was just stored is missing")
    return decision_line(row, None)
