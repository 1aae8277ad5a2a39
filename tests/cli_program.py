"""Runs the installed program as people do: in a process of its own, in an empty environment."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.executable).with_name("kinkeeper")
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

    def bare(self, *words: str, stdin: bytes = b"") -> Ran:
        done = subprocess.run(
            [PROGRAM, *words], input=stdin, capture_output=True, check=False, cwd=self.home,
            env=self.environment(), timeout=120,
        )  # fmt: skip
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ran.err, ran.err
        return ran

    def run(self, *words: str, stdin: bytes = b"") -> Ran:
        return self.bare(*words, *self.where(), stdin=stdin)

    def observe(self, messages: Sequence[dict[str, Any]], *words: str) -> Ran:
        chat = "".join(json.dumps(message) + "\n" for message in messages)
        return self.run("observe", "-", *words, stdin=chat.encode())

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [PROGRAM, *words, *self.where()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.home, env=self.environment(),
        )  # fmt: skip


def message(number: int, sender: str, text: str, at: str, **more: Any) -> dict[str, Any]:
    """Return a chat line; `at` is local time of the sample household."""
    return {
        "chat_id": "family", "message_id": f"m{number}", "sender": sender, "text": text,
        "sent_at": at, **more,
    }  # fmt: skip
