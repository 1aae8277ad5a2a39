"""The store on real SQLite files: durability settings, group commit, isolation, failures, purging."""

import asyncio
import importlib
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    event,
    func,
    insert,
    select,
    text,
)

from kinkeeper.core.errors import (
    ConflictError,
    InputError,
    InvariantError,
    StoreBusyError,
    StoreVersionError,
    UnavailableError,
)
from kinkeeper.store.migrate import SCHEMA_VERSION
from kinkeeper.store.sqlite_library import check_version, sqlite
from kinkeeper.store.store import Store

metadata = MetaData()
scraps = Table("scraps", metadata, Column("id", Integer, primary_key=True), Column("body", String))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "family.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(str(path)) as opened:
        opened.write_now(metadata.create_all)
        yield opened


def add(number: int, body: str = "x") -> Callable[[Connection], object]:
    return lambda conn: conn.execute(insert(scraps), {"id": number, "body": body})


def count(conn: Connection) -> int:
    return conn.execute(select(func.count()).select_from(scraps)).scalar_one()


def ids(conn: Connection) -> set[int]:
    return set(conn.execute(select(scraps.c.id)).scalars())


def pragma(name: str) -> Callable[[Connection], Any]:
    return lambda conn: conn.execute(text(f"PRAGMA {name}")).scalar_one()


def counting_commits(store: Store) -> list[object]:
    commits: list[object] = []
    event.listen(store._writer._engine, "commit", commits.append)
    return commits


def test_the_process_has_one_recent_sqlite(store: Store) -> None:
    stand_in = importlib.import_module("sqlite3")
    assert stand_in is sqlite
    assert stand_in.dbapi2 is store.read_now(lambda conn: conn.dialect.dbapi)
    assert stand_in.sqlite_version_info >= (3, 51, 3)
    with pytest.raises(StoreVersionError, match="pysqlite3"):
        check_version((3, 51, 2))


@pytest.mark.parametrize("through", ["write_now", "read_now"])
def test_every_connection_is_durable_and_forgets_what_is_deleted(
    store: Store, through: str
) -> None:
    ask = getattr(store, through)
    assert ask(pragma("journal_mode")) == "wal"
    assert ask(pragma("synchronous")) == 2
    assert ask(pragma("foreign_keys")) == 1
    assert ask(pragma("secure_delete")) == 1
    assert ask(pragma("busy_timeout")) == 30_000


def test_only_the_owner_may_read_the_files(store: Store, path: Path) -> None:
    store.write_now(add(1))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert set(modes) >= {"family.db", "family.db-wal"}
    assert set(modes.values()) == {0o600}


def test_a_file_that_cannot_use_a_log_is_refused(path: Path) -> None:
    path.parent.mkdir()
    # A database whose header demands a newer file format than this library can write.
    other = sqlite.connect(path)
    other.execute("CREATE TABLE t (x)")
    other.close()
    path.chmod(0o400)
    if os.geteuid() == 0:
        path.write_bytes(b"this is not a database, only a long enough text" * 100)
    with pytest.raises(UnavailableError):
        Store.open(str(path))


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///:memory:", "mysql://x/y", "://"])
def test_addresses_that_cannot_hold_data_are_refused(address: str) -> None:
    with pytest.raises(InputError):
        Store.open(address)


def test_a_url_and_a_path_name_the_same_file(store: Store, path: Path) -> None:
    store.write_now(add(1))
    with Store.open(f"sqlite:///{path}") as again:
        assert again.read_now(count) == 1


def test_an_unwritable_folder_is_named() -> None:
    with pytest.raises(UnavailableError, match="/proc/nothing"):
        Store.open("/proc/nothing/family.db")


async def gathered(store: Store, works: Sequence[Callable[[Connection], Any]]) -> list[Any]:
    return await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)


def test_writes_that_wait_together_are_committed_together(store: Store) -> None:
    commits = counting_commits(store)
    asyncio.run(gathered(store, [add(number) for number in range(500)]))
    assert store.read_now(count) == 500
    assert len(commits) <= 20


def test_a_failing_unit_is_undone_alone(store: Store) -> None:
    def half_then_fail(conn: Connection) -> None:
        add(1000)(conn)
        raise ValueError("mine")

    works = [add(0), half_then_fail, add(1), add(0, "again"), add(2)]
    outcomes = asyncio.run(gathered(store, works))
    assert isinstance(outcomes[1], ValueError)
    assert type(outcomes[3]).__name__ == "IntegrityError"
    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == [
        outcomes[1],
        outcomes[3],
    ]
    assert store.read_now(ids) == {0, 1, 2}


def test_results_come_back_to_their_own_callers(store: Store) -> None:
    def work(number: int) -> Callable[[Connection], Any]:
        return lambda conn: conn.execute(select(text(str(number)))).scalar_one()

    assert asyncio.run(gathered(store, [work(n) for n in range(300)])) == list(range(300))


def test_callers_are_answered_only_after_the_commit(store: Store) -> None:
    async def seen_by_reader() -> list[bool]:
        async def write_then_look(number: int) -> bool:
            await store.write(add(number))
            return number in await store.read(ids)

        return await asyncio.gather(*(write_then_look(number) for number in range(100)))

    assert all(asyncio.run(seen_by_reader()))


@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_a_unit_that_ends_the_transaction_fails_alone_or_with_all_but_never_silently(
    store: Store, ending: str
) -> None:
    def rogue(conn: Connection) -> None:
        add(10)(conn)
        getattr(conn, ending)()

    with pytest.raises((InvariantError, UnavailableError)):
        store.write_now(rogue)
    outcomes = asyncio.run(gathered(store, [add(0), add(1), rogue, add(2)]))
    written = store.read_now(ids)
    for number, outcome in zip([0, 1, 2], [outcomes[0], outcomes[1], outcomes[3]], strict=True):
        assert isinstance(outcome, Exception) != (number in written)
    store.write_now(add(99))


def test_a_commit_that_fails_is_a_failure_for_all(store: Store) -> None:
    store.write_now(
        lambda conn: conn.execute(
            text(
                "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER"
                " REFERENCES scraps (id) DEFERRABLE INITIALLY DEFERRED)"
            )
        )
    )

    def orphan(conn: Connection) -> None:
        conn.execute(text("INSERT INTO child VALUES (1, 777)"))

    outcomes = asyncio.run(gathered(store, [add(0), add(1), orphan, add(2)]))
    failed = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    written = store.read_now(ids)
    # Whatever shared the orphan's transaction failed with it; what did not is there.
    assert len(failed) + len(written) == 4
    assert isinstance(outcomes[2], Exception)
    store.write_now(add(5))


def test_a_write_inside_a_write_is_a_bug_not_a_deadlock(store: Store) -> None:
    with pytest.raises(InvariantError, match="pass on the connection"):
        store.write_now(lambda _: store.write_now(add(1)))


def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(UnavailableError, match="read-only"):
        store.read_now(add(1))


def test_readers_do_not_wait_for_a_writer_and_see_the_last_commit(store: Store) -> None:
    store.write_now(add(1))
    inside, leave = threading.Event(), threading.Event()

    def slow(conn: Connection) -> None:
        add(2)(conn)
        inside.set()
        assert leave.wait(10)

    writer = threading.Thread(target=store.write_now, args=(slow,))
    writer.start()
    assert inside.wait(10)
    assert store.read_now(ids) == {1}
    assert asyncio.run(store.read(ids)) == {1}
    leave.set()
    writer.join()
    assert store.read_now(ids) == {1, 2}


def test_a_reader_sees_one_snapshot(store: Store) -> None:
    def twice(conn: Connection) -> tuple[int, int]:
        before = count(conn)
        store.write_now(add(1))
        return before, count(conn)

    assert store.read_now(twice) == (0, 0)


def test_a_database_held_by_another_process_is_busy_not_broken(store: Store, path: Path) -> None:
    store.write_now(lambda conn: conn.exec_driver_sql("PRAGMA busy_timeout=20"))
    other = sqlite.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError):
        store.write_now(add(1))
    with pytest.raises(StoreBusyError):
        asyncio.run(store.write(add(1)))
    other.execute("ROLLBACK")
    other.close()
    store.write_now(add(1))
    assert store.read_now(count) == 1


def test_a_full_disk_loses_nothing_acknowledged_and_passes(store: Store) -> None:
    store.write_now(lambda conn: conn.exec_driver_sql("PRAGMA max_page_count=20"))
    outcomes = asyncio.run(gathered(store, [add(n, "x" * 2000) for n in range(200)]))
    acknowledged = {n for n, outcome in enumerate(outcomes) if not isinstance(outcome, Exception)}
    assert any(isinstance(outcome, UnavailableError) for outcome in outcomes)
    assert all(
        "disk is full" in str(o) or "nothing was written" in str(o)
        for o in outcomes
        if isinstance(o, Exception)
    )
    assert store.read_now(ids) == acknowledged
    store.write_now(lambda conn: conn.exec_driver_sql("PRAGMA max_page_count=100000"))
    store.write_now(add(1000))


def test_a_cancelled_caller_does_not_stop_the_others(store: Store) -> None:
    async def scenario() -> Any:
        tasks = [asyncio.ensure_future(store.write(add(number))) for number in range(50)]
        await asyncio.sleep(0)
        tasks[7].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    outcomes = asyncio.run(scenario())
    assert isinstance(outcomes[7], asyncio.CancelledError)
    assert store.read_now(ids) >= set(range(50)) - {7}


def test_work_that_has_begun_is_waited_for_and_work_given_up_is_never_done(store: Store) -> None:
    impatient = store.impatient(timedelta(milliseconds=50))
    begun, goes_on = threading.Event(), threading.Event()

    def slow(conn: Connection) -> str:
        begun.set()
        assert goes_on.wait(30)
        add(1)(conn)
        return "done"

    async def scenario() -> str:
        first = asyncio.ensure_future(impatient.write(slow))
        await asyncio.to_thread(begun.wait, 30)
        with pytest.raises(StoreBusyError, match="try again"):
            await impatient.write(add(2))
        assert not first.done()
        goes_on.set()
        return await first

    assert asyncio.run(scenario()) == "done"
    asyncio.run(store.write(add(3)))
    assert store.read_now(ids) == {1, 3}


def test_closing_finishes_what_waits_and_then_refuses(store: Store) -> None:
    async def scenario() -> Any:
        waiting = [asyncio.ensure_future(store.write(add(number))) for number in range(100)]
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)
        await asyncio.gather(*waiting)
        with pytest.raises(UnavailableError, match="closed"):
            await store.write(add(1000))
        with pytest.raises(UnavailableError, match="closed"):
            await store.read(count)

    asyncio.run(scenario())
    for ask in (store.write_now, store.read_now):
        with pytest.raises(UnavailableError, match="closed"):
            ask(count)


def test_closing_leaves_no_threads(path: Path) -> None:
    before = set(threading.enumerate())
    opened = Store.open(str(path))
    asyncio.run(opened.read(lambda _: None))
    opened.close()
    opened.close()
    assert set(threading.enumerate()) == before


def test_deleted_text_is_not_in_the_files(store: Store, path: Path) -> None:
    told = "Grandma's spare key lies under the third pot"
    for number in range(50):
        store.write_now(add(number, f"{told} {number}"))
    assert any(told.encode() in file.read_bytes() for file in path.parent.iterdir())
    store.write_now(lambda conn: conn.execute(scraps.delete()))
    store.fold_log()
    assert not any(told.encode() in file.read_bytes() for file in path.parent.iterdir())


def test_a_backup_is_complete_private_and_never_replaces_a_file(store: Store, path: Path) -> None:
    for number in range(20):
        store.write_now(add(number))
    copy = path.parent / "copy.db"
    store.backup_to(copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with pytest.raises(ConflictError, match="exists"):
        store.backup_to(copy)
    with Store.open(str(copy)) as restored:
        assert restored.read_now(ids) == set(range(20))
        assert restored.read_now(pragma("integrity_check")) == "ok"


def test_a_newer_database_refuses_an_older_program_with_a_sentence(
    store: Store, path: Path
) -> None:
    store.write_now(
        lambda conn: conn.execute(text("UPDATE alembic_version SET version_num='9999'"))
    )
    store.close()
    with pytest.raises(StoreVersionError, match="newer version"):
        Store.open(str(path))


STARTER = """
import sys
from kinkeeper.store.store import Store
from kinkeeper.store.migrate import current_version
import alembic.command, alembic.config
print("ready", flush=True)
for target in sys.stdin:
    with Store.open(target.strip()) as store:
        print(store.read_now(current_version), flush=True)
"""


@pytest.mark.slow
def test_processes_that_start_at_once_on_a_fresh_file_all_succeed(tmp_path: Path) -> None:
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    assert [starter.stdout.readline() for starter in starters] == ["ready\n"] * 3
    for attempt in range(15):
        for starter in starters:
            starter.stdin.write(f"{tmp_path}/{attempt}.db\n")
            starter.stdin.flush()
        assert [starter.stdout.readline() for starter in starters] == [f"{SCHEMA_VERSION}\n"] * 3
    for starter in starters:
        starter.communicate(timeout=60)
        assert starter.returncode == 0


def test_the_path_may_start_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with Store.open("~/family.db"):
        assert Path(tmp_path, "family.db").exists()
