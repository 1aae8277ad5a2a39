"""Whoever waits in this process hears of a commit at once, and only of what they wait for."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.store.commits import CommitWatch, touch
from kinkeeper.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def touching(topic: str, household: str = "one"):
    return lambda conn: touch(conn, topic, household)


async def heard(watch: CommitWatch) -> bool:
    return await watch.wait(0.05)


def test_a_commit_wakes_those_who_wait_for_it_and_nobody_else(store: Store) -> None:
    async def scenario() -> None:
        with store.watch(("outbox", "one")) as mine, store.watch(("outbox", "two")) as other:
            await store.write(touching("outbox"))
            assert await heard(mine)
            assert not await heard(mine), "once is enough"
            await store.write(touching("messages"))
            assert not await heard(mine)
            await asyncio.to_thread(store.write_now, touching("outbox"))
            assert await heard(mine)
            assert not await heard(other)

    asyncio.run(scenario())


def test_it_is_heard_only_after_the_commit_and_not_of_what_was_undone(store: Store) -> None:
    def fails(conn: Connection) -> None:
        touch(conn, "outbox", "one")
        raise ZeroDivisionError

    async def scenario() -> None:
        with store.watch(("outbox", "one")) as watch:
            with pytest.raises(ZeroDivisionError):
                await asyncio.to_thread(store.write_now, fails)
            assert not await heard(watch)
            with pytest.raises(ZeroDivisionError):
                await store.write(fails)
            await asyncio.gather(*(store.write(touching("outbox")) for _ in range(50)))
            assert await heard(watch)

    asyncio.run(scenario())


def test_who_lets_answers_go_first_hears_of_it_a_moment_later(store: Store) -> None:
    async def scenario() -> None:
        topic = ("outbox", "one")
        with (
            store.watch(topic) as answering,
            store.watch(topic, after=timedelta(seconds=0.2)) as tidying,
        ):
            await store.write(touching("outbox"))
            assert await heard(answering)
            assert not await heard(tidying)
            assert await tidying.wait(10)
            assert not await heard(tidying), "once is enough"

    asyncio.run(scenario())


def test_a_watch_that_has_ended_is_left_alone(store: Store) -> None:
    async def scenario() -> None:
        with store.watch(("outbox", "one")) as watch:
            pass
        await store.write(touching("outbox"))
        assert not await heard(watch)

    asyncio.run(scenario())
    store.write_now(touching("outbox"))


def test_a_watch_can_be_woken_by_hand(store: Store) -> None:
    async def scenario() -> None:
        with store.watch() as watch:
            watch.wake()
            watch.wake()
            assert await heard(watch)

    asyncio.run(scenario())
