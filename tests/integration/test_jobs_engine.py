"""The job engine on a real file: retries, hand-back, limits, and what it may read and print."""

import asyncio
import base64
import json
import os
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_socket
import structlog
from sqlalchemy import Connection, event, insert, text

from kinkeeper.core.errors import ConflictError, InputError, InvariantError, UnavailableError
from kinkeeper.core.time import SystemClock, VirtualClock
from kinkeeper.jobs import leases
from kinkeeper.jobs.engine import JobEngine
from kinkeeper.jobs.job import Handler, Job
from kinkeeper.jobs.leases import Key, RetryLadder, WorkState
from kinkeeper.jobs.queue import JobQueue
from kinkeeper.store.locks import runner_lock
from kinkeeper.store.store import Store
from work_rows import WorkRows, work

pytestmark = pytest.mark.slow

AT_ONCE = RetryLadder(delays=(timedelta(milliseconds=1),) * 3)
PRIVATE = "the doctor said something private"


class House(WorkRows):
    """A store with one table of work, and engines that run it."""

    def __init__(self, path: Path) -> None:
        super().__init__(Store.open(str(path)))
        self.queue = JobQueue(self.store)

    def close(self) -> None:
        self.queue.close()
        self.store.close()

    def put(self, *names: str) -> None:
        def enqueue(conn: Connection) -> None:
            for name in names:
                due_at = SystemClock().now()
                conn.execute(insert(work), {"household": "h", "id": name, "due_at": due_at})
                self.queue.enqueue(conn, "note.read", ("h", name))

        self.store.write_now(enqueue)

    def engine(self, handler: Handler, **options: Any) -> JobEngine:
        lease = options.pop("lease", timedelta(minutes=5))
        is_awaited = options.pop("is_awaited", False)
        job = Job(name="note.read", table=work, handler=handler, lease=lease, is_awaited=is_awaited)
        defaults: dict[str, Any] = {
            "workers": 4,
            "ladder": AT_ONCE,
            "poll_every": timedelta(milliseconds=50),
            "clock": SystemClock(),
        }
        return JobEngine(self.store, self.queue, [job], **(defaults | options))

    @asynccontextmanager
    async def until(self, engine: JobEngine, **states: WorkState) -> AsyncIterator[None]:
        async with engine.running(), asyncio.timeout(30):
            while any(self.row(name).state != state for name, state in states.items()):
                await asyncio.sleep(0.02)
            yield

    def run(
        self, handler: Handler, *, options: dict[str, Any] | None = None, **states: WorkState
    ) -> None:
        async def scenario() -> None:
            async with self.until(self.engine(handler, **(options or {})), **states):
                pass

        asyncio.run(scenario())


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "family.db")
    yield made
    made.close()


def raising(error: Exception) -> tuple[list[int], Callable[[Key, int], Awaitable[None]]]:
    epochs: list[int] = []

    async def handler(_key: Key, epoch: int) -> None:
        epochs.append(epoch)
        raise error

    return epochs, handler


def test_the_lock_is_held_until_the_store_has_written_its_last(house: House) -> None:
    async def nothing(_key: Key, _epoch: int) -> None:
        pass

    async def start_and_stop(held: ExitStack) -> None:
        async with house.engine(nothing, lock_held_in=held).running():
            pass

    address = str(house.store.url.database)
    with ExitStack() as held:
        asyncio.run(start_and_stop(held))
        with pytest.raises(ConflictError), runner_lock(address):
            pass
        assert Path(f"{address}.lock").read_text() == str(os.getpid())
        house.store.close()
    with runner_lock(address):
        pass


def test_work_that_fails_is_tried_three_times_more_and_then_shown_to_a_person(house: House) -> None:
    house.put("a")
    epochs, handler = raising(ValueError(PRIVATE))
    with structlog.testing.capture_logs() as logged:
        house.run(handler, a=WorkState.MANUAL_REVIEW)
    assert epochs == [1, 2, 3, 4]
    row = house.row("a")
    assert (row.attempt, row.failures) == (4, 4)
    assert row.error.startswith("ValueError at test_jobs_engine.py:")
    assert [entry["event"] for entry in logged] == ["jobs.job.failed"] * 3 + ["jobs.job.gave_up"]
    assert PRIVATE not in json.dumps(logged, default=str)


def test_an_error_of_ours_keeps_its_message(house: House) -> None:
    house.put("a")
    _, handler = raising(InputError("write a date like 2026-03-03"))
    house.run(handler, options={"ladder": RetryLadder(delays=())}, a=WorkState.MANUAL_REVIEW)
    assert house.row("a").error == "InputError: write a date like 2026-03-03"


def test_an_outage_is_waited_for_and_blamed_on_no_work(house: House) -> None:
    house.put("a")
    tries = 0

    async def handler(key: Key, epoch: int) -> None:
        nonlocal tries
        tries += 1
        if tries <= 8:
            raise UnavailableError("the disk is full; make room")
        await house.finish(key, epoch)

    often = timedelta(milliseconds=20)
    with structlog.testing.capture_logs() as logged:
        house.run(handler, options={"reconcile_every": often}, a=WorkState.DONE)
    row = house.row("a")
    assert (tries, row.begun, row.failures) == (9, 1, 0)
    assert [entry["event"] for entry in logged].count("jobs.job.postponed") == 8


def test_a_row_waits_for_its_next_try_as_long_as_the_ladder_says(house: House) -> None:
    house.put("a")
    epochs, handler = raising(ValueError())

    async def scenario() -> None:
        async with house.engine(handler, ladder=RetryLadder()).running(), asyncio.timeout(30):
            while house.row("a").failures == 0:
                await asyncio.sleep(0.02)
            await asyncio.sleep(1.5)

    started = SystemClock().now()
    asyncio.run(scenario())
    row = house.row("a")
    assert (row.state, row.attempt, epochs) == ("queued", 2, [1])
    assert timedelta(seconds=30) <= row.due_at - started < timedelta(seconds=40)
    waiting = house.queue.waiting(["note.read:h/a:2"])
    assert waiting["note.read:h/a:2"].status == "DELAYED"


def test_handlers_that_forget_the_row_or_run_too_long_have_failed(house: House) -> None:
    house.put("forgets", "hangs")

    async def handler(key: Key, _epoch: int) -> None:
        if key[1] == "hangs":
            await asyncio.sleep(60)

    once = {"ladder": RetryLadder(delays=()), "lease": timedelta(milliseconds=200)}
    review = WorkState.MANUAL_REVIEW
    house.run(handler, options=once, forgets=review, hangs=review)
    assert "without finishing" in house.row("forgets").error
    assert house.row("hangs").error.startswith("TimeoutError")


def test_no_more_handlers_run_than_there_are_workers(house: House) -> None:
    names = [f"n{number}" for number in range(20)]
    house.put(*names)
    running, most = 0, 0

    async def handler(key: Key, epoch: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        await house.finish(key, epoch)

    house.run(handler, options={"workers": 3}, **dict.fromkeys(names, WorkState.DONE))
    assert most == 3


def test_work_that_somebody_waits_for_needs_no_free_worker(house: House) -> None:
    house.put("asked", "asked too")
    both = asyncio.Event()
    running: set[str] = set()

    async def handler(key: Key, epoch: int) -> None:
        running.add(key[1])
        if len(running) == 2:
            both.set()
        await both.wait()
        await house.finish(key, epoch)

    done = WorkState.DONE
    options = {"workers": 1, "is_awaited": True}
    house.run(handler, options=options, **{"asked": done, "asked too": done})


def test_waiting_long_for_a_free_worker_costs_no_attempt(house: House) -> None:
    house.put("first", "second", "third")
    clock = VirtualClock(SystemClock().now())

    async def slow(key: Key, epoch: int) -> None:
        for _ in range(20):
            clock.advance_to(clock.now() + timedelta(minutes=1))
            await asyncio.sleep(0.04)
        await house.finish(key, epoch)

    day, often = timedelta(days=1), timedelta(milliseconds=20)
    options = {"workers": 1, "clock": clock, "lease": day, "reconcile_every": often}
    done = WorkState.DONE
    house.run(slow, options=options, first=done, second=done, third=done)
    assert [house.row(name).attempt for name in ("first", "second", "third")] == [1, 1, 1]


def test_stopping_hands_work_back_and_the_next_start_takes_it_up_at_once(house: House) -> None:
    house.put("a")
    begun: list[int] = []

    async def endless(_key: Key, epoch: int) -> None:
        begun.append(epoch)
        await asyncio.sleep(60)

    async def scenario() -> None:
        engine = house.engine(endless, grace=timedelta(milliseconds=50))
        async with engine.running(), asyncio.timeout(30):
            while not begun:
                await asyncio.sleep(0.02)

    asyncio.run(scenario())
    row = house.row("a")
    assert (row.state, row.attempt, row.failures) == ("queued", 1, 0)
    house.run(house.finish, a=WorkState.DONE)
    assert (house.row("a").attempt, house.row("a").epoch) == (1, 2)


def test_stopping_lets_short_work_finish(house: House) -> None:
    house.put("a")
    begun = asyncio.Event()

    async def short(key: Key, epoch: int) -> None:
        begun.set()
        await asyncio.sleep(0.3)
        await house.finish(key, epoch)

    async def scenario() -> None:
        async with house.engine(short).running(), asyncio.timeout(30):
            await begun.wait()

    asyncio.run(scenario())
    assert house.row("a").state == "done"


def test_what_a_dead_runner_had_claimed_is_taken_up_at_the_next_start(house: House) -> None:
    house.put("a")
    hour = timedelta(hours=1)
    now = SystemClock().now()
    house.store.write_now(lambda c: leases.claim(c, work, ("h", "a"), now=now, lease=hour))
    house.run(house.finish, a=WorkState.DONE)
    assert house.row("a").attempt == 2


def test_one_runner_a_file_and_one_engine_a_process(house: House, tmp_path: Path) -> None:
    async def start(engine: JobEngine) -> None:
        async with engine.running():
            pass

    async def scenario() -> None:
        async with house.engine(house.finish).running():
            with pytest.raises(InvariantError, match="already running jobs"):
                await start(house.engine(house.finish))
            with pytest.raises(ConflictError), runner_lock(str(tmp_path / "family.db")):
                pytest.fail("two runners")

    asyncio.run(scenario())
    with runner_lock(str(tmp_path / "family.db")), pytest.raises(ConflictError, match="process"):
        asyncio.run(start(house.engine(house.finish)))


def test_names_and_numbers_that_stored_jobs_depend_on_never_change(house: House) -> None:
    house.put("a")
    house.run(house.finish, a=WorkState.DONE)
    stored = house.store.read_now(
        lambda conn: conn.execute(
            text(
                "SELECT workflow_uuid, name, queue_name, application_version, application_name,"
                " executor_id, serialization, status FROM workflow_status"
            )
        ).one()
    )
    assert tuple(stored) == (
        "note.read:h/a:1",
        "note.read",
        "kinkeeper",
        "1",
        "kinkeeper",
        "embedded",
        "kinkeeper_json",
        "SUCCESS",
    )
    inputs = house.store.read_now(
        lambda conn: conn.execute(text("SELECT inputs FROM workflow_input")).scalar_one()
    )
    assert json.loads(inputs) == {"args": ["h/a", 1], "kwargs": {}}


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_a_pickled_payload_in_the_database_is_never_opened(house: House, tmp_path: Path) -> None:
    fuse = tmp_path / "exploded"
    house.put("a")
    bomb = base64.b64encode(pickle.dumps({"args": (Bomb(fuse),), "kwargs": {}})).decode()

    def plant(conn: Connection) -> None:
        conn.execute(text("UPDATE workflow_input SET inputs = :bomb"), {"bomb": bomb})
        conn.execute(text("UPDATE workflow_status SET serialization = 'py_pickle'"))

    house.store.write_now(plant)
    clock = VirtualClock(SystemClock().now())
    often = timedelta(milliseconds=50)

    async def scenario() -> None:
        engine = house.engine(house.finish, clock=clock, reconcile_every=often)
        async with engine.running(), asyncio.timeout(30):
            while house.row("a").state != "done":
                clock.advance_to(clock.now() + timedelta(seconds=30))
                await asyncio.sleep(0.05)

    with structlog.testing.capture_logs() as logged:
        asyncio.run(scenario())
    assert not fuse.exists()
    assert any("pickled" in entry.get("detail", "") for entry in logged)
    assert house.row("a").attempt == 2


def test_nothing_is_printed_and_nothing_is_sent(
    house: House, capfd: pytest.CaptureFixture[str]
) -> None:
    house.put("a")
    pytest_socket.disable_socket(allow_unix_socket=True)
    try:
        house.run(house.finish, a=WorkState.DONE)
    finally:
        pytest_socket.enable_socket()
    assert capfd.readouterr() == ("", "")


def test_an_idle_engine_never_looks_into_queues_that_are_not_used(house: House) -> None:
    asked: list[str] = []

    async def scenario() -> None:
        async with house.engine(house.finish, poll_every=timedelta(milliseconds=200)).running():
            await asyncio.sleep(0.5)
            event.listen(
                house.queue.engine,
                "before_cursor_execute",
                lambda _conn, _cursor, _sql, parameters, *_: asked.append(str(parameters)),
            )
            await asyncio.sleep(2.5)

    asyncio.run(scenario())
    assert any("'kinkeeper'" in each for each in asked)
    assert not any("_dbos_internal_queue" in each for each in asked)


def test_work_left_by_the_process_itself_is_begun_at_once(house: House) -> None:
    never = timedelta(hours=1)

    async def scenario() -> None:
        async with house.engine(house.finish, poll_every=never).running():
            for name in ("a", "b", "c"):
                await asyncio.to_thread(house.put, name)
                async with asyncio.timeout(20):
                    while house.row(name).state != WorkState.DONE:
                        await asyncio.sleep(0.02)

    asyncio.run(scenario())
