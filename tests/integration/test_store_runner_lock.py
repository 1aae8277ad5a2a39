"""One job runner per file, whatever dies."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.store.locks import runner_lock

Holder = subprocess.Popen[str]

HOLDER = """
import sys
from kinkeeper.store.locks import runner_lock
with runner_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Holder]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "family.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_runner_learns_who_is_first(tmp_path: Path, holder: Holder) -> None:
    second = runner_lock(str(tmp_path / "family.db"))
    with pytest.raises(ConflictError, match=f"process {holder.pid}"), second:
        pytest.fail("two runners")


def test_kill_9_frees_the_lock(tmp_path: Path, holder: Holder) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with runner_lock(str(tmp_path / "family.db")):
        assert (tmp_path / "family.db.lock").read_text() == str(os.getpid())
    assert (tmp_path / "family.db.lock").read_text() == ""


def test_waiting_says_for_whom_and_takes_over(tmp_path: Path, holder: Holder) -> None:
    waited_for: list[int | None] = []
    held = threading.Event()

    def wait() -> None:
        with runner_lock(str(tmp_path / "family.db"), on_wait=waited_for.append):
            held.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert not held.wait(0.2)
    holder.stdin.write("end\n")
    holder.stdin.flush()
    assert held.wait(10)
    waiter.join()
    assert waited_for == [holder.pid]


def test_a_server_needs_no_election() -> None:
    with pytest.raises(InputError), runner_lock("postgresql://somewhere/family"):
        pytest.fail("locked a server")
