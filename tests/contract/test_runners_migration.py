"""A database from before there were runners keeps its work, and can be worked on."""

from datetime import UTC, datetime, timedelta

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, MetaData, String, Table, insert, select

from kinkeeper.actions.effects.outside import outside_work
from kinkeeper.conversation.context.repository import conversation_encodings
from kinkeeper.conversation.tables import turns
from kinkeeper.jobs import leases
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store import engines
from kinkeeper.store.migrate import MIGRATIONS
from kinkeeper.store.store import Store

pytestmark = pytest.mark.usefixtures("really_migrating")

BEFORE = "0003"
WORK = (conversation_encodings, observer_messages, outside_work, turns)
AT = datetime(2026, 3, 1, tzinfo=UTC)


def write_old(address: str) -> dict[str, dict[str, object]]:
    """Make a database of the revision before, with a row that is worked on in each table of work; return the rows."""
    url = engines.parse_address(address)
    if engines.is_sqlite(url):
        engines.create_file(url)
    engine = engines.library_engine(url, connections=1)
    with engine.begin() as conn:
        config = Config(attributes={"connection": conn})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, BEFORE)
        old = MetaData()
        old.reflect(conn, only=[table.name for table in WORK])
        found = {table.name: write_row(conn, old.tables[table.name]) for table in WORK}
    engine.dispose()
    return found


def write_row(conn: Connection, table: Table) -> dict[str, object]:
    assert "runner" not in table.c
    given = {"state": "running", "epoch": 1, "begun": 1, "due_at": "2026-02-28T00:00:00.000000Z"}
    row = {
        column.name: given.get(column.name, "1" if isinstance(column.type, String) else 1)
        for column in table.c
        if not column.nullable
    }
    conn.execute(insert(table).values(row))
    return row


def test_work_of_an_older_database_is_kept_and_can_be_claimed(address: str) -> None:
    written = write_old(address)

    def read(conn: Connection, table: Table) -> dict[str, object]:
        columns = [table.c[name].label(name) for name in ("runner", "epoch", "state")]
        return dict(conn.execute(select(*columns)).mappings().one())

    def claim(conn: Connection, table: Table) -> int | None:
        key = tuple(str(written[table.name][column.name]) for column in table.primary_key)
        return leases.claim(conn, table, key, now=AT, lease=timedelta(minutes=1))

    with Store.open(address) as store:
        for table in WORK:
            kept = store.read_now(lambda conn, table=table: read(conn, table))  # type: ignore[misc]
            assert kept == {"runner": None, "epoch": 1, "state": "running"}
            assert store.write_now(lambda conn, table=table: claim(conn, table)) == 2  # type: ignore[misc]
