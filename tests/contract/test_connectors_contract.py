"""What is stored of calendar and tool servers: the same on every database, and one household's own."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection

from kinkeeper.connectors.caldav import sync_records
from kinkeeper.connectors.caldav.sync_records import ObjectRow, ObjectState
from kinkeeper.connectors.caldav.wire import Delta, Mark
from kinkeeper.connectors.tools.connection import described
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.connectors.tools.tool_records import (
    accept,
    list_servers,
    list_tools,
    note_server,
    note_tools,
)
from kinkeeper.core.errors import NotFoundError
from kinkeeper.store.store import Store

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
SERVER = ToolServer(name="weather", command="x", safe=frozenset({"look"}))


def test_only_one_goes_through_a_calendar_at_a_time(store: Store) -> None:
    def claimed(household: str, minutes: int) -> bool:
        at = NOW + timedelta(minutes=minutes)
        return store.write_now(
            lambda conn: sync_records.claim(conn, household, now=at, lasts=timedelta(minutes=3))
        )

    assert [claimed("a", 0), claimed("a", 2), claimed("b", 2), claimed("a", 3)] == [
        True,
        False,
        True,
        True,
    ]
    store.write_now(lambda conn: sync_records.settle(conn, "a", now=NOW, failure="away", waiting=2))
    assert claimed("a", 4)
    row = store.read_now(lambda conn: sync_records.find_calendar(conn, "a"))
    assert row is not None
    assert (row.failure, row.failing_since, row.waiting, row.synced_at) == ("away", NOW, 2, None)


def test_what_a_server_tells_is_noted_and_told_back(store: Store) -> None:
    def note(etags: dict[str, str | None], *, is_complete: bool) -> dict[str, str | None]:
        delta = Delta(etags=etags, is_complete=is_complete, mark=Mark(token="t", ctag="c"))  # noqa: S106

        def write(conn: Connection) -> dict[str, str | None]:
            sync_records.note_delta(conn, "a", delta)
            return {row.path: row.etag for row in sync_records.list_objects(conn, "a")}

        return store.write_now(write)

    store.write_now(lambda conn: sync_records.claim(conn, "a", now=NOW, lasts=timedelta(minutes=1)))
    store.write_now(lambda conn: sync_records.turn_to(conn, "a", url="http://c/", name="C"))
    assert note({"/1": "x", "/2": "y"}, is_complete=True) == {"/1": "x", "/2": "y"}
    assert note({"/1": "z", "/3": None}, is_complete=False) == {"/1": "z", "/2": "y"}
    assert note({"/2": "y"}, is_complete=True) == {"/1": None, "/2": "y"}
    row = store.read_now(lambda conn: sync_records.find_calendar(conn, "a"))
    assert row is not None
    assert row.mark == Mark(token="t", ctag="c")  # noqa: S106
    assert store.read_now(lambda conn: sync_records.list_objects(conn, "b")) == []
    store.write_now(lambda conn: sync_records.turn_to(conn, "a", url="http://other/", name="O"))
    assert store.read_now(lambda conn: sync_records.list_objects(conn, "a")) == []


def test_a_row_of_an_object_comes_back_as_it_was(store: Store) -> None:
    row = ObjectRow(
        path="/c/ä b.ics",
        kind="VEVENT",
        local_id="e",
        state=ObjectState.ASKED,
        etag='"1"',
        handled=None,
        agreed="1" * 64,
        offered="2" * 64,
        trying="",
        pushed="3" * 64,
        action_id="a",
        note="why",
    )
    store.write_now(lambda conn: sync_records.put_object(conn, "a", row))
    assert store.read_now(lambda conn: sync_records.list_objects(conn, "a")) == [row]


def test_a_tool_is_safe_as_long_as_it_is_what_was_accepted(store: Store) -> None:
    def offered(words: str, minutes: int, *names: str) -> dict[str, bool]:
        tools = [described("weather", name, words, {}, is_safe=False) for name in names]
        at = NOW + timedelta(minutes=minutes)

        def write(conn: Connection) -> dict[str, bool]:
            note_server(conn, "a", "weather", failure=None, now=at)
            note_tools(conn, "a", "weather", tools, now=at)
            return {each.tool.name: each.tool.is_safe for each in list_tools(conn, "a", (SERVER,))}

        return store.write_now(write)

    assert offered("looks", 0, "look", "book") == {"look": True, "book": False}
    assert offered("deletes", 1, "look") == {"look": False}
    assert offered("looks", 2, "look") == {"look": True}
    assert offered("deletes", 3, "look") == {"look": False}
    assert store.write_now(lambda conn: accept(conn, "a", "weather", None)) == 1
    assert offered("deletes", 4, "look") == {"look": True}
    assert store.read_now(lambda conn: list_tools(conn, "b", (SERVER,))) == []
    with pytest.raises(NotFoundError):
        store.write_now(lambda conn: accept(conn, "b", "weather", None))


def test_since_when_a_server_fails_is_kept(store: Store) -> None:
    for minutes, failure in ((0, "away"), (5, "away"), (9, None)):
        at = NOW + timedelta(minutes=minutes)
        store.write_now(
            lambda conn, at=at, failure=failure: note_server(
                conn, "a", "weather", failure=failure, now=at
            )
        )
        (row,) = store.read_now(lambda conn: list_servers(conn, "a"))
        assert (row.looked_at, row.failing_since) == (at, NOW if failure else None)
