"""What the job engine takes along: nothing that a file does not need, and the real thing where it is used."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

_ABSENT = {"psycopg", "sqlalchemy.orm", "sqlalchemy.ext.asyncio", "yaml", "croniter"}


def _told(program: str) -> str:
    """Run a program in a process where nothing is loaded yet; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_a_queue_on_a_file_loads_no_driver_of_a_server(tmp_path: Path) -> None:
    loaded = _told(f"""
        import sys
        from kinkeeper.jobs.engine import JobEngine
        from kinkeeper.jobs.queue import JobQueue
        from kinkeeper.store.store import Store
        with Store.open({str(tmp_path / "a.sqlite")!r}) as store:
            queue = JobQueue(store, "ours")
            store.write_now(lambda conn: queue.enqueue(conn, "work", ("ours", "1")))
            assert queue.waiting(["work:ours/1:1"])["work:ours/1:1"].status == "ENQUEUED"
            queue.close()
        print(" ".join(sys.modules))
    """)

    assert "dbos" in loaded.split()
    assert not _ABSENT & set(loaded.split())


def test_what_was_put_off_is_the_real_thing_once_it_is_used() -> None:
    told = _told("""
        from kinkeeper.jobs.library import DBOS
        from dbos import _sys_db, _utils
        from sqlalchemy.exc import DBAPIError

        def lost():
            import psycopg
            return DBAPIError("", {}, psycopg.OperationalError("server closed the connection unexpectedly"))

        assert not isinstance(ValueError(), _utils.psycopg.OperationalError)
        error = lost()
        assert isinstance(error.orig, _utils.psycopg.OperationalError)
        assert _utils.retriable_postgres_exception(error)
        assert not isinstance(error.orig, _sys_db.pg_errors.LockNotAvailable)
        with __import__("sqlalchemy").create_engine("sqlite://").connect() as connection:
            assert not isinstance(connection, _sys_db.Session)
            assert isinstance(_sys_db.Session(connection), _sys_db.Session)
        print("as meant")
    """)

    assert told == "as meant"
