"""What the queue and the lease functions promise on either database."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Column, Connection, String, Table, func, insert, select, text

from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import SystemClock, VirtualClock
from kinkeeper.jobs import leases
from kinkeeper.jobs.engine import JobEngine
from kinkeeper.jobs.job import Job
from kinkeeper.jobs.leases import Key, LeaseLostError, RetryLadder
from kinkeeper.jobs.queue import JobQueue, Reconciler, dispatch_id, key_of, key_text
from kinkeeper.store.store import Store
from runner_rows import enter
from work_rows import metadata, work

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE = timedelta(minutes=5)

effects = Table(
    "effects",
    metadata,
    Column("household", String(40), primary_key=True),
    Column("id", String(40), primary_key=True),
    Column("epoch", String(10), primary_key=True),
)


@pytest.fixture
def queue(store: Store) -> Iterator[JobQueue]:
    store.write_now(metadata.create_all)
    opened = JobQueue(store)
    yield opened
    opened.close()


def take(conn: Connection, executor: str) -> None:
    """Let every dispatch be taken by a process."""
    schema = "dbos." if conn.dialect.name == "postgresql" else ""
    taken = f"UPDATE {schema}workflow_status SET status = 'PENDING', executor_id = :executor"  # noqa: S608 - our own
    conn.execute(text(taken), {"executor": executor})


def put(conn: Connection, key: Key, due_at: datetime = NOW) -> None:
    conn.execute(insert(work), {"household": key[0], "id": key[1], "due_at": due_at})


def states(conn: Connection) -> dict[str, int]:
    rows = conn.execute(select(work.c.state, func.count()).group_by(work.c.state))
    return {row[0]: row[1] for row in rows}


async def do_nothing(key: Key, epoch: int) -> None:
    raise AssertionError


JOB = Job(name="note.read", table=work, handler=do_nothing)


def test_keys_and_dispatches_have_one_stable_text() -> None:
    key = ("müller/berlin", "a:b%c")
    assert key_of(key_text(key)) == key
    assert dispatch_id("note.read", ("miller", "m-1"), 2) == "note.read:miller/m-1:2"


def test_a_row_and_its_dispatch_are_there_together_or_not_at_all(
    store: Store, queue: JobQueue
) -> None:
    def enqueue(conn: Connection, key: Key) -> None:
        put(conn, key)
        queue.enqueue(conn, "note.read", key)

    def enqueue_and_fail(conn: Connection) -> None:
        enqueue(conn, ("h", "undone"))
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        store.write_now(enqueue_and_fail)
    store.write_now(lambda conn: enqueue(conn, ("h", "kept")))
    ids = [dispatch_id("note.read", ("h", name), 1) for name in ("undone", "kept")]
    assert {id_: each.status for id_, each in queue.waiting(ids).items()} == {ids[1]: "ENQUEUED"}
    assert store.read_now(states) == {"queued": 1}


def test_enqueueing_the_same_dispatch_again_changes_nothing(store: Store, queue: JobQueue) -> None:
    for _ in range(3):
        store.write_now(lambda conn: queue.enqueue(conn, "note.read", ("h", "a")))
    assert len(queue.waiting([dispatch_id("note.read", ("h", "a"), 1)])) == 1


def test_enqueueing_leaves_the_connection_as_it_was(store: Store, queue: JobQueue) -> None:
    def options(conn: Connection) -> object:
        queue.enqueue(conn, "note.read", ("h", "a"))
        return conn.get_execution_options().get("schema_translate_map")

    assert store.write_now(options) is None


def test_only_ids_go_into_the_queue(store: Store, queue: JobQueue) -> None:
    with pytest.raises(InvariantError, match="ids only"):
        store.write_now(lambda conn: queue.enqueue(conn, "note.read", ("h", "a"), attempt=object()))  # type: ignore[arg-type]  # the point of the test


def test_a_late_worker_writes_nothing(store: Store, queue: JobQueue) -> None:
    key = ("h", "a")

    def claim_at(now: datetime) -> int | None:
        return store.write_now(lambda conn: leases.claim(conn, work, key, now=now, lease=LEASE))

    def effect(conn: Connection, epoch: int) -> None:
        row = {"household": key[0], "id": key[1], "epoch": str(epoch)}
        conn.execute(insert(effects), row)
        leases.finish(conn, work, key, epoch)

    store.write_now(lambda conn: put(conn, key))
    first = claim_at(NOW)
    assert first is not None
    assert claim_at(NOW + LEASE / 2) is None
    second = claim_at(NOW + LEASE)
    assert second is not None
    with pytest.raises(LeaseLostError):
        store.write_now(lambda conn: effect(conn, first))
    store.write_now(lambda conn: effect(conn, second))
    assert store.read_now(lambda c: c.execute(select(effects.c.epoch)).scalars().all()) == [
        str(second)
    ]


def test_many_claimers_one_winner(store: Store, queue: JobQueue) -> None:
    store.write_now(lambda conn: put(conn, ("h", "a")))

    async def race() -> list[int | None]:
        def claim(conn: Connection) -> int | None:
            return leases.claim(conn, work, ("h", "a"), now=NOW, lease=LEASE)

        return await asyncio.gather(*(store.write(claim) for _ in range(4)))

    assert sorted(asyncio.run(race()), key=str) == [1, None, None, None]


class Upkeep:
    """A reconciler with a clock to move."""

    def __init__(self, store: Store, queue: JobQueue) -> None:
        self.store = store
        self.clock = VirtualClock(NOW)
        self.reconciler = Reconciler(
            store, queue, [JOB], clock=self.clock, ladder=RetryLadder(), in_hand=()
        )

    def run(self, after: timedelta) -> int:
        self.clock.advance_to(self.clock.now() + after)
        return asyncio.run(self.reconciler.run_once())

    def row(self, key: Key) -> object:
        return self.store.read_now(
            lambda conn: conn.execute(
                select(work.c.state, work.c.attempt).where(work.c.id == key[1])
            ).one()
        )


@pytest.fixture
def upkeep(store: Store, queue: JobQueue) -> Upkeep:
    return Upkeep(store, queue)


def test_a_row_without_a_dispatch_gets_one(store: Store, queue: JobQueue, upkeep: Upkeep) -> None:
    store.write_now(lambda conn: put(conn, ("h", "a")))
    assert upkeep.run(timedelta(0)) == 1
    assert upkeep.row(("h", "a")) == ("queued", 2)
    assert len(queue.waiting([dispatch_id("note.read", ("h", "a"), 2)])) == 1


def test_work_that_only_waits_its_turn_is_left_alone(
    store: Store, queue: JobQueue, upkeep: Upkeep
) -> None:
    def enqueue(conn: Connection) -> None:
        put(conn, ("h", "a"))
        put(conn, ("h", "b"), NOW + timedelta(hours=9))
        queue.enqueue(conn, "note.read", ("h", "a"))
        queue.enqueue(conn, "note.read", ("h", "b"), delay=timedelta(hours=9))

    store.write_now(enqueue)
    assert [upkeep.run(timedelta(hours=1)) for _ in range(8)] == [0] * 8
    assert upkeep.row(("h", "a")) == upkeep.row(("h", "b")) == ("queued", 1)


def test_a_delayed_dispatch_that_a_wrong_clock_put_off_is_made_again_once_it_had_time(
    store: Store, queue: JobQueue, upkeep: Upkeep
) -> None:
    def enqueue(conn: Connection) -> None:
        put(conn, ("h", "a"))
        queue.enqueue(conn, "note.read", ("h", "a"), delay=timedelta(hours=9))

    store.write_now(enqueue)
    assert [upkeep.run(timedelta(hours=1)) for _ in range(2)] == [0, 1]
    assert upkeep.row(("h", "a")) == ("queued", 2)


def test_a_dispatch_that_another_process_took_gets_time_once(
    store: Store, queue: JobQueue, upkeep: Upkeep
) -> None:
    def enqueue_as_taken(conn: Connection) -> None:
        put(conn, ("h", "a"))
        queue.enqueue(conn, "note.read", ("h", "a"))
        take(conn, "another")
        enter(conn, "another", beat_seconds_ago=0)

    store.write_now(enqueue_as_taken)
    assert [upkeep.run(timedelta(minutes=1)) for _ in range(7)] == [0, 0, 0, 0, 0, 1, 0]
    assert upkeep.row(("h", "a")) == ("queued", 2)


def test_a_dispatch_that_a_dead_process_took_is_lost_at_once(postgres_url: str) -> None:
    with Store.open(postgres_url) as store, closing(JobQueue(store)) as queue:

        def enqueue_as_taken(conn: Connection) -> None:
            metadata.create_all(conn)
            put(conn, ("h", "a"))
            queue.enqueue(conn, "note.read", ("h", "a"))
            take(conn, "dead")
            enter(conn, "dead", beat_seconds_ago=21)

        store.write_now(enqueue_as_taken)
        upkeep = Upkeep(store, queue)
        assert upkeep.run(timedelta(seconds=1)) == 1
        assert upkeep.row(("h", "a")) == ("queued", 2)


def test_work_that_is_not_due_is_left_alone(store: Store, upkeep: Upkeep) -> None:
    store.write_now(lambda conn: put(conn, ("h", "a"), NOW + timedelta(hours=2)))
    assert upkeep.run(timedelta(hours=1)) == 0
    assert upkeep.run(timedelta(hours=1)) == 1


def test_work_whose_process_dies_each_time_ends_with_a_person(store: Store, upkeep: Upkeep) -> None:
    key = ("h", "a")
    store.write_now(lambda conn: put(conn, key))
    for begun in range(1, 6):
        now = upkeep.clock.now()
        epoch = store.write_now(
            lambda conn, now=now: leases.claim(conn, work, key, now=now, lease=LEASE)  # type: ignore[misc]  # the loop's value
        )
        assert epoch == begun
        assert upkeep.run(LEASE / 2) == 0
        assert upkeep.run(LEASE) == 1
    assert upkeep.row(key) == ("manual_review", 5)
    assert upkeep.run(timedelta(days=1)) == 0


def test_finished_dispatches_are_forgotten_after_a_while(store: Store, queue: JobQueue) -> None:
    async def finish(key: Key, epoch: int) -> None:
        await store.write(lambda conn: leases.finish(conn, work, key, epoch))

    async def run() -> None:
        job = Job(name="note.read", table=work, handler=finish)
        poll = timedelta(milliseconds=50)
        engine = JobEngine(store, queue, [job], clock=SystemClock(), workers=2, poll_every=poll)
        async with engine.running(), asyncio.timeout(20):
            while await store.read(states) != {"done": 3}:
                await asyncio.sleep(0.02)

    def enqueue(conn: Connection) -> None:
        for name in "abc":
            put(conn, ("h", name))
            queue.enqueue(conn, "note.read", ("h", name))

    store.write_now(enqueue)
    asyncio.run(run())
    now = SystemClock().now()
    assert queue.delete_finished(now - timedelta(days=7)) == 0
    assert queue.delete_finished(now + timedelta(days=7)) == 3


def test_a_connection_that_comes_back_after_the_end_is_closed(store: Store) -> None:
    opened = JobQueue(store)
    late = opened.engine.connect()
    driver = late.connection.driver_connection
    assert driver is not None
    opened.close()
    driver.execute("SELECT 1")
    late.close()
    with pytest.raises(Exception, match="closed"):
        driver.execute("SELECT 1")
