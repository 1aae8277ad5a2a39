"""A process to be killed: the server of the sample household on the time of the talk. Not a test itself.

A message counts as received when it was sent, and for the workers it is the end of the talk: so what is left
does not depend on when a kill hits.
"""

import asyncio
import socket
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime

import uvicorn
from sqlalchemy import Connection

from kinkeeper.bootstrap import Houses
from kinkeeper.bootstrap.telegram import Connected
from kinkeeper.bootstrap.web import web_context
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import SystemClock, VirtualClock
from kinkeeper.observer.intake import Intake, Received
from kinkeeper.web.app import create_app
from live_household import live_system
from observer_process import PACE, tell

WORKERS, ALONE = "workers", "alone"


@dataclass(frozen=True, slots=True)
class _AsSent:
    """Tier 1 on the time of the talk."""

    intake: Intake

    def receive(self, conn: Connection, message: InboundMessage, *, now: datetime) -> Received:
        return self.intake.receive(conn, message, now=message.sent_at)


async def serve(
    houses: Houses, intakes: dict[str, Intake], end: datetime, *, has_workers: bool
) -> None:
    """Serve until killed; say where."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port, clock = listener.getsockname()[1], SystemClock()
        context = web_context(
            houses,
            intakes,
            houses.settings,
            port=port,
            clock=clock,
            working=asyncio.Event(),
            telegram=Connected(),
            talks={key: system.talk(clock) for key, system in houses.by_id.items()},
        )
        config = uvicorn.Config(
            create_app(context), http="httptools", ws="none", lifespan="off", log_config=None
        )
        async with AsyncExitStack() as held:
            if has_workers:
                await held.enter_async_context(houses.working(clock=VirtualClock(end), pace=PACE))
            tell(f"http://127.0.0.1:{port}")
            await uvicorn.Server(config).serve([listener])


def main() -> None:
    """Do what the arguments say: DATABASE END WORKERS|ALONE SETTING=NUMBER..."""
    database, end, who = sys.argv[1:4]
    settings = dict(each.split("=") for each in sys.argv[4:])
    with live_system(database, **settings) as system:
        houses = Houses.of(system)
        with houses.live_intakes(refuses_chats=False) as intakes:
            timed = {household: _AsSent(intake) for household, intake in intakes.items()}
            serving = serve(
                houses,
                timed,
                datetime.fromisoformat(end),
                has_workers=who == WORKERS,  # type: ignore[arg-type]  # called as one
            )
            asyncio.run(serving)


if __name__ == "__main__":
    main()
