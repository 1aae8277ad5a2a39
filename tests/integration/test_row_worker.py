"""Rows worked off without the engine's queue: in their order, again where they failed, never twice at once."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, update

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.jobs import leases
from kinkeeper.jobs.job import Handler, Job, Pace, RowWorker
from kinkeeper.jobs.leases import Key, LeaseLostError, WorkState
from kinkeeper.store.commits import touch
from kinkeeper.store.store import Store
from work_rows import WorkRows, work

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
TOPIC = "chores"


class House(WorkRows):
    """A store with one table of work, and what was done in it."""

    def __init__(self, path: Path) -> None:
        super().__init__(Store.open(str(path)))
        self.clock = VirtualClock(NOW)
        self.done: list[str] = []

    def put(self, *names: str, due_at: datetime = NOW, household: str = "h") -> None:
        def write(conn: Connection) -> None:
            for number, name in enumerate(names):
                due = due_at + timedelta(seconds=number - len(names))
                row = {"household": household, "id": name, "due_at": due}
                conn.execute(insert(work), row)
            touch(conn, TOPIC, household)

        self.store.write_now(write)

    async def finish(self, key: Key, epoch: int) -> None:
        await super().finish(key, epoch)
        self.done.append(key[1])

    def worker(self, handler: Handler | None = None, **more: Any) -> RowWorker:
        job = Job(name="chore", table=work, handler=handler or self.finish, household="h", **more)
        return RowWorker(self.store, job, topic=(TOPIC, "h"), clock=self.clock, pace=Pace())

    def go_over(self, worker: RowWorker) -> int:
        return asyncio.run(worker.run_once())


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "family.db")
    yield made
    made.store.close()


def failing(error: BaseException) -> Handler:
    async def handler(_key: Key, _epoch: int) -> None:
        raise error

    return handler


def test_what_is_due_is_done_longest_due_first_and_nothing_else(house: House) -> None:
    house.put("b", "a")
    house.put("later", due_at=NOW + timedelta(hours=1))
    house.put("theirs", household="other")
    assert house.go_over(house.worker()) == 2
    assert house.done == ["b", "a"]
    assert house.row("theirs").state == WorkState.QUEUED
    house.clock.advance_to(NOW + timedelta(hours=1))
    house.go_over(house.worker())
    assert house.done == ["b", "a", "later"]


def test_only_the_first_of_a_line_is_taken(house: House) -> None:
    house.put("a", "b")

    def line(_conn: Connection, key: Key, _now: datetime) -> Key:
        return (key[0], "b")

    assert house.go_over(house.worker(line=line)) == 1
    assert house.done == ["b"]


def test_what_fails_waits_as_the_ladder_says_and_goes_to_a_person_in_the_end(house: House) -> None:
    house.put("a")
    worker = house.worker(failing(ValueError("something private")))
    waits = []
    for _ in range(6):
        house.go_over(worker)
        row = house.row("a")
        if row.state == WorkState.MANUAL_REVIEW:
            break
        waits.append((row.due_at - house.clock.now()).total_seconds())
        assert house.go_over(worker) == 0, "it waits"
        house.clock.advance_to(row.due_at)
    assert waits == [30, 120, 300]
    assert house.row("a").state == WorkState.MANUAL_REVIEW
    assert "private" not in house.row("a").error


def test_an_outage_is_blamed_on_no_work(house: House) -> None:
    house.put("a")
    with pytest.raises(UnavailableError):
        house.go_over(house.worker(failing(UnavailableError("away"))))
    row = house.row("a")
    assert (row.state, row.failures, row.begun) == (WorkState.QUEUED, 0, 0)
    house.go_over(house.worker())
    assert house.done == ["a"]


def test_what_was_begun_too_often_goes_to_a_person(house: House) -> None:
    house.put("a")
    house.store.write_now(lambda conn: conn.execute(update(work).values(begun=5)))
    assert house.go_over(house.worker()) == 0
    assert house.row("a").state == WorkState.MANUAL_REVIEW
    assert house.done == []


def test_work_of_a_process_that_died_is_taken_up_at_the_start(house: House) -> None:
    house.put("a")
    lease = timedelta(minutes=5)
    house.store.write_now(lambda conn: leases.claim(conn, work, ("h", "a"), now=NOW, lease=lease))
    assert house.go_over(house.worker()) == 0, "somebody holds it"
    asyncio.run(until_done(house, 1))
    assert house.done == ["a"]


def test_it_hears_of_commits_and_hands_back_what_is_cut_off(house: House) -> None:
    async def scenario() -> None:
        begun = asyncio.Event()

        async def endless(_key: Key, _epoch: int) -> None:
            begun.set()
            await asyncio.Event().wait()

        running = asyncio.create_task(house.worker(endless).run())
        await asyncio.sleep(0)
        await asyncio.to_thread(house.put, "a")
        await asyncio.wait_for(begun.wait(), 10)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(scenario())
    row = house.row("a")
    assert (row.state, row.begun) == (WorkState.QUEUED, 0)


def test_a_claim_that_was_lost_leaves_the_row_to_whoever_has_it(house: House) -> None:
    house.put("a")
    assert house.go_over(house.worker(failing(LeaseLostError("taken")))) == 1
    assert house.row("a").failures == 0


async def until_done(house: House, count: int) -> None:
    running = asyncio.create_task(house.worker().run())
    async with asyncio.timeout(10):
        while len(house.done) < count:
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
