"""`kinkeeper serve` in a process of its own, on a loopback port nobody else has."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from cli_program import MILLER, Program
from warm_start import PROGRAM, Started

_LONGEST_START_SECONDS = 90
_LONGEST_DECISION_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path

    def client(self, token: str | None = None) -> httpx.Client:
        """Return a client, with an API token where one is given."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.address, headers=headers, timeout=30)

    def get(self, path: str) -> httpx.Response:
        """Ask once, as nobody."""
        return httpx.get(f"{self.address}{path}", timeout=30)

    def end(self, *, seconds: float = 60) -> int:
        """Tell it to stop; returns its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=seconds)


def prepared(program: Program) -> Program:
    """Give the program a household file that lets the chat `family` in."""
    text = (MILLER / "household.toml").read_text(encoding="utf-8")
    text = text.replace("[household]\n", '[household]\nchats = ["family"]\n', 1)
    (program.home / "household.toml").write_text(text, encoding="utf-8")
    return program


def where(program: Program) -> list[str]:
    """Return the options that name the household file and the database."""
    return ["--household", str(program.home / "household.toml"), "--db", str(program.database)]


def token(program: Program, *words: str) -> str:
    """Return a new API token."""
    return program.bare("token", "create", *words, *where(program)).out.strip()


def decided(server: Running, secret: str, number: int, text: str) -> dict[str, Any]:
    """Send a message of Sarah's and return its trace once it is decided."""
    message = {
        "chat_id": "family",
        "message_id": f"m{number}",
        "sender": "sarah",
        "text": text,
        "sent_at": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
    }
    with server.client(secret) as client:
        assert client.post("/observe", json=message).status_code == 202
        deadline = time.monotonic() + _LONGEST_DECISION_SECONDS
        while time.monotonic() < deadline:
            trace: dict[str, Any] = client.get(f"/api/messages/m{number}/trace").json()
            if trace["extraction"] is not None:
                return trace
            time.sleep(0.2)
    raise AssertionError(trace)


@contextmanager
def running(
    program: Program, *, executable: Path = PROGRAM, **environment: str
) -> Iterator[Running]:
    """Run the server until the end of the block, or until it ends by itself."""
    log = program.home / "serve.log"
    with log.open("wb") as stream:
        process = Started(
            [executable, "serve", "--port", "0", *where(program)],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd=program.home,
            env={**program.environment(), **environment},
        )
    try:
        yield Running(process, _address(process, log), log)
    finally:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _LONGEST_START_SECONDS
    while time.monotonic() < deadline:
        told = [line for line in log.read_text().splitlines() if line.startswith("Kinkeeper is at")]
        if told:
            return told[0].split()[3]
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())
