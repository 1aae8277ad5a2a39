"""Runs the program as people do: in a process of its own, in an empty environment."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from warm_process import FROZEN_NOW
from warm_start import PROGRAM, Started, machine_environment

_LONGEST_RUN_SECONDS = 120
# By home: the present of commands that follow a replay, as if the replayed days were today.
_PRESENT: dict[Path, str] = {}
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
        return {**machine_environment(), "HOME": str(self.home)}

    def where(self) -> list[str]:
        return ["--household", str(MILLER / "household.toml"), "--db", str(self.database)]

    def bare(
        self, *words: str, stdin: bytes = b"", settings: Mapping[str, str] | None = None
    ) -> Ran:
        """Run it to its end, in a process that need not load it first."""
        frozen = {FROZEN_NOW: _PRESENT[self.home]} if self.home in _PRESENT else {}
        with Started(
            [PROGRAM, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home,
            env={**self.environment(), **frozen, **(settings or {})},
        ) as process:
            try:
                out, err = process.communicate(stdin, timeout=_LONGEST_RUN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        ran = Ran(process.returncode, out.decode(), err.decode())
        assert "Traceback" not in ran.err, ran.err
        if "observe" in words and (end := _end_of_replay(words, stdin)):
            _PRESENT[self.home] = max(end, _PRESENT.get(self.home, ""))
        return ran

    def cold(self, *words: str) -> Ran:
        """Run it to its end as it is installed, loading and all."""
        done = subprocess.run(
            [PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            cwd=self.home,
            env=self.environment(),
            timeout=_LONGEST_RUN_SECONDS,
        )
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
            [PROGRAM, *words, *self.where()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home,
            env=self.environment(),
        )


def _end_of_replay(words: Sequence[str], stdin: bytes) -> str:
    """Return when a replay stops, in UTC; empty where nothing tells."""
    given = words[words.index("observe") + 1 :]
    path = Path(given[0]) if given else None
    chat = path.read_bytes() if path is not None and path.is_file() else stdin
    moments = []
    for line in chat.splitlines():
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            moments.append(datetime.fromisoformat(json.loads(line)["sent_at"]))
    with suppress(ValueError, IndexError):
        moments.append(datetime.fromisoformat(words[words.index("--until") + 1]))
    zone = ZoneInfo("America/Chicago")
    aware = [each if each.tzinfo else each.replace(tzinfo=zone) for each in moments]
    return max(aware).astimezone(UTC).isoformat() if aware else ""


def message(number: int, sender: str, text: str, at: str, **more: Any) -> dict[str, Any]:
    """Return a chat line; `at` is local time of the sample household."""
    return {
        "chat_id": "family",
        "message_id": f"m{number}",
        "sender": sender,
        "text": text,
        "sent_at": at,
        **more,
    }
