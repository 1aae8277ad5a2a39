"""A disk that is full: what memory takes in and what a night does is not half done, and done once there is room."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.erasure import forget
from kinkeeper.memory.invariants import check
from kinkeeper.store.store import Store
from memory_chains import rows
from memory_nights import HOUSE, Memory, day, meaning, unlike

LONG = "the house behind the old mill at the far end of the lane, " * 60
ROOM = 1 << 20


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Store.open(str(tmp_path / "memory.sqlite")) as store:
        memory = Memory(store)
        for text in unlike(30):
            memory.say(f"{text} lately", day(0))
        for place, text in enumerate(("Cousin Abe lives in Leeds", "Cousin Abe lives in York now")):
            memory.forget_meeting_points()
            (fact,) = memory.say(text, day(100 + place))
            memory.place("fact", fact.id, meaning("Abe", twist=text))
        memory.say("I live in Bath.", day(101))
        yield memory


def allow(store: Store, pages: int) -> None:
    store.write_now(lambda conn: conn.exec_driver_sql(f"PRAGMA max_page_count={pages}"))


def fill_up(store: Store) -> None:
    """Leave no page free: what is free in the file goes into a table of its own."""
    store.write_now(lambda conn: conn.exec_driver_sql("CREATE TABLE filler (x)"))
    pages = store.read_now(lambda conn: conn.exec_driver_sql("PRAGMA page_count").scalar())
    allow(store, int(pages or 0))
    for size in (4000, 100):
        with suppress(UnavailableError):
            while True:
                store.write_now(partial(put, size=size))


def put(conn: Connection, size: int) -> None:
    conn.exec_driver_sql("INSERT INTO filler VALUES (zeroblob(?))", (size,))


def supersede(memory: Memory) -> None:
    memory.say(f"I moved to Truro. {LONG}", day(102))


def merge_at_night(memory: Memory) -> None:
    memory.night(day(130), is_agreed=True)


def erase(memory: Memory) -> None:
    fact = memory.facts()["I live in Bath."]
    viewer = Viewer.of(HOUSE, "john")
    memory.store.write_now(lambda conn: forget(conn, viewer, fact.id, by="john", at=day(102)))


def test_forgetting_needs_no_room(memory: Memory) -> None:
    fill_up(memory.store)
    erase(memory)
    assert "I live in Bath." not in memory.facts()
    assert memory.store.read_now(lambda conn: check(conn, HOUSE)) == []


@pytest.mark.parametrize("work", [supersede, merge_at_night])
def test_a_full_disk_leaves_memory_as_it_was_until_there_is_room(
    memory: Memory, work: Callable[[Memory], None]
) -> None:
    store = memory.store
    fill_up(store)
    before = store.read_now(rows)
    with pytest.raises(UnavailableError, match="disk is full"):
        work(memory)
    assert store.read_now(rows) == before
    assert store.read_now(lambda conn: check(conn, HOUSE)) == []
    allow(store, ROOM)
    work(memory)
    assert store.read_now(rows) != before
    assert store.read_now(lambda conn: check(conn, HOUSE)) == []
