"""A database of each earlier revision, with a row in every table, is brought up to date and keeps every row."""

from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import (
    Boolean,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    insert,
    select,
)

from kinkeeper.store import engines
from kinkeeper.store.migrate import MIGRATIONS, SCHEMA_VERSION
from kinkeeper.store.store import Store

pytestmark = pytest.mark.usefixtures("really_migrating")

AT = "2026-02-28T00:00:00.000000Z"
# Revision 0002 takes facts anew from their statements, which rows made at random do not have.
EARLIER = [f"{number:04}" for number in range(3, int(SCHEMA_VERSION))]
NEW = {
    "0004": {"turns": "runner", "observer_messages": "runner"},
    "0006": {"turns": "login", "threads": "login"},
    "0007": {"outbox": "runner"},
    "0008": {"threads": "name", "task_reminders": "failures"},
    "0015": {"goal_cycles": "web"},
}
OWN = {"alembic_version", "runners"}


def value(table: Table, name: str) -> Any:
    column = table.c[name]
    if name.endswith("_at") or name in {"at", "until", "day"}:
        return AT[: getattr(column.type, "length", None) or len(AT)]
    if isinstance(column.type, LargeBinary):
        return b"1"
    if isinstance(column.type, Boolean):
        return True
    if isinstance(column.type, Integer | Float):
        return 1
    return "1" if isinstance(column.type, String) else {"a": 1}


def written(conn: Connection, table: Table) -> dict[str, Any]:
    """Write a row into a table of an old database; return it."""
    row = {each.name: value(table, each.name) for each in table.c if not each.nullable}
    conn.execute(insert(table).values(row))
    return row


def write_old(address: str, revision: str) -> dict[str, dict[str, Any]]:
    url = engines.parse_address(address)
    if engines.is_sqlite(url):
        engines.create_file(url)
    engine = engines.library_engine(url, connections=1)
    with engine.begin() as conn:
        config = Config(attributes={"connection": conn})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, revision)
        old = MetaData()
        old.reflect(conn)
        tables = [
            each
            for each in old.sorted_tables
            if each.name not in OWN and "household" in each.c and not each.foreign_keys
        ]
        found = {each.name: written(conn, each) for each in tables}
    engine.dispose()
    return found


@pytest.mark.parametrize("revision", EARLIER)
def test_every_row_of_an_older_database_is_kept_and_new_columns_are_empty(
    address: str, revision: str
) -> None:
    before = write_old(address, revision)
    assert len(before) > 30
    with Store.open(address) as store:

        def read(conn: Connection, name: str) -> list[dict[str, Any]]:
            table = Table(name, MetaData(), autoload_with=conn)
            return [dict(row) for row in conn.execute(select(table)).mappings()]

        for name, row in before.items():
            (kept,) = store.read_now(lambda conn, name=name: read(conn, name))  # type: ignore[misc]
            assert {key: kept[key] for key in row} == row, name
            added = [
                columns[name]
                for since, columns in NEW.items()
                if since > revision and name in columns
            ]
            assert {kept[column] for column in added} <= {None}
    with Store.open(address) as store:  # again: nothing is left to do
        assert store.read_now(lambda conn: read(conn, "threads"))
