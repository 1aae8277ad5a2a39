"""kill -9 at any moment: no message without its job, no job without its message, no effect twice."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from job_process import JOB, effects, metadata, put, work
from sqlalchemy import func, select, text

from kinkeeper.jobs.queue import JobQueue, dispatch_id
from kinkeeper.store.store import Store
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).with_name("job_process.py"))


@contextmanager
def process(*arguments: str) -> Iterator[Iterator[str]]:
    """Start the process; yield the lines it prints; kill -9 at the end of the block."""
    started = Started([SCRIPT, *arguments], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    try:
        assert started.stdout.readline() == "ready\n"
        yield iter(started.stdout.readline, "")
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


def after(lines: Iterator[str], count: int) -> list[str]:
    """Return the next `count` lines, without their ends."""
    return [line.strip() for line, _ in zip(lines, range(count), strict=False)]


def test_a_row_and_its_job_survive_together_when_the_writer_is_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "family.db")
    acknowledged: set[str] = set()
    for kill, count in enumerate([1, 9, 40, 97, 250]):
        with process(path, "ingest", f"run{kill}") as lines:
            acknowledged.update(after(lines, count))
    with Store.open(path) as store:
        rows = set(store.read_now(lambda conn: conn.execute(select(work.c.id)).scalars()))
        dispatches = set(
            store.read_now(
                lambda conn: conn.execute(
                    text("SELECT workflow_uuid FROM workflow_status")
                ).scalars()
            )
        )
        healthy = store.read_now(
            lambda conn: conn.execute(text("PRAGMA integrity_check")).scalar_one()
        )
    assert healthy == "ok"
    assert len(acknowledged) == 397
    assert acknowledged <= rows
    assert dispatches == {dispatch_id(JOB, ("h", name), 1) for name in rows}


def test_two_hundred_rows_through_repeated_kills_each_have_one_effect(tmp_path: Path) -> None:
    path = str(tmp_path / "family.db")
    names = [f"n{number}" for number in range(200)]
    with Store.open(path) as store:
        store.write_now(metadata.create_all)
        queue = JobQueue(store)
        store.write_now(lambda conn: [put(queue, conn, name) for name in names])
        queue.close()

    for count in (1, 2, 30, 17, 41):
        with process(path, "run") as lines:
            after(lines, count)
    with process(path, "run") as lines, Store.open(path) as store:
        open_rows = select(func.count()).where(work.c.state.in_(["queued", "running"]))
        for _ in lines:
            if store.read_now(lambda conn: conn.execute(open_rows).scalar_one()) == 0:
                break

    with Store.open(path) as store:
        written = Counter(
            store.read_now(lambda conn: conn.execute(select(effects.c.id)).scalars().all())
        )
        states = Counter(
            store.read_now(lambda conn: conn.execute(select(work.c.state)).scalars().all())
        )
        begun = store.read_now(lambda conn: conn.execute(select(func.max(work.c.epoch))).scalar())
    assert begun > 1, "no kill hit work that was running: the test shows nothing"
    assert written == Counter(names)
    assert states == {"done": 200}
