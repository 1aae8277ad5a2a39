"""A process to be killed: delivers an outbox to a chat service that is a file. Not a test itself."""

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, select

from kinkeeper.core.time import SystemClock
from kinkeeper.messaging.delivery import Deliverer, DeliveryPace
from kinkeeper.messaging.outbound import Delivered, OutboundState, OutgoingItem
from kinkeeper.messaging.tables import outbox
from kinkeeper.store.store import Store

HOUSE = "vienna"
PACE = DeliveryPace(poll_every=timedelta(milliseconds=50))


class FileChannel:
    """Appends what is shown to a file, as a service far away would: a kill does not undo it."""

    name = "file"

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)

    async def deliver(self, item: OutgoingItem) -> Delivered:
        print(".", flush=True)
        await asyncio.sleep(0.002)
        target = item.target.channel_message_id if item.target else ""
        line = f"{item.chat_id}\t{item.id}\t{item.kind.value}\t{item.body}\t{target}\n"
        os.write(self._file, line.encode())
        await asyncio.sleep(0.002)
        return item.target or Delivered(channel_message_id=f"{item.chat_id}-{item.id}")


async def deliver(store: Store, path: Path) -> None:
    """Deliver until killed; say so when nothing is left to do."""
    channel = FileChannel(path)
    deliverer = Deliverer(
        store, HOUSE, [channel], mint=lambda *_: (), clock=SystemClock(), pace=PACE
    )
    await deliverer.recover()
    async with deliverer.running():
        while True:
            await asyncio.sleep(0.1)
            if not await store.read(_is_waiting):
                print("idle", flush=True)


def _is_waiting(conn: Connection) -> bool:
    states = [OutboundState.QUEUED.value, OutboundState.SENDING.value]
    query = select(outbox.c.id).where(outbox.c.household == HOUSE, outbox.c.state.in_(states))
    return conn.execute(query.limit(1)).first() is not None


def main() -> None:
    """Do what the arguments say: DATABASE FILE."""
    with Store.open(sys.argv[1]) as store:
        asyncio.run(deliver(store, Path(sys.argv[2])))


if __name__ == "__main__":
    main()
