"""A process that sends a household's digests at six, together with others: begins when it is told to.

Not a test itself. Writes how many digests it sent.
"""

import asyncio
import sys
from datetime import datetime

from kinkeeper.bootstrap.digests import DigestPost
from kinkeeper.core.time import VirtualClock
from kinkeeper.digest.content import DigestRounds
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.store.store import Store
from pending_samples import FAMILY, ZONE

SIX = datetime(2026, 5, 11, 18, 0, tzinfo=ZONE)
READY = "ready"


def main(address: str) -> None:
    quiet_hours = QuietHours.parse("22:00-07:00", ZONE)
    with Store.open(address) as opened:
        rounds = DigestRounds(
            opened.locking(FAMILY.id),
            FAMILY,
            quiet_hours=quiet_hours,
            clock=VirtualClock(SIX),
            deliver=DigestPost(FAMILY, quiet_hours, address=None),
            is_quiet=lambda _conn, _now: False,
        )
        _tell(READY)
        sys.stdin.readline()
        _tell(asyncio.run(rounds.run_once()))


def _tell(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
