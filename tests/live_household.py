"""The sample household open on a real file, messages for it, and what the observer left of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Table, select

from kinkeeper.actions.tables import pending_actions
from kinkeeper.bootstrap import System, open_system
from kinkeeper.calendar.tables import events
from kinkeeper.core.messages import InboundMessage
from kinkeeper.messaging.tables import messages, outbox
from kinkeeper.observer.tables import observer_messages, open_questions
from kinkeeper.settings.model import Settings

HOUSEHOLD = Path(__file__).parents[1] / "examples" / "miller" / "household.toml"
ZONE = ZoneInfo("America/Chicago")
MONDAY = datetime(2026, 3, 2, 8, tzinfo=ZONE)

# When work was done, and by whose hands, differs between runs that came to the same.
_HOW_IT_WENT = {
    "processed_at",
    "attempt",
    "failures",
    "epoch",
    "begun",
    "lease_until",
    "runner",
    "due_at",
    "error",
}
_LEFT = (messages, observer_messages, open_questions, pending_actions, outbox, events)


@contextmanager
def live_system(
    database: Path | str, *, household: Path = HOUSEHOLD, **settings: Any
) -> Iterator[System]:
    """Open the household as it stands on that Monday."""
    if "://" not in str(database) and not Path(database).exists():
        Path(database).write_bytes(_seeded(household.read_text(encoding="utf-8")))
    with open_system(
        Settings(**settings), household_file=household, database=str(database), now=MONDAY
    ) as system:
        yield system


@cache
def _seeded(household: str) -> bytes:
    """Return the file of a database with the household's events: writing them takes longer than most tests."""
    with TemporaryDirectory() as folder:
        file, database = Path(folder) / "household.toml", Path(folder) / "family.sqlite"
        file.write_text(household, encoding="utf-8")
        with open_system(Settings(), household_file=file, database=str(database), now=MONDAY):
            pass
        return database.read_bytes()


def said(
    number: int, sender: str, text: str, *, minute: float = 0, chat: str = "family", **more: Any
) -> InboundMessage:
    """Return a message of that Monday morning, `minute` minutes after eight."""
    return InboundMessage(
        channel="test",
        chat_id=chat,
        message_id=f"m{number}",
        sender=sender,
        text=text,
        sent_at=MONDAY + timedelta(minutes=minute or number),
        **more,
    )


def left_by(system: System) -> dict[str, list[dict[str, Any]]]:
    """Return every row that the observer's work left, without the traces of how it went."""

    def load(conn: Connection) -> dict[str, list[dict[str, Any]]]:
        left = {table.name: _rows(conn, table) for table in _LEFT}
        # Lines of two chats may come in either order: they go by their keys, not by their numbers.
        keys = {line.pop("id"): line["dedupe_key"] for line in left["outbox"]}
        left["outbox"].sort(key=itemgetter("dedupe_key"))
        for decision in left["observer_messages"]:
            decision["notification_id"] = keys.get(decision["notification_id"])
            # Whether an answer knew its question depends on how far the workers were; it matters only
            # where the score alone would not have let it through.
            if decision["tripwire_confidence"] >= system.settings.tripwire_threshold:
                del decision["override"]
        return left

    return system.store.read_now(load)


def _rows(conn: Connection, table: Table) -> list[dict[str, Any]]:
    found = conn.execute(select(table).order_by(*table.primary_key.columns)).mappings()
    return [{key: row[key] for key in row if key not in _HOW_IT_WENT} for row in found]
