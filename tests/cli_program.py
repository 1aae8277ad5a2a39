"""Runs the program as people do: in a process of its own, in an empty environment."""

import atexit
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

PROGRAM = Path(sys.executable).with_name("kinkeeper")
WARM = Path(__file__).with_name("warm_process.py")
_LONGEST_RUN_SECONDS = 120
MILLER = Path(__file__).parents[1] / "examples" / "miller"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of the program left."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def value(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Program:
    """The program with a home and a database of its own."""

    home: Path

    @property
    def database(self) -> Path:
        return self.home / "family.sqlite"

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def where(self) -> list[str]:
        return ["--household", str(MILLER / "household.toml"), "--db", str(self.database)]

    def bare(
        self, *words: str, stdin: bytes = b"", settings: Mapping[str, str] | None = None
    ) -> Ran:
        """Run it to its end, in a process that need not load it first."""
        environment = {**self.environment(), **(settings or {})}
        ran = _warm().run(words, folder=self.home, environment=environment, stdin=stdin)
        assert "Traceback" not in ran.err, ran.err
        return ran

    def cold(self, *words: str) -> Ran:
        """Run it to its end as it is installed, loading and all."""
        done = subprocess.run(
            [PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
            cwd=self.home, env=self.environment(), timeout=_LONGEST_RUN_SECONDS,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def run(
        self, *words: str, stdin: bytes = b"", settings: Mapping[str, str] | None = None
    ) -> Ran:
        return self.bare(*words, *self.where(), stdin=stdin, settings=settings)

    def observe(self, messages: Sequence[dict[str, Any]], *words: str) -> Ran:
        chat = "".join(json.dumps(message) + "\n" for message in messages)
        return self.run("observe", "-", *words, stdin=chat.encode())

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [PROGRAM, *words, *self.where()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.home, env=self.environment(),
        )  # fmt: skip


class _Warm:
    """The process that runs are forks of; it ends with this one."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._process = subprocess.Popen(
            [sys.executable, WARM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        atexit.register(self._end)

    def run(
        self, words: Sequence[str], *, folder: Path, environment: Mapping[str, str], stdin: bytes
    ) -> Ran:
        with TemporaryDirectory() as place, self._turn:
            streams = [Path(place) / name for name in ("in", "out", "err")]
            for stream in streams:
                stream.write_bytes(stdin if stream.name == "in" else b"")
            code = self._ask({
                "program": str(PROGRAM), "words": words, "folder": str(folder),
                "environment": environment, "streams": list(map(str, streams)),
            })  # fmt: skip
            out, err = (stream.read_text("utf-8") for stream in streams[1:])
        return Ran(code, out, err)

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, run: Mapping[str, Any]) -> int:
        """Have one run made and return its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(run).encode() + b"\n")
        ready, _, _ = select.select([self._process.stdout], [], [], _LONGEST_RUN_SECONDS)
        if not ready:
            self._process.kill()
            _warm.cache_clear()
            raise TimeoutError(run["words"])
        return int(self._process.stdout.readline())


@cache
def _warm() -> _Warm:
    return _Warm()


def message(number: int, sender: str, text: str, at: str, **more: Any) -> dict[str, Any]:
    """Return a chat line; `at` is local time of the sample household."""
    return {
        "chat_id": "family", "message_id": f"m{number}", "sender": sender, "text": text,
        "sent_at": at, **more,
    }  # fmt: skip
