"""A message longer than anybody writes holds up nobody else."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from live_household import live_system

NOW = datetime(2026, 3, 2, 15, tzinfo=UTC)
JOBS = "I'll take Leo to soccer on Tuesday at 4pm. Can you get Mia from ballet Thursday at 5? "
MOST_PARTS = 12


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

        async def others() -> None:
            for _ in range(20):
                await asyncio.sleep(0.001)

        async def story() -> None:
            beside = asyncio.ensure_future(others())
            reading = asyncio.ensure_future(understanding.prepare(loaded))
            ended, _ = await asyncio.wait([beside, reading], return_when=asyncio.FIRST_COMPLETED)
            assert beside in ended, "others had to wait until it was read"
            assert len((await reading).parts) == MOST_PARTS

        asyncio.run(story())
