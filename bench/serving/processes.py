"""Server processes on loopback, and what they cost: CPU time and memory as the kernel counts them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.serving import bare
from kinkeeper.core.errors import InvariantError

_LONGEST_START_SECONDS = 180
_LONGEST_STOP_SECONDS = 60
_OURS = "Kinkeeper is at"
_KIB = 1024


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that answers.

    Attributes:
        process: The process.
        address: Scheme, name and port.
    """

    process: "subprocess.Popen[bytes]"
    address: str

    @property
    def host(self) -> str:
        """Its loopback address."""
        return self.address.removeprefix("http://").rpartition(":")[0]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rpartition(":")[2])

    def cpu_seconds(self) -> float:
        """CPU time of all its threads so far, those that ended too."""
        # How Linux numbers the CPU clock of another process.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def loop_cpu_seconds(self) -> float:
        """CPU time of its first thread so far, which runs the event loop."""
        pid = self.process.pid
        text = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="ascii")
        return int(text.split()[0]) / 1e9

    def resident_mb(self) -> float:
        """Memory it holds, MB of 1024 KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
        return int(line.split()[1]) / _KIB


@contextmanager
def bare_server(folder: Path) -> Iterator[ServerProcess]:
    """Run the server that does nothing until the end of the block.

    Args:
        folder: For its log.
    """
    command = [sys.executable, "-m", bare.__name__]
    with _running(command, folder / "bare.log", {}, told=bare.LISTENING) as server:
        yield server


@contextmanager
def our_server(
    folder: Path, *, household: Path, database: Path, settings: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """Run the real server, workers and all, until the end of the block.

    Args:
        folder: Its home, for its log.
        household: Household file.
        database: SQLite file.
        settings: Environment variables.
    """
    command = [
        sys.executable,
        "-m",
        "kinkeeper",
        "serve",
        "--port",
        "0",
        "--household",
        str(household),
        "--db",
        str(database),
    ]
    log = folder / f"{database.stem}.log"
    with _running(command, log, settings or {}, told=_OURS) as server:
        yield server


@contextmanager
def _running(
    command: Sequence[str], log: Path, settings: Mapping[str, str], *, told: str
) -> Iterator[ServerProcess]:
    environment = {
        "PATH": os.defpath,
        "HOME": str(log.parent),
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with log.open("wb") as stream:
        process = subprocess.Popen(  # noqa: S603 - this program itself
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd=log.parent,
            env={**environment, **settings},
        )
    try:
        yield ServerProcess(process, _address(process, log, told))
        process.terminate()
        process.wait(timeout=_LONGEST_STOP_SECONDS)
    finally:
        process.kill()
        process.wait()


def _address(process: "subprocess.Popen[bytes]", log: Path, told: str) -> str:
    deadline = time.monotonic() + _LONGEST_START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text(encoding="utf-8").splitlines():
            if line.startswith(told):
                return line.removeprefix(told).split()[0]
        time.sleep(0.05)
    raise InvariantError(f"a server of the benchmark did not start: {log.read_text('utf-8')}")
