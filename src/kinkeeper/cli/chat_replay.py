"""Replays chat messages through the observer on a virtual clock, the sample family's days among them."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.proposals import expire_due
from kinkeeper.bootstrap import System, open_system
from kinkeeper.cli.chat_files import BadLine, ChatLine, read_any_chat
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import ConflictError, DeniedError, InvariantError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household, resolve_sender
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.replay import Replay
from kinkeeper.reading.batch import SILENCE
from kinkeeper.settings.model import Settings
from kinkeeper.web.views.welcome import Heard

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


# The days of a sample family, replayed in a temporary database.

SAMPLE = files("kinkeeper.cli").joinpath("sample")
"""Folder with the household file and the chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One row: a message and what became of it, or what time brought.

    Attributes:
        at: Local time.
        line: The decision, as `observe` prints it.
    """

    at: datetime
    message: InboundMessage
    line: Mapping[str, Any]

    @property
    def is_deferred(self) -> bool:
        """Whether it is not the message itself, but what came of it later."""
        return "event" in self.line

    @property
    def decision(self) -> str:
        """DROP, SILENT or SPEAK."""
        return self.line.get("redline_decision") or "DROP"


async def play_sample() -> AsyncIterator[Heard]:
    """Replay the sample family's days in a temporary database, and yield what was made of each message."""
    with (
        tempfile.TemporaryDirectory(prefix="kinkeeper-sample-") as folder,
        as_file(SAMPLE) as sample,
        (sample / "chat.jsonl").open("rb") as chat,
    ):
        inputs = list(read_any_chat(chat))
        opening = open_system(
            Settings(), household_file=sample / "household.toml",
            database=str(Path(folder) / "sample.sqlite"), now=start_of(inputs),
        )  # fmt: skip
        system = await asyncio.to_thread(opening.__enter__)
        try:
            async for row in replayed(system, inputs):
                yield Heard(
                    at=row.at, household=system.household, message=row.message, line=row.line
                )
        finally:
            await asyncio.to_thread(opening.__exit__, None, None, None)


async def replayed(system: System, inputs: Sequence[ChatLine | BadLine]) -> AsyncIterator[Shown]:
    """Replay a chat, and yield a row for each message and for what time brought.

    Args:
        system: Open; its clock begins with the chat.
    """
    household = system.household
    messages = [line.placed(household) for line in inputs if isinstance(line, ChatLine)]
    of_id = {message.message_id: message for message in messages}
    async for line in decisions(system, inputs):
        message = of_id[line["message_id"]]
        at = message.sent_at
        if "event" in line:
            at = await system.store.read(
                lambda conn, about=message.message_id: _settled_at(conn, system, about)  # type: ignore[misc]
            )
        yield Shown(at=at.astimezone(household.zone), message=message, line=line)


def _settled_at(conn: Connection, system: System, message_id: str) -> datetime:
    processed_at: datetime = load_trace(conn, system.household, message_id).row.processed_at
    return processed_at


def start_of(inputs: Sequence[ChatLine | BadLine]) -> datetime:
    """Return when the first message of a chat was sent."""
    first = next((line for line in inputs if isinstance(line, ChatLine)), None)
    if first is None:
        raise InvariantError("the sample chat has no messages")
    return first.message.sent_at
