"""Whoever listens to a thread hears what any process told in it, and only in that thread."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from kinkeeper.conversation.events import Streams
from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.threads import Thread, open_thread
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.store.store import Store
from talking import on_a_loop

NOW = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
HOME = "home"
ANN, BOB = (Member(id=name, name=name.title(), role=Role.PARENT) for name in ("ann", "bob"))
HOUSE = Household(
    id=HOME, zone=ZoneInfo("UTC"), locale="en", bot_name="Icarus", owner="ann", members=(ANN, BOB)
)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


@pytest.fixture
def elsewhere(here: Store) -> Iterator[Store]:
    """The same database as another process has it: nothing that it commits is signalled here."""
    with Store.open(str(here.url.database)) as opened:
        yield opened


def thread(name: str) -> Thread:
    return Thread(
        household=HOME,
        id=name,
        member="ann",
        channel="web",
        chat_id=None,
        created_at=NOW,
        last_at=NOW,
    )


def told(conn: Connection, name: str, text: str) -> None:
    open_thread(conn, thread(name))
    assert post_to_thread(conn, HOME, name, text, key=text, now=NOW)


async def texts(heard: AsyncIterator[TurnEvent], count: int) -> list[str]:
    """Return what so many turns told."""
    found: list[str] = []
    async with asyncio.timeout(30):
        while len(found) < count:
            event = await anext(heard)
            if event.name is EventName.DONE:
                found.append(event.data["text"])
    return found


@on_a_loop
async def test_what_another_process_tells_is_heard_by_those_it_concerns(
    here: Store, elsewhere: Store
) -> None:
    for name in ("mine", "other"):
        here.write_now(lambda conn, name=name: told(conn, name, "first"))  # type: ignore[misc]
    streams = Streams(here, HOUSE)
    async with (
        aclosing(streams.events(ANN, "mine", after=0, turn_id=None)) as mine,
        aclosing(streams.events(ANN, "other", after=0, turn_id=None)) as other,
    ):
        assert await texts(mine, 1) == await texts(other, 1) == ["first"]
        waiting = asyncio.ensure_future(anext(other))
        await elsewhere.write(lambda conn: told(conn, "mine", "second"))
        assert await texts(mine, 1) == ["second"]
        await elsewhere.write(lambda conn: told(conn, "mine", "third"))
        await here.write(lambda conn: told(conn, "mine", "fourth"))
        assert await texts(mine, 2) == ["third", "fourth"]
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await streams.close()


@on_a_loop
async def test_looking_for_other_processes_ends_with_the_last_listener(here: Store) -> None:
    here.write_now(lambda conn: told(conn, "mine", "first"))
    streams, before = Streams(here, HOUSE), asyncio.all_tasks()
    async with aclosing(streams.events(ANN, "mine", after=0, turn_id=None)) as mine:
        assert await texts(mine, 1) == ["first"]
        looking = asyncio.all_tasks() - before
        assert len(looking) == 1
    async with asyncio.timeout(30):
        await asyncio.gather(*looking)


@on_a_loop
async def test_nobody_hears_a_thread_of_somebody_else(here: Store) -> None:
    here.write_now(lambda conn: told(conn, "mine", "first"))
    with pytest.raises(NotFoundError):
        await anext(Streams(here, HOUSE).events(BOB, "mine", after=0, turn_id=None))
