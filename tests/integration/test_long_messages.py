"""A message longer than anybody writes holds up nobody else."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import process_time, thread_time
from typing import TypeVar

import pytest
from sqlalchemy import Connection

from growth import TRIES, without_collections
from kinkeeper.bootstrap import System
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from kinkeeper.store.store import Store
from live_household import live_system

T = TypeVar("T")
NOW = datetime(2026, 3, 2, 15, tzinfo=UTC)
JOBS = "I'll take Leo to soccer on Tuesday at 4pm. Can you get Mia from ballet Thursday at 5? "
MOST_PARTS = 12
LONGEST_SHARE = 0.2
LOOK_EVERY = 0.002
"""Seconds between two looks; to look without a pause takes the processor from the work that is measured."""


async def longest_stretch(work: asyncio.Future[object]) -> float:
    """Return the most CPU time, in seconds, that the loop's thread spent before anybody else had a turn."""
    longest, before = 0.0, thread_time()
    while not work.done():
        await asyncio.wait({work}, timeout=LOOK_EVERY)
        now = thread_time()
        longest, before = max(longest, now - before), now
    return longest


def test_of_endless_jobs_the_first_are_read_while_others_go_on(tmp_path: Path) -> None:
    with live_system(tmp_path / "family.db") as system:
        intake, understanding = (
            system.intake(refuses_chats=False),
            system.understanding(VirtualClock(NOW)),
        )
        said = InboundMessage(
            channel="http",
            chat_id="family",
            message_id="m1",
            sender="sarah",
            text=JOBS * 700,
            sent_at=NOW,
        )
        received = system.store.write_now(lambda conn: intake.receive(conn, said, now=NOW))
        assert received.is_queued
        loaded = system.store.read_now(lambda conn: understanding.load(conn, int(received.row_id)))

        async def share() -> float:
            begun = process_time()
            reading = asyncio.ensure_future(understanding.prepare(loaded))
            longest = await longest_stretch(reading)
            assert len(reading.result().parts) == MOST_PARTS
            return longest / (process_time() - begun)

        with without_collections():
            shares = (asyncio.run(share()) for _ in range(TRIES))
            assert any(each < LONGEST_SHARE for each in shares), (
                "others had to wait until it was read"
            )


def test_little_of_the_work_holds_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[float] = []
    write = Store.write

    async def timed(store: Store, work: Callable[[Connection], T]) -> T:
        def unit(conn: Connection) -> T:
            begun = thread_time()
            try:
                return work(conn)
            finally:
                held.append(thread_time() - begun)

        return await write(store, unit)

    async def story(system: System) -> None:
        replay = system.replay(NOW)
        for number, text in enumerate(("hello", JOBS * 700)):
            said = InboundMessage(
                channel="replay",
                chat_id="family",
                message_id=f"m{number}",
                sender="sarah",
                text=text,
                sent_at=NOW,
            )
            held.clear()
            begun = process_time()
            async for _ in replay.feed(said):
                pass
        assert sum(held) < (process_time() - begun) / 2

    monkeypatch.setattr(Store, "write", timed)
    with live_system(tmp_path / "family.db") as system, without_collections():
        asyncio.run(story(system))
