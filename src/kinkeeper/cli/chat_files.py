"""Chat files, read line by line: JSON lines, or a Telegram Desktop export, recognised by its shape."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions.proposals import expire_due
from kinkeeper.bootstrap import System, open_system
from kinkeeper.cli.input import LONGEST_DOCUMENT, too_long
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import ConflictError, DeniedError, InputError, InvariantError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household, resolve_sender
from kinkeeper.messaging.message_json import parse_message, parse_record
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.replay import Replay
from kinkeeper.observer.speaker import REPLAY
from kinkeeper.reading.batch import SILENCE
from kinkeeper.settings.model import Settings
from kinkeeper.web.views.welcome import Heard

# A line of a chat file: it is a message, or tells what is wrong with it. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """A message of an input line.

    Attributes:
        number: 1-based line.
        is_local: Whether `sent_at` came without an offset; then its digits are local time.
        account: The sender's account number, where the file has it beside the name.
    """

    number: int
    message: InboundMessage
    is_local: bool
    account: str | None = None

    def placed(self, household: Household) -> InboundMessage:
        """Return the message as the household understands it: local times, known accounts."""
        message = self.message
        if self.is_local:
            message = replace(message, sent_at=message.sent_at.replace(tzinfo=household.zone))
        if self.account is not None and resolve_sender(household, self.account) is not None:
            message = replace(message, sender=self.account)
        return message


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that is no message.

    Attributes:
        number: 1-based line.
        error: What is wrong and how to mend it.
    """

    number: int
    error: str

    def record(self) -> dict[str, Any]:
        """Return the line that stands in its place in the output."""
        return {"line": self.number, "error": self.error}


def chat_line(number: int, record: Mapping[str, Any]) -> ChatLine:
    """Return the message of a record."""
    message, is_local = parse_message(record, channel=REPLAY)
    return ChatLine(number=number, message=message, is_local=is_local)


# Messages out of a Telegram Desktop export (`result.json` of one chat). Pure.


def is_export(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an export of one chat."""
    return isinstance(record.get("messages"), list) and "id" in record


def export_lines(export: Mapping[str, Any]) -> Iterator[ChatLine | BadLine]:
    """Yield the messages and reactions of an export in the order they were sent.

    What is no message (somebody joined, the title changed) is left out. Lines are counted as
    messages are, from 1.

    Args:
        export: One that `is_export`.
    """
    found: list[tuple[datetime, ChatLine | BadLine]] = []
    latest = datetime.min.replace(tzinfo=UTC)
    for number, message in enumerate(export["messages"], start=1):
        try:
            for line in _lines(number, message, export["id"]):
                latest = line.message.sent_at
                found.append((latest, line))
        except InputError as error:
            found.append((latest, BadLine(number=number, error=str(error))))
    found.sort(key=lambda item: item[0])
    yield from (line for _, line in found)


def _lines(number: int, message: Any, chat_id: Any) -> Iterator[ChatLine]:
    if not isinstance(message, Mapping):
        raise InputError("a message in the export is not an object")
    if message.get("type") != "message":
        return
    sent_at, offset = _times(message)
    common = {"chat_id": chat_id, "message_id": message.get("id")}
    line = chat_line(
        number,
        {
            **common,
            **_sender(message),
            "text": _text(message.get("text", "")),
            "sent_at": sent_at.isoformat(),
            "reply_to": message.get("reply_to_message_id"),
        },
    )
    yield replace(line, account=_account(message))
    for reaction in _mappings(message.get("reactions")):
        for giver in _mappings(reaction.get("recent")):
            yield _reaction(number, common, reaction, giver, offset)


def _reaction(
    number: int,
    common: Mapping[str, Any],
    reaction: Mapping[str, Any],
    giver: Mapping[str, Any],
    offset: timedelta,
) -> ChatLine:
    emoji = _text(reaction.get("emoji", ""))
    given_at = _instant(giver.get("date")) - offset
    line = chat_line(
        number,
        {
            "chat_id": common["chat_id"],
            "message_id": f"{common['message_id']}:{emoji}:{giver.get('from_id')}",
            **_sender(giver),
            "text": emoji,
            "sent_at": given_at.isoformat(),
            "kind": "reaction",
            "target": common["message_id"],
        },
    )
    return replace(line, account=_account(giver))


def _sender(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"sender": record.get("from") or record.get("from_id")}


def _account(record: Mapping[str, Any]) -> str | None:
    account = str(record.get("from_id", "")).removeprefix("user")
    return account if account.isdecimal() else None


def _times(message: Mapping[str, Any]) -> tuple[datetime, timedelta]:
    """Return when a message was sent, and how far the exporting machine's clock was ahead of UTC."""
    local = _instant(message.get("date"))
    seconds = str(message.get("date_unixtime", ""))
    if not seconds.isdecimal() or len(seconds) > len("9999999999"):
        return local, timedelta()
    sent_at = datetime.fromtimestamp(int(seconds), UTC)
    return sent_at, local - sent_at


def _instant(value: Any) -> datetime:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    except ValueError as error:
        raise InputError(f'"date" is {value!r}, which is not a real date and time') from error


def _text(value: Any) -> str:
    """Return a text that may come in pieces (bold, links, mentions)."""
    if isinstance(value, list):
        return "".join(_text(piece) for piece in value)
    if isinstance(value, Mapping):
        return _text(value.get("text", ""))
    return value if isinstance(value, str) else ""


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


# Reads a chat file line by line: JSON lines, or a Telegram Desktop export, recognised by its shape.

_BOM = b"\xef\xbb\xbf"


def read_any_chat(lines: Iterable[bytes]) -> Iterator[ChatLine | BadLine]:
    """Yield a message or an error for each line that is not blank, as soon as it was read.

    A Telegram export is one JSON document: it is read whole, and its messages are counted as lines.
    """
    numbered = _not_blank(lines)
    first = next(numbered, None)
    if first is None:
        return
    if first[1].strip() == b"{":
        yield from _export([first, *_document(numbered)])
        return
    try:
        record = parse_record(first[1])
    except InputError:
        record = {}
    if is_export(record):
        yield from export_lines(record)
        return
    for number, line in chain([first], numbered):
        yield _read(number, line)


def _document(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of one document."""
    size = 0
    for number, line in lines:
        size += len(line)
        if size > LONGEST_DOCUMENT:
            raise too_long("an export")
        yield number, line


def _export(lines: Sequence[tuple[int, bytes]]) -> Iterator[ChatLine | BadLine]:
    """Read one document that spans lines; where it is none, each line by itself."""
    try:
        record = parse_record(b"".join(line for _, line in lines))
    except InputError:
        record = {}
    if is_export(record):
        yield from export_lines(record)
        return
    yield from (_read(number, line) for number, line in lines)


def _not_blank(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, raw in enumerate(lines, start=1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        if line.strip():
            yield number, line


def _read(number: int, raw: bytes) -> ChatLine | BadLine:
    try:
        return chat_line(number, parse_record(raw))
    except InputError as error:
        return BadLine(number=number, error=str(error))


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
            Settings(),
            household_file=sample / "household.toml",
            database=str(Path(folder) / "sample.sqlite"),
            now=start_of(inputs),
        )
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
