"""A process to be killed: writes rows with their dispatches, or runs the jobs. Not a test itself."""

import asyncio
import sys
from datetime import timedelta

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, insert

from kinkeeper.core.time import SystemClock
from kinkeeper.jobs import leases
from kinkeeper.jobs.engine import JobEngine
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, RetryLadder
from kinkeeper.jobs.queue import JobQueue
from kinkeeper.store.store import Store

JOB = "note.read"

metadata = MetaData()
work = Table(
    "work",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    *leases.work_columns(),
)
# No unique key: an effect that is written twice must show.
effects = Table(
    "effects", metadata, Column("number", Integer, primary_key=True), Column("id", String)
)


def put(queue: JobQueue, conn: Connection, name: str) -> None:
    """Insert a row and enqueue its work, in the caller's transaction."""
    values = {"household": "h", "id": name, "due_at": SystemClock().now()}
    conn.execute(insert(work), values)
    queue.enqueue(conn, JOB, ("h", name))


async def ingest(store: Store, queue: JobQueue, prefix: str) -> None:
    """Write rows as fast as they are acknowledged, eight at a time, and print each acknowledged one."""

    async def one_after_another(lane: int) -> None:
        number = 0
        while True:
            name = f"{prefix}-{lane}-{number}"
            await store.write(lambda conn, name=name: put(queue, conn, name))  # type: ignore[misc]  # the loop's value
            print(name, flush=True)
            number += 1

    await asyncio.gather(*(one_after_another(lane) for lane in range(8)))


async def run_jobs(store: Store, queue: JobQueue) -> None:
    """Run the jobs until killed; print a dot for each effect."""

    async def read(key: Key, epoch: int) -> None:
        await asyncio.sleep(0.05)  # long enough that a kill finds others at work

        def effect(conn: Connection) -> None:
            conn.execute(insert(effects), {"id": key[1]})
            leases.finish(conn, work, key, epoch)

        await store.write(effect)
        print(".", flush=True)

    engine = JobEngine(
        store,
        queue,
        [Job(name=JOB, table=work, handler=read)],
        clock=SystemClock(),
        workers=4,
        ladder=RetryLadder(attempts=100),
        poll_every=timedelta(milliseconds=50),
        reconcile_every=timedelta(seconds=1),
    )
    async with engine.running():
        await asyncio.Event().wait()


def main() -> None:
    """Do what the arguments say: FILE ingest PREFIX | FILE run."""
    store = Store.open(sys.argv[1])
    store.write_now(metadata.create_all)
    queue = JobQueue(store)
    print("ready", flush=True)
    if sys.argv[2] == "ingest":
        asyncio.run(ingest(store, queue, sys.argv[3]))
    else:
        asyncio.run(run_jobs(store, queue))


if __name__ == "__main__":
    main()
