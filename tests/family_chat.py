"""A household's chat on a database file of its own: what is said, what is decided, what a person presses."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Table, select

from kinkeeper.actions import approvals
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.repository import list_actions, load_action, open_actions
from kinkeeper.actions.reversal import undo
from kinkeeper.bootstrap import System, observer_config, open_system
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.core.messages import InboundMessage, MessageKind
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.messaging.tables import outbox
from kinkeeper.observer.replay import Replay
from kinkeeper.observer.settling.message_reader import Extractor
from kinkeeper.observer.tables import confidence_log, observer_messages, open_questions
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.model import Settings
from kinkeeper.store.schema import metadata
from kinkeeper.store.store import Store

Line = dict[str, Any]
T = TypeVar("T")

FOLDER = Path(__file__).parent / "households"
FILES = {
    "miller": Path(__file__).parents[1] / "examples" / "miller" / "household.toml",
    **{path.stem: path for path in sorted(FOLDER.glob("*.toml"))},
}
ADULT = {
    "miller": "john",
    "clarke": "dee",
    "iyer": "lakshmi",
    "nguyen-sato": "linh",
    "okafor-bennett": "ngozi",
    "tremblay": "helene",
}
GRAPH = ("events", "occurrence_overrides", "occurrences", "occurrence_people", "event_changes")
# How often and under which lease work was begun; everything else is the state of a database.
LEASES = frozenset({"epoch", "begun", "attempt", "lease_until", "failures", "runner"})
DEFAULTS = load_settings(environment={}, env_file=Path("/none"), toml_file=Path("/none"))
CHAT = "family"

_EPOCH = datetime.fromisoformat("2026-03-01T00:00:00+00:00")
_templates = tempfile.TemporaryDirectory(prefix="kinkeeper-tests-")


def day(text: str) -> date:
    """Return the day of "Thu 2026-03-05"; a weekday that is not the real one is refused."""
    weekday, iso = text.split()
    found = date.fromisoformat(iso)
    if found.strftime("%a") != weekday:
        raise ValueError(f"{iso} is a {found:%a}, not a {weekday}")
    return found


def iso(*days: str) -> list[str]:
    """Return days as an extraction has them: ISO dates."""
    return [day(each).isoformat() for each in days]


@cache
def template(name: str) -> System:
    """Return a system whose database file is closed and complete, to be copied."""
    with open_system(
        DEFAULTS,
        household_file=FILES[name],
        database=str(Path(_templates.name) / f"{name}.sqlite"),
        now=_EPOCH,
    ) as system:
        return system


class Chat:
    """One household's replay. Times are local: "Wed 2026-03-04 10:00"."""

    def __init__(self, system: System, path: Path, runner: asyncio.Runner) -> None:
        self.system = system
        self.path = path
        self.lines: list[Line] = []
        self.extractor: Extractor | None = None
        self._runner = runner
        self._replay: Replay | None = None
        self._numbers = iter(range(1, 1_000_000))

    @property
    def household(self) -> Household:
        return self.system.household

    @property
    def zone(self) -> ZoneInfo:
        return self.household.zone

    @property
    def store(self) -> Store:
        return self.system.store

    def at(self, text: str) -> datetime:
        """Return the instant of "Wed 2026-03-04 10:00", local."""
        first, clock = text.rsplit(" ", 1)
        return datetime.combine(day(first), time.fromisoformat(clock), self.zone)

    def member(self, member_id: str) -> Member:
        found = self.household.member(member_id)
        assert found is not None, member_id
        return found

    def message(
        self,
        at: str | datetime,
        sender: str,
        text: str,
        *,
        chat: str = CHAT,
        channel: str = "replay",
        **fields: str | None,
    ) -> InboundMessage:
        """Return a message; its id counts up unless given as `id`."""
        return InboundMessage(
            channel=channel,
            chat_id=chat,
            message_id=fields.get("id") or f"m{next(self._numbers)}",
            sender=sender,
            text=text,
            sent_at=at if isinstance(at, datetime) else self.at(at),
            reply_to=fields.get("reply_to"),
            kind=MessageKind(fields.get("kind") or "text"),
            target=fields.get("target"),
        )

    def feed(self, message: InboundMessage) -> list[Line]:
        """Replay one message and return all lines that come of it."""
        self._replay = self._replay or self.system.replay(message.sent_at, self.extractor)
        return self._runner.run(self._collect(self._replay.feed(message)))

    def say(self, at: str | datetime, sender: str, text: str, **fields: str | None) -> Line:
        """Replay one message and return its own line."""
        message = self.message(at, sender, text, **fields)  # type: ignore[arg-type]  # chat and channel are text
        found = [line for line in self.feed(message) if "event" not in line]
        assert [line["message_id"] for line in found] == [message.message_id]
        return found[0]

    def react(self, at: str, sender: str, emoji: str, target: str) -> Line:
        return self.say(at, sender, emoji, kind="reaction", target=target)

    def edit(self, at: str, sender: str, text: str, target: str) -> Line:
        return self.say(at, sender, text, kind="edit", target=target)

    def until(self, at: str) -> list[Line]:
        """Let time pass and return what was said on the way."""
        self._replay = self._replay or self.system.replay(self.at(at), self.extractor)
        return self._runner.run(self._collect(self._replay.run_until(self.at(at))))

    def restart(self) -> None:
        """Begin a new replay on the same database, as another process would."""
        self._replay = None

    def wait(self, waited: Coroutine[Any, Any, T]) -> T:
        """Return what comes of it, on the event loop on which messages are read."""
        return self._runner.run(waited)

    async def _collect(self, lines: Any) -> list[Line]:
        found = [line async for line in lines]
        self.lines += found
        return found

    # What is stored

    def rows(self, table: Table) -> list[Mapping[str, Any]]:
        keys = list(table.primary_key.columns)
        return self.store.read_now(
            lambda conn: [
                dict(row) for row in conn.execute(select(table).order_by(*keys)).mappings()
            ]
        )

    def graph(self) -> Mapping[str, list[Mapping[str, Any]]]:
        """Return every row of the event graph and its journal."""
        return {name: self.rows(metadata.tables[name]) for name in GRAPH}

    def events(self, source: str = "OBSERVER") -> list[Mapping[str, Any]]:
        return [row for row in self.rows(metadata.tables["events"]) if row["source_type"] == source]

    def spoken(self) -> list[Mapping[str, Any]]:
        return self.rows(outbox)

    def decisions(self) -> list[Mapping[str, Any]]:
        return sorted(self.rows(observer_messages), key=lambda row: int(row["id"]))

    def gates(self) -> list[Mapping[str, Any]]:
        return self.rows(confidence_log)

    def questions(self) -> list[Mapping[str, Any]]:
        return sorted(self.rows(open_questions), key=lambda row: int(row["id"]))

    def action(self, action_id: str) -> PendingAction:
        return self.store.read_now(lambda conn: load_action(conn, self.household.id, action_id))

    def actions(self) -> list[PendingAction]:
        """Return every action there ever was, oldest first, as stored."""
        return self.store.read_now(
            lambda conn: list_actions(
                conn, Viewer.whole(self.household.id), statuses=tuple(ActionStatus), now=_EPOCH
            )
        )

    def pending(self, at: str) -> list[PendingAction]:
        """Return what awaits a person then."""
        return self.store.read_now(
            lambda conn: open_actions(conn, Viewer.whole(self.household.id), now=self.at(at))
        )

    # What a person does

    def confirm(self, at: str, who: str, action_id: str, **card: str) -> Receipt:
        return self.store.write_now(
            lambda conn: approvals.confirm(
                conn,
                action_id,
                member=self.member(who),
                household=self.household,
                now=self.at(at),
                **card,
            )
        )

    def resolve(self, at: str, who: str, action_id: str, label: str) -> Receipt:
        return self.store.write_now(
            lambda conn: approvals.resolve(
                conn,
                action_id,
                label,
                member=self.member(who),
                household=self.household,
                now=self.at(at),
            )
        )

    def reject(self, at: str, who: str, action_id: str) -> Receipt:
        return self.store.write_now(
            lambda conn: approvals.reject(
                conn, action_id, member=self.member(who), household=self.household, now=self.at(at)
            )
        )

    def undo(self, at: str, who: str, action_id: str) -> Receipt:
        return self.store.write_now(
            lambda conn: undo(
                conn, action_id, member=self.member(who), household=self.household, now=self.at(at)
            )
        )


@contextmanager
def chat(name: str = "miller", *, path: Path | None = None, **settings: object) -> Iterator[Chat]:
    """Open a household's chat on a fresh database file, with settings other than the defaults.

    Args:
        name: Of the household.
        path: An existing database file instead.
        settings: As `Settings` has them.
    """
    source = template(name)
    changed = Settings.model_validate(DEFAULTS.model_dump() | settings)
    with (
        tempfile.TemporaryDirectory(prefix="kinkeeper-chat-") as folder,
        asyncio.Runner() as runner,
    ):
        file = path or Path(folder) / "family.sqlite"
        if not file.exists():
            shutil.copyfile(str(source.store.url.database), file)
        with Store.open(str(file)) as store:
            family = replace(
                source.household, pending_ttl=timedelta(hours=changed.pending_action_ttl_hours)
            )
            system = replace(
                source,
                settings=changed,
                config=observer_config(changed),
                store=store,
                recall=Recall(changed, family, store),
                household=family,
                participants=replace(source.participants, household=family),
            )
            yield Chat(system, file, runner)


def everything(conn: Connection, *, without: frozenset[str] = LEASES) -> dict[str, list[Any]]:
    """Return all rows of all tables, column by column, but for the columns left out."""
    found = {}
    for name, table in sorted(metadata.tables.items()):
        columns = [column for column in table.columns if column.name not in without]
        rows = conn.execute(select(*columns).order_by(*table.primary_key.columns))
        found[name] = [tuple(row) for row in rows]
    return found


def minutes_later(at: datetime, minutes: float) -> datetime:
    return at + timedelta(minutes=minutes)
