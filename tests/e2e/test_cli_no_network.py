"""With the settings it comes with, nothing that the program does tries to leave the machine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[1] / "loopback_process.py"
APART = ("unshare", "--map-root-user", "--net")


def can_be_apart() -> bool:
    if sys.platform != "linux" or shutil.which(APART[0]) is None:
        return False
    return subprocess.run([*APART, "true"], check=False, capture_output=True).returncode == 0


def test_demo_and_a_served_message_send_no_packet_elsewhere(tmp_path: Path) -> None:
    if not can_be_apart():
        pytest.skip("NOT PROVED HERE: this machine gives a process no network of its own (unshare)")
    done = subprocess.run(
        [*APART, sys.executable, SCRIPT, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["interfaces"] == ["lo"]
    assert found["control"]["4"] == 1, "the kernel does not count: the test shows nothing"
    assert found["control"]["6"] == 1
    assert (found["played"], found["listed"], found["ended"]) == (0, 0, 0)
    assert found["taken"] == 202
    assert found["pages"] == [200, 200, 200]
    assert found["cards"] == 1
    assert found["left"] == {"4": 0, "6": 0, "datagrams": 0}
