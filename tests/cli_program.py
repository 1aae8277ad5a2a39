"""Runs the program as people do: in a process of its own, in an empty environment."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warm_start import PROGRAM, Started

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
        with Started(
            [PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=self.home, env={**self.environment(), **(settings or {})},
        ) as process:  # fmt: skip
            try:
                out, err = process.communicate(stdin, timeout=_LONGEST_RUN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        ran = Ran(process.returncode, out.decode(), err.decode())
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
        return Started(
            [PROGRAM, *words, *self.where()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.home, env=self.environment(),
        )  # fmt: skip


def message(number: int, sender: str, text: str, at: str, **more: Any) -> dict[str, Any]:
    """Return a chat line; `at` is local time of the sample household."""
    return {
        "chat_id": "family", "message_id": f"m{number}", "sender": sender, "text": text,
        "sent_at": at, **more,
    }  # fmt: skip
