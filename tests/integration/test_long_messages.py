"""A message longer than anybody writes holds up nobody else."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import process_time, thread_time

from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from live_household import live_system

NOW = datetime(2026, 3, 2, 15, tzinfo=UTC)
JOBS = "I'll take Leo to soccer on Tuesday at 4pm. Can you get Mia from ballet Thursday at 5? "
MOST_PARTS = 12
LONGEST_SHARE = 0.2


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage meanwhile: it would be counted as work of whoever runs."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def longest_stretch(work: asyncio.Future[object]) -> float:
    """Return the most CPU time, in seconds, that the loop's thread spent before anybody else had a turn."""
    longest, before = 0.0, thread_time()
    while not work.done():
        await asyncio.sleep(0)
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
            channel="http", chat_id="family", message_id="m1", sender="sarah",
            text=JOBS * 700, sent_at=NOW,
        )  # fmt: skip
        received = system.store.write_now(lambda conn: intake.receive(conn, said, now=NOW))
        assert received.is_queued
        loaded = system.store.read_now(lambda conn: understanding.load(conn, int(received.row_id)))

        async def story() -> None:
            begun = process_time()
            reading = asyncio.ensure_future(understanding.prepare(loaded))
            longest = await longest_stretch(reading)
            whole = process_time() - begun
            assert longest < whole * LONGEST_SHARE, "others had to wait until it was read"
            assert len(reading.result().parts) == MOST_PARTS

        with without_collections():
            asyncio.run(story())
