"""`kinkeeper observe`: replays a chat file, or stores it for workers."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy import Connection

from kinkeeper.bootstrap import System, live_intake
from kinkeeper.bootstrap.models import models_opened, reads_talk
from kinkeeper.cli.chat_files import (
    REFUSED,
    BadLine,
    ChatLine,
    decisions,
    guest_warning,
    read_any_chat,
    with_warning,
)
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import instant_of, opened
from kinkeeper.cli.terminal import Progress, answer_json, notice
from kinkeeper.core.errors import ConflictError, InvariantError, UnavailableError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import SystemClock
from kinkeeper.messaging import inbox
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.public_json import decision_line
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.speaker import REPLAY
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.locks import runner_lock

_AT_ONCE = 128
"""Messages that are made durable together: a sync of the disk costs more than a message."""

_MOST_GUESTS_TOLD = 100

app = typer.Typer()


@app.command()
@located
def observe(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='Chat as JSON lines; "-" reads stdin.')
    ],
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Let the virtual clock run until this time.")
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Add the result to this database; default is a scratch database."
        ),
    ] = None,
    with_model: Annotated[
        bool, typer.Option("--with-model", help="Also let the configured model read the chat.")
    ] = False,
    enqueue: Annotated[
        bool,
        typer.Option(
            "--enqueue", help="Only store the messages; `kinkeeper worker` reads them later."
        ),
    ] = False,
) -> None:
    """Replay a group chat; prints one decision per line."""
    if enqueue and (until or into or with_model):
        raise typer.BadParameter(
            "--enqueue does not replay the chat; leave out --until, --into and --with-model"
        )
    with lines_of(file) as lines:
        if enqueue:
            bad = _enqueue_chat(where, lines)
        else:
            bad = _replay_chat(where, lines, until=until, into=into, with_model=with_model)
    if bad:
        raise typer.Exit(2)


def _replay_chat(
    where: Where, lines: Iterable[bytes], *, until: str | None, into: str | None, with_model: bool
) -> int:
    """Replay a chat and write its decisions; returns how many lines were bad.

    Without `into` and without a database named in `where`, it runs in a scratch database that is deleted afterwards.

    Args:
        until: Time at which the virtual clock stops; at the last message where None.
        into: Address of a database to add the replayed chat to, even one in live use.
        with_model: Whether the model of the settings reads the talk, too.
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
        return await _write_all(decisions(system, inputs, until=until))
    household = system.household
    async with models_opened(
        system.settings,
        store=system.store,
        clock=SystemClock(),
        zones={household.id: household.zone},
    ) as gateway:
        if gateway is None or not reads_talk(system.settings):
            raise UnavailableError(
                "no model is set up to read the chat; set MODEL_URL or MODEL_GGUF, and READER=auto"
            )
        return await _write_all(decisions(system, inputs, until=until, gateway=gateway))


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


async def _write_all(records: AsyncIterator[Mapping[str, Any]]) -> int:
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


def _enqueue_chat(where: Where, lines: Iterable[bytes]) -> int:
    """Take a chat in and enqueue what has to be understood; returns how many lines were bad.

    What is taken in stays so if it is interrupted; the same chat again goes on where it was.
    """
    with opened(where) as system, live_intake(system, refuses_chats=False) as intake:
        enqueuing = _Enqueuing(system, intake)
        try:
            return asyncio.run(_write_all(enqueuing.records(read_any_chat(lines))))
        except KeyboardInterrupt:
            notice("stopped; run the same command again to continue; nothing is stored twice")
            raise


class _Enqueuing:
    """Takes a chat in, many messages at once, and tells how far it is.

    Args:
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
