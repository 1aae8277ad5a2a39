"""kill -9 of the process that delivers, at any moment: nothing lost, nothing twice without saying so."""

import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.messaging import outbox
from kinkeeper.messaging.delivery import REPEATED
from kinkeeper.messaging.outbound import (
    Outbound,
    OutboundKind,
    OutboundState,
    StoredOutbound,
    stored,
)
from kinkeeper.messaging.tables import outbox as table
from kinkeeper.store.store import Store
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).with_name("delivery_process.py"))
HOUSE = "vienna"
NOW = datetime(2026, 5, 11, 9, 0, tzinfo=UTC)
CHATS = ("one", "two", "three")
MESSAGES = 240
KILLS = (1, 17, 3, 40, 2, 26, 9, 31)


def fill(conn: Connection) -> None:
    for number in range(MESSAGES):
        chat = CHATS[number % len(CHATS)]
        row, _ = outbox.put(
            conn,
            HOUSE,
            Outbound(
                channel="file",
                chat_id=chat,
                body=f"text {number}",
                dedupe_key=f"m{number}",
                is_unprompted=number % 2 == 0,
            ),
            now=NOW,
        )
        if number % 5 == 0:
            change = Outbound(
                channel="file",
                chat_id=chat,
                body=f"changed {number}",
                dedupe_key=f"e{number}",
                kind=OutboundKind.EDIT,
                edits=row,
            )
            outbox.put(conn, HOUSE, change, now=NOW)


@contextmanager
def process(database: Path, service: Path) -> Iterator[Iterator[str]]:
    """Start delivering; yield the lines it prints; kill -9 at the end of the block."""
    started = Started([SCRIPT, str(database), str(service)], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    try:
        yield iter(started.stdout.readline, "")
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


def rows_of(store: Store) -> list[StoredOutbound]:
    return store.read_now(
        lambda conn: [
            stored(row) for row in conn.execute(select(table).order_by(table.c.id)).mappings()
        ]
    )


def test_through_repeated_kills_every_message_arrives_once_or_says_otherwise(
    tmp_path: Path,
) -> None:
    database, service = tmp_path / "outbox.db", tmp_path / "service.txt"
    with Store.open(str(database)) as store:
        store.write_now(fill)
    for count in KILLS:
        with process(database, service) as lines:
            for number, _ in enumerate(lines, 1):
                if number >= count:
                    break
    with process(database, service) as lines:
        assert "idle\n" in lines
    with Store.open(str(database)) as store:
        rows = rows_of(store)

    shown: dict[int, list[str]] = defaultdict(list)
    by_chat: dict[str, list[int]] = defaultdict(list)
    for line in service.read_text("utf-8").splitlines():
        chat, row_id, _, body, _ = line.split("\t")
        shown[int(row_id)].append(body)
        by_chat[chat].append(int(row_id))
    for ids in by_chat.values():
        assert ids == sorted(ids)
    for row in rows:
        text, times = row.message.body, shown[row.id]
        if row.message.kind is OutboundKind.EDIT:
            # A change does the same thing twice.
            assert set(times) <= {text}
            assert times or row.state is OutboundState.DROPPED
        elif row.message.is_unprompted:
            assert times in ([text], [])
            assert times or row.state is OutboundState.UNKNOWN
        else:
            assert times in ([text], [text, text + REPEATED], [text + REPEATED], [])
            # Two kills, each between the mark and the call, of one message: it was repeated once, and says so.
            assert times or (row.state is OutboundState.UNKNOWN and row.unknowns > 1)
        if row.state is OutboundState.SENT:
            assert times
    states = Counter(row.state for row in rows)
    assert not states.keys() & {OutboundState.QUEUED, OutboundState.SENDING, OutboundState.FAILED}
    assert states[OutboundState.SENT] > MESSAGES
    assert states[OutboundState.UNKNOWN] <= len(KILLS) * len(CHATS)
    assert any(row.unknowns for row in rows), "no kill hit a delivery: the test shows nothing"
