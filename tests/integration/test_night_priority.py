"""What a night computes gives way to everybody; what it writes does not, because others wait for it."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from kinkeeper.bootstrap.nights import Night

_PROGRAM = """
    import asyncio, os
    from kinkeeper.bootstrap.nights import give_way
    from kinkeeper.store.store import Store

    def priority(_conn):
        return os.getpriority(os.PRIO_PROCESS, 0)

    with Store.open({path!r}) as store:
        before = priority(None)
        give_way()
        written, read = asyncio.run(store.write(priority)), asyncio.run(store.read(priority))
    print(written == before, read == 19, os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a priority is the whole process's")
def test_the_thread_that_writes_keeps_its_priority_and_the_others_give_way(tmp_path: Path) -> None:
    program = dedent(_PROGRAM).format(path=str(tmp_path / "a.sqlite"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=Night.environment(),
    )

    assert done.stdout.split() == ["True", "True", "1"]
