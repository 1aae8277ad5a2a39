"""Chats through the real observer: each in a database as good as new, on a virtual clock, without waiting."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Table, delete, func, insert, select

from evals.episode_scoring import Line
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.payload import action_record
from kinkeeper.bootstrap import System, observer_config, open_system
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.calendar.seeds import SeedReport
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.replay import Replay
from kinkeeper.observer.settling.message_reader import Extractor
from kinkeeper.observer.speaker import REPLAY
from kinkeeper.observer.wording.participants import Participants, compile_participants
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.model import Settings
from kinkeeper.store.schema import metadata
from kinkeeper.store.store import Store

Rows = Sequence[tuple[Table, Sequence[Mapping[str, Any]]]]

_EXPECTED = ("type", "assigned_to", "child", "activity", "dates", "times")
_NOT_UNDERSTOOD = "queued"


@dataclass(frozen=True, slots=True)
class Heard:
    """One message with the lines that came out when it was fed; what time brought comes first.

    Attributes:
        message: The message; None for what time brought after the last one.
        lines: As `kinkeeper observe` writes them.
    """

    message: InboundMessage | None
    lines: Sequence[Line]

    @property
    def own(self) -> Line:
        """The message's own line."""
        return next(line for line in self.lines if line.get("event") is None)

    @property
    def has_failed(self) -> bool:
        """Whether tier 2 gave the message up: it is still queued after its turn."""
        return self.message is not None and self.own["reason"] == _NOT_UNDERSTOOD


class Stage:
    """Opens households for one chat after another; each is read and compiled once. Use it in a `with` block.

    Args:
        overrides: Settings by the name of their variable; all others have their defaults.
    """

    def __init__(self, overrides: Mapping[str, str] | None = None) -> None:
        self._overrides = overrides or {}
        self._held = ExitStack()
        self._folder = Path(self._held.enter_context(TemporaryDirectory(prefix="kinkeeper-eval-")))
        self._ready: dict[Path, tuple[System, Rows]] = {}
        self._compiled: dict[Household, Participants] = {}
        self._shared: Store | None = None
        self._numbers = count()

    def __enter__(self) -> Self:
        """Return the stage."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every database and remove it."""
        self._held.close()

    def opened(self, file: Path, now: datetime) -> System:
        """Open the household of a file; its database holds the file's events and nothing else.

        What was opened for the file before is emptied: one chat at a time.

        Args:
            file: The household file.
            now: Aware; around when the chat takes place.

        Raises:
            ConfigError: The file is missing or wrong.
        """
        if file not in self._ready:
            opening = open_system(
                self._settings(), household_file=file, database=self._address(), now=now
            )
            system = self._held.enter_context(opening)
            self._ready[file] = system, system.store.read_now(_rows)
        system, seeded = self._ready[file]
        system.store.write_now(lambda conn: _restore(conn, seeded))
        return system

    def opened_with(self, household: Household) -> System:
        """Open a household that has no file and no events.

        Args:
            household: Under an id of its own: all of these share one database.
        """
        settings = self._settings()
        if self._shared is None:
            self._shared = self._held.enter_context(Store.open(self._address()))
        words = replace(household, id="")
        if words not in self._compiled:
            self._compiled[words] = compile_participants(words)
        return System(
            settings=settings,
            household=household,
            participants=replace(self._compiled[words], household=household),
            store=self._shared,
            config=observer_config(settings),
            seeds=SeedReport(),
            recall=Recall(settings, household, self._shared),
        )

    def _settings(self) -> Settings:
        nothing = self._folder / "none"
        return load_settings(environment=self._overrides, env_file=nothing, toml_file=nothing)

    def _address(self) -> str:
        return str(self._folder / f"{next(self._numbers)}.sqlite")


@dataclass(frozen=True, slots=True)
class Reader:
    """An extractor and the event loop on which it waits.

    Attributes:
        extractor: Reads messages.
        runner: Of the loop.
    """

    extractor: Extractor
    runner: asyncio.Runner


def _rows(conn: Connection) -> Rows:
    return [
        (table, [dict(row) for row in conn.execute(select(table)).mappings()])
        for table in metadata.sorted_tables
    ]


def _restore(conn: Connection, rows: Rows) -> None:
    """Empty the database but for these rows; a new file would cost half a second of preparation."""
    stale = [(table, kept) for table, kept in rows if not kept or _count(conn, table) != len(kept)]
    for table, _ in reversed(stale):
        conn.execute(delete(table))
    for table, kept in stale:
        if kept:
            conn.execute(insert(table), kept)


def _count(conn: Connection, table: Table) -> int:
    return conn.execute(select(func.count()).select_from(table)).scalar_one()


def play(
    system: System,
    messages: Iterable[InboundMessage],
    *,
    until: datetime | None = None,
    reader: Reader | None = None,
) -> Iterator[Heard]:
    """Feed messages in their order and yield what came out.

    Args:
        system: Open.
        messages: Their instants never go back.
        until: The clock runs on to it at the end.
        reader: Reads the messages, on its own event loop; the rules where None.
    """
    replay: Replay | None = None
    with ExitStack() as held:
        runner = reader.runner if reader else held.enter_context(asyncio.Runner())
        for message in messages:
            replay = replay or system.replay(message.sent_at, reader.extractor if reader else None)
            yield Heard(message, runner.run(_fed(replay, message)))
        if replay is not None and until is not None:
            yield Heard(None, runner.run(_passed(replay, until)))


def spoken_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines that speak in the group."""
    return (line for line in lines if line.get("redline_decision") == "SPEAK")


async def _fed(replay: Replay, message: InboundMessage) -> list[Line]:
    return [line async for line in replay.feed(message)]


async def _passed(replay: Replay, until: datetime) -> list[Line]:
    return [line async for line in replay.run_until(until)]


@dataclass(slots=True)
class EpisodePlayer:
    """Plays episodes, one after the other, each in a household as new.

    Attributes:
        stage: Opens the households.
        root: The household files of the episodes are named from it.
        failures: Messages that tier 2 gave up.
    """

    stage: Stage
    root: Path
    failures: int = 0
    _left: Sequence[Line] = ()

    def run(
        self,
        household: Path,
        messages: Sequence[Mapping[str, Any]],
        until: str | None,
        reader: Reader | None = None,
    ) -> Sequence[Line]:
        """Replay one episode in a household as new, read by rules unless told; return its output lines."""
        chat = [inbound(message) for message in messages]
        end = datetime.fromisoformat(until) if until else chat[-1].sent_at
        system = self.stage.opened(self.root / household, chat[0].sent_at)
        heard = list(play(system, chat, until=end, reader=reader))
        self.failures += sum(each.has_failed for each in heard)
        self._left = system.store.read_now(lambda conn: _left(conn, system.household.id, end))
        return [line for each in heard for line in each.lines]

    def pending(self) -> Sequence[Line]:
        """Return the actions that the run just made left pending."""
        return self._left


def _left(conn: Connection, household: str, now: datetime) -> list[Line]:
    records = map(action_record, action_rows.open_actions(conn, Viewer.of(household), now=now))
    return [{name: record[name] for name in _EXPECTED} for record in records]


def inbound(message: Mapping[str, Any]) -> InboundMessage:
    """Return a message of an episode as a channel hands it over."""
    return InboundMessage(
        channel=REPLAY,
        chat_id=message["chat_id"],
        message_id=message["message_id"],
        sender=message["sender"],
        text=message["text"],
        sent_at=datetime.fromisoformat(message["sent_at"]),
        reply_to=message.get("reply_to"),
        kind=MessageKind(message.get("kind", "text")),
        target=message.get("target"),
    )
