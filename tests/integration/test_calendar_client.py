"""The calls to a real calendar server: finding the calendar, what changed, and what it refuses."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import TypeVar

import pytest

from calendar_server import COLLECTION, CalendarServer, calendar_server
from kinkeeper.connectors.caldav.address import Address
from kinkeeper.connectors.caldav.client import CalDavClient
from kinkeeper.connectors.caldav.wire import Mark
from kinkeeper.core.errors import ConflictError, DeniedError, InputError, UnavailableError

T = TypeVar("T")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CalendarServer]:
    with calendar_server(tmp_path_factory.mktemp("radicale")) as running:
        yield running


def asked(address: Address, question: Callable[[CalDavClient], Awaitable[T]]) -> T:
    async def ask() -> T:
        async with CalDavClient(address, patience=timedelta(seconds=10)) as client:
            return await question(client)

    return asyncio.run(ask())


def put(server: CalendarServer, name: str) -> None:
    server.put(name, f"UID:{name}", "SUMMARY:Choir", "DTSTART:20260306T100000Z")


def test_the_calendar_that_is_named_is_found(server: CalendarServer):
    found = asked(server.address, lambda client: client.find_calendar())
    assert (found.url, found.name) == (f"{server.origin}{COLLECTION}", "Family")
    assert found.takes("VEVENT")


def test_the_only_calendar_of_a_user_is_found_from_anywhere(server: CalendarServer):
    address = Address(url=f"{server.origin}/", user="family", password="family")  # noqa: S106 - of the test
    assert asked(address, lambda client: client.find_calendar()).url.endswith(COLLECTION)


def test_of_several_calendars_one_must_be_named(server: CalendarServer):
    body = '<C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav"/>'
    server.call("MKCALENDAR", "/family/work/", body)
    address = Address(url=f"{server.origin}/", user="family", password="family")  # noqa: S106
    try:
        with pytest.raises(InputError, match="several calendars"):
            asked(address, lambda client: client.find_calendar())
    finally:
        server.call("DELETE", "/family/work/")


def test_where_there_is_no_calendar_that_is_said(server: CalendarServer):
    address = Address(url=f"{server.origin}/", user="other", password="other")  # noqa: S106
    with pytest.raises((InputError, DeniedError), match="no calendar"):
        asked(address, lambda client: client.find_calendar())


def test_a_wrong_password_is_no_passing_trouble(server: CalendarServer):
    address = Address(url=server.address.url, user="parent", password="wrong")  # noqa: S106
    with pytest.raises(DeniedError, match="user name or password"):
        asked(address, lambda client: client.find_calendar())


def test_nobody_there_is_passing_trouble():
    with pytest.raises(UnavailableError):
        asked(Address(url="http://127.0.0.1:1/x/"), lambda client: client.find_calendar())


def test_changes_are_told_by_token_and_in_full_where_the_token_is_not_known(server: CalendarServer):
    url = server.address.url
    put(server, "a.ics")
    first = asked(server.address, lambda client: client.changes(url, Mark()))
    assert first.is_complete
    put(server, "b.ics")
    server.remove("a.ics")
    then = asked(server.address, lambda client: client.changes(url, first.mark))
    assert not then.is_complete
    assert {path.rsplit("/", 1)[1]: etag is None for path, etag in then.etags.items()} == {
        "a.ics": True,
        "b.ics": False,
    }
    same = asked(server.address, lambda client: client.changes(url, then.mark))
    assert not same.etags
    lost = Mark(token=f"http://radicale.org/ns/sync/{'0' * 64}")
    whole = asked(server.address, lambda client: client.changes(url, lost))
    assert whole.is_complete
    assert any(path.endswith("b.ics") for path in whole.etags)


def test_nothing_is_overwritten_or_removed_unseen(server: CalendarServer):
    url, path = server.address.url, f"{COLLECTION}c.ics"
    put(server, "c.ics")
    data = server.objects()["c.ics"].encode()
    for write in (
        lambda client: client.create(url, path, data),
        lambda client: client.replace(url, path, data, etag='"old"'),
        lambda client: client.remove(url, path, etag='"old"'),
    ):
        with pytest.raises(ConflictError):
            asked(server.address, write)
    assert "c.ics" in server.objects()
