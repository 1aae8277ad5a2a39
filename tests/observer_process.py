"""A process to be killed: understands what was taken in of the sample household. Not a test itself."""

import asyncio
import sys
from datetime import datetime, timedelta

from sqlalchemy import func, select

from kinkeeper.bootstrap import Houses, System
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Member
from kinkeeper.jobs.job import Pace
from kinkeeper.jobs.leases import RetryLadder
from kinkeeper.observer.model import Extraction
from kinkeeper.observer.settling.message_reader import RulesExtractor
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants
from live_household import live_system

HELD = "held"
WORKS = "works"
PACE = Pace(
    ladder=RetryLadder(attempts=100),
    poll_every=timedelta(milliseconds=50),
    reconcile_every=timedelta(seconds=1),
    upkeep_every=timedelta(milliseconds=50),
)


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class TellingExtractor(RulesExtractor):
    """Tells a dot whenever it reads a message, so that a test knows when to kill."""

    async def extract(
        self, reading: Reading, *, sender: Member | None, participants: Participants
    ) -> Extraction:
        tell(".")
        return await super().extract(reading, sender=sender, participants=participants)


async def work(system: System, now: datetime) -> None:
    """Run the workers until killed; say when they run, and when nothing is left to do."""
    unfinished = select(func.count()).where(observer_messages.c.state.in_(["queued", "running"]))
    async with Houses.of(system).working(
        clock=VirtualClock(now), extractor=TellingExtractor(), pace=PACE
    ):
        tell(WORKS)
        while True:
            await asyncio.sleep(0.2)
            if await system.store.read(lambda conn: conn.execute(unfinished).scalar_one()) == 0:
                tell("idle")


def main() -> None:
    """Do what the arguments say: DATABASE NOW SETTING=NUMBER... Begins when it reads a line."""
    settings = dict(each.split("=") for each in sys.argv[3:])
    with live_system(sys.argv[1], **settings) as system:
        tell(HELD)
        sys.stdin.readline()
        asyncio.run(work(system, datetime.fromisoformat(sys.argv[2])))


if __name__ == "__main__":
    main()
