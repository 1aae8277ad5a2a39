"""Units of one household run one after another, in however many processes; those of others do not wait for them.

Two processes and 1,000 units each; LOCK_UNITS asks for more.
"""

import asyncio
import os
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, create_engine, select, text
from sqlalchemy.exc import DBAPIError
from structlog.testing import capture_logs

import random_units
from kinkeeper.bootstrap import Houses
from kinkeeper.core.errors import StoreBusyError, UnavailableError
from kinkeeper.jobs.job import Pace
from kinkeeper.observer.quiet_requests import be_quiet
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store import engines
from kinkeeper.store.locks import lock
from kinkeeper.store.store import Store
from kinkeeper.web.access.model import AccessRole
from live_household import MONDAY
from locked_rows import require_locks
from web_server import ADDRESS, Served, served

UNITS = int(os.environ.get("LOCK_UNITS", "1000"))
HOUSEHOLDS = max(10, UNITS // 100)
PATIENCE = 60
PACE = Pace(
    poll_every=timedelta(milliseconds=50),
    reconcile_every=timedelta(seconds=1),
    upkeep_every=timedelta(milliseconds=50),
)
SCRIPT = Path(random_units.__file__)


def rollbacks(address: str) -> int:
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    query = "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()"
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
        found = connection.execute(text(query)).scalar_one()
    engine.dispose()
    return int(found)


def test_random_units_of_two_processes_have_a_serial_order_in_each_household(
    address: str, store: Store
) -> None:
    store.write_now(lambda conn: random_units.create(conn, HOUSEHOLDS))
    is_server = address.startswith("postgresql")
    before = rollbacks(address) if is_server else 0
    processes = [
        subprocess.Popen(
            [sys.executable, SCRIPT, address, str(seed), str(UNITS), str(HOUSEHOLDS)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for seed in (1, 2)
    ]
    assert [process.wait(timeout=PATIENCE + UNITS) for process in processes] == [0, 0]
    assert store.read_now(random_units.unexplained) == []
    count = text("SELECT count(*) FROM log")
    kept = store.read_now(lambda conn: conn.execute(count).scalar_one())
    assert 0.95 * 2 * UNITS < kept < 2 * UNITS
    if is_server:
        # Two in a hundred units fail by themselves.
        assert rollbacks(address) - before - (2 * UNITS - kept) < 0.01 * 2 * UNITS


def hold(store: Store, begun: threading.Event, end: threading.Event) -> threading.Thread:
    """Hold the lock of a store on a thread until told to end."""

    def work(_: Connection) -> None:
        begun.set()
        assert end.wait(PATIENCE)

    thread = threading.Thread(target=store.write_now, args=(work,))
    thread.start()
    assert begun.wait(PATIENCE)
    return thread


def number(conn: Connection) -> int:
    return int(conn.execute(text("SELECT 1")).scalar_one())


def test_many_units_that_wait_for_a_household_do_not_hold_up_another(postgres_url: str) -> None:
    async def other_first(store: Store, end: threading.Event) -> None:
        waiting = [asyncio.ensure_future(store.locking("busy").write(number)) for _ in range(50)]
        async with asyncio.timeout(PATIENCE):
            assert await store.locking("calm").write(number) == 1
            assert await store.write(number) == 1
        assert not any(each.done() for each in waiting)
        end.set()
        assert await asyncio.gather(*waiting) == [1] * 50

    begun, end = threading.Event(), threading.Event()
    with Store.open(postgres_url) as other_process, Store.open(postgres_url) as store:
        holder = hold(other_process.locking("busy"), begun, end)
        asyncio.run(other_first(store, end))
        holder.join()


def test_a_unit_sees_what_was_committed_while_it_waited_for_its_lock(postgres_url: str) -> None:
    with Store.open(postgres_url) as first, Store.open(postgres_url) as second:
        first.write_now(lambda conn: conn.execute(text("CREATE TABLE seen (n integer)")))
        begun, end = threading.Event(), threading.Event()

        def add(conn: Connection) -> None:
            conn.execute(text("INSERT INTO seen VALUES (1)"))
            begun.set()
            assert end.wait(PATIENCE)

        def count(conn: Connection) -> int:
            return int(conn.execute(text("SELECT count(*) FROM seen")).scalar_one())

        adding = threading.Thread(target=first.locking("a").write_now, args=(add,))
        adding.start()
        assert begun.wait(PATIENCE)
        assert second.locking("b").write_now(count) == 0
        found: list[int] = []
        counting = threading.Thread(
            target=lambda: found.append(second.locking("a").write_now(count))
        )
        counting.start()
        end.set()
        adding.join()
        counting.join()
        assert found == [1]


def test_a_lock_that_is_held_for_too_long_makes_the_store_busy(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_SECONDS", 1)
    begun, end = threading.Event(), threading.Event()
    with Store.open(postgres_url) as holding, Store.open(postgres_url) as store:
        holder = hold(holding.locking("a"), begun, end)
        with pytest.raises(StoreBusyError):
            store.locking("a").write_now(number)
        end.set()
        holder.join()


def test_connections_that_the_server_closed_meanwhile_are_replaced(postgres_url: str) -> None:
    others = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    )
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with Store.open(postgres_url) as store, engine.connect() as administrator:
        for _ in range(2):
            assert (store.write_now(number), store.read_now(number)) == (1, 1)
            administrator.execute(others)
    engine.dispose()


def test_a_unit_whose_connection_is_lost_in_the_middle_is_not_repeated(postgres_url: str) -> None:
    begun = []

    def lose(conn: Connection) -> None:
        begun.append(1)
        conn.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    with Store.open(postgres_url) as store:
        with pytest.raises(UnavailableError):
            store.write_now(lose)
        assert store.write_now(number) == 1
    assert begun == [1]


def test_two_units_that_lock_each_other_out_both_succeed(postgres_url: str) -> None:
    met = threading.Barrier(2)

    def both(first: str, second: str) -> None:
        tries = []

        def work(conn: Connection) -> None:
            tries.append(1)
            lock(conn, first)
            if len(tries) == 1:
                met.wait(PATIENCE)
            lock(conn, second)

        store.locking(f"outside {first}").write_now(work)

    with Store.open(postgres_url) as store:
        others = [threading.Thread(target=both, args=pair) for pair in (("x", "y"), ("y", "x"))]
        for each in others:
            each.start()
        for each in others:
            each.join(PATIENCE)
        assert not any(each.is_alive() for each in others)


def test_closing_finishes_what_waits_and_takes_no_more(postgres_url: str) -> None:
    async def close_while_busy() -> list[int]:
        store = Store.open(postgres_url)
        waiting = [asyncio.ensure_future(store.locking("a").write(number)) for _ in range(20)]
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)
        with pytest.raises(UnavailableError, match="closed"):
            await store.locking("a").write(number)
        return await asyncio.gather(*waiting)

    assert asyncio.run(close_while_busy()) == [1] * 20


async def use_everything(serving: Served) -> list[str]:
    """Use the program the way a household does; return the requests that were answered by a failure."""
    failed: list[str] = []
    owner = serving.token("john", AccessRole.OWNER)
    bridge = serving.token("sarah", AccessRole.BRIDGE)

    async def send(client: httpx.AsyncClient, method: str, path: str, **more: Any) -> Any:
        answer = await client.request(method, path, **more)
        if not answer.is_success:
            failed.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.json() if is_json and answer.content else answer.text

    async with serving.bearing(bridge) as observer, serving.bearing(owner) as client:
        sent = {"chat_id": "family", "sender": "sarah", "sent_at": serving.clock.now().isoformat()}
        for number, words in enumerate(("Leo has the dentist Thursday at 4pm", "lol", "thanks")):
            message = {**sent, "message_id": f"m{number}", "text": words}
            await send(observer, "POST", "/observe", json=message)
        for words in ("add stamps to my to-do list", "remember that the boiler code is 4000"):
            await send(client, "POST", "/chat", json={"text": words})
        task = await send(client, "POST", "/api/tasks", json={"title": "post the letters"})
        await send(client, "POST", f"/api/tasks/{task['task']['id']}/complete")
        await send(client, "POST", "/api/quiet", json={"for": "1h"})
        feed = await send(client, "POST", "/api/feeds", json={"is_own": False, "label": "x"})
        await send(client, "GET", feed["address"].removeprefix(ADDRESS))
        invite = await send(
            client, "POST", "/api/invites", json={"member": "john", "role": "adult"}
        )
        await send(client, "DELETE", f"/api/keys/{invite['id']}")
        # So that the use of the key is noted again.
        serving.clock.advance_to(serving.clock.now() + timedelta(hours=1))
        await send(client, "GET", "/api/me")
        said = {"contentSessionId": "s", "userMessage": "I moved to Leeds"}
        await send(client, "POST", "/api/sessions/messages", json=said)
    async with serving.client() as browser:
        await serving.log_in(browser, "sarah")
    return failed


def understood(conn: Connection) -> bool:
    return (
        conn.execute(
            select(observer_messages.c.id).where(
                observer_messages.c.state.in_(["queued", "running"])
            )
        ).first()
        is None
    )


def test_no_row_of_a_household_is_written_without_its_lock(
    postgres_url: str, tmp_path: Path
) -> None:
    async def live(serving: Served) -> list[str]:
        houses = Houses.of(serving.system)
        async with houses.working(clock=serving.clock, pace=PACE):
            failed = await use_everything(serving)
            for talk in serving.context.houses.values():
                assert talk.conversation is not None
                await talk.conversation.idle()
            async with asyncio.timeout(PATIENCE):
                while not await serving.system.store.read(understood):
                    await asyncio.sleep(0.05)
        return failed

    with served(tmp_path, database=postgres_url) as serving:
        serving.system.store.write_now(require_locks)
        unlocked = serving.system.store.locking("another household")
        with pytest.raises(DBAPIError, match="written without its lock"):
            unlocked.write_now(
                lambda conn: be_quiet(conn, "miller", until=MONDAY, by="sarah", now=MONDAY)
            )
        with capture_logs() as logged:
            assert asyncio.run(live(serving)) == []
    assert [each for each in logged if each["log_level"] == "error"] == []
