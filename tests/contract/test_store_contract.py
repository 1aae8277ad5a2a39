"""What the store promises on either database."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError

from kinkeeper.core.errors import InputError, StoreVersionError, UnavailableError
from kinkeeper.store.migrate import SCHEMA_VERSION, current_version
from kinkeeper.store.store import Store

pytestmark = pytest.mark.usefixtures("really_migrating")

metadata = MetaData()
counters = Table(
    "counters", metadata, Column("name", String(20), primary_key=True), Column("value", Integer)
)


@pytest.fixture
def counting(store: Store) -> Store:
    store.write_now(metadata.create_all)
    store.write_now(lambda conn: conn.execute(insert(counters), {"name": "a", "value": 0}))
    return store


def value(conn: Connection, name: str = "a") -> int:
    return int(conn.execute(select(counters.c.value).where(counters.c.name == name)).scalar_one())


def read_then_add(conn: Connection) -> int:
    now = value(conn)
    conn.execute(update(counters).values(value=now + 1))
    return now + 1


def test_a_fresh_database_has_the_current_schema(store: Store) -> None:
    assert store.read_now(current_version) == SCHEMA_VERSION


def test_opening_again_changes_nothing(store: Store, address: str) -> None:
    with Store.open(address) as again:
        assert again.read_now(current_version) == SCHEMA_VERSION


def test_opening_at_the_same_time_from_many_places(address: str) -> None:
    def open_and_ask(_: int) -> str | None:
        with Store.open(address) as opened:
            return opened.read_now(current_version)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(open_and_ask, range(4))) == [SCHEMA_VERSION] * 4


def test_a_newer_database_is_refused(store: Store, address: str) -> None:
    newer = text("UPDATE alembic_version SET version_num = '9999'")
    store.write_now(lambda conn: conn.execute(newer))
    with pytest.raises(StoreVersionError, match="newer version"):
        Store.open(address)


def test_what_a_unit_reads_and_then_writes_is_never_lost(counting: Store) -> None:
    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(counting.write(read_then_add) for _ in range(5)))

    for _ in range(4):
        asyncio.run(all_at_once())
    assert counting.read_now(value) == 20


def test_many_who_write_the_same_row_at_once_all_get_their_turn(
    counting: Store, address: str
) -> None:
    def add_ten(_: int) -> None:
        with Store.open(address) as another:
            for _ in range(10):
                another.write_now(read_then_add)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_ten, range(8)))
    assert counting.read_now(value) == 80


def test_what_a_failing_unit_wrote_is_undone(counting: Store) -> None:
    def add_then_fail(conn: Connection) -> None:
        read_then_add(conn)
        raise ValueError

    def write_now(work: Callable[[Connection], None]) -> None:
        asyncio.run(counting.write(work))

    for write in (counting.write_now, write_now):
        with pytest.raises(ValueError, match=r"^$"):
            write(add_then_fail)
    assert counting.read_now(value) == 0


def test_a_broken_constraint_is_the_callers_to_handle(counting: Store) -> None:
    with pytest.raises(DBAPIError):
        counting.write_now(lambda conn: conn.execute(insert(counters), {"name": "a", "value": 1}))
    assert counting.write_now(read_then_add) == 1


def test_a_zero_character_is_kept_or_refused_with_a_sentence(counting: Store, address: str) -> None:
    named = {"name": "a\0b", "value": 1}
    if address.startswith("postgresql"):
        with pytest.raises(InputError, match="null character"):
            counting.write_now(lambda conn: conn.execute(insert(counters), named))
    else:
        counting.write_now(lambda conn: conn.execute(insert(counters), named))
        assert counting.read_now(lambda conn: value(conn, "a\0b")) == 1


def test_readers_cannot_write(counting: Store) -> None:
    with pytest.raises((DBAPIError, UnavailableError)):
        counting.read_now(read_then_add)
    assert counting.read_now(value) == 0


def test_a_reader_sees_one_snapshot_while_others_write(counting: Store) -> None:
    def look_twice(conn: Connection) -> tuple[int, int]:
        before = value(conn)
        writer = threading.Thread(target=counting.write_now, args=(read_then_add,))
        writer.start()
        writer.join()
        return before, value(conn)

    assert counting.read_now(look_twice) == (0, 0)
    assert counting.read_now(value) == 1


def test_an_unreachable_server_says_what_to_check() -> None:
    with pytest.raises(UnavailableError, match="address"):
        Store.open("postgresql://nobody@127.0.0.1:1/nothing")
