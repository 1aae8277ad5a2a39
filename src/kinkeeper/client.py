"""Tells a Kinkeeper server what was said in another program's sessions, from within that program.

`Sessions.post` writes the pair to a folder and returns; a thread of its own sends it. What cannot be sent yet
stays in the folder and is tried again, also by the next process that opens it: nothing is lost when the server
is away or this program is killed. Every pair has an id, so the server keeps it once however often it comes.

    with Sessions("http://127.0.0.1:8765", token, folder=Path("outgoing")) as sessions:
        sessions.post("session-7", "I am allergic to nuts", "Good to know!")
"""

import json
import os
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import httpx

from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Clock, SystemClock, as_utc

ROUTE = "/api/sessions/messages"
REFUSED = "refused"
"""Folder inside the folder, for pairs that the server will never take, each with its answer."""

_ACCEPTED = 202
_HOPELESS = frozenset({400, 405, 409, 413, 422})
_SHORTEST_WAIT, _LONGEST_WAIT = 0.5, 60.0
_WAITING, _UNFINISHED = ".json", ".part"


class Sessions:
    """Posts pairs of a person's message and the assistant's answer; use it from any thread.

    Args:
        url: Of the server, without a path.
        token: That the server lets us in with.
        folder: Where pairs wait; created where it does not exist. Its files hold what was said, readable by
            their owner only.
        source: What this program is called.
        channel: Where people talk with it.
        timeout: Longest wait for one answer of the server.
        clock: Tells when something was said.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        folder: Path,
        source: str = "unknown",
        channel: str = "unknown",
        timeout: timedelta = timedelta(seconds=10),
        clock: Clock | None = None,
    ) -> None:
        self._address = url.rstrip("/") + ROUTE
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._timeout = timeout.total_seconds()
        self._folder = folder
        self._about = {"source": source, "channel": channel}
        self._clock = clock or SystemClock()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._something = threading.Condition()
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self._send_all, name="kinkeeper-sessions", daemon=True
        )
        self._thread.start()

    def post(
        self,
        session: str,
        user_message: str,
        assistant_response: str | None = None,
        *,
        said_at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Keep a pair, to be sent; returns its id once it is on disk, without waiting for the server.

        Args:
            session: Which talk it is of.
            assistant_response: What was answered, if anything.
            said_at: Aware; now where None.
            metadata: JSON-ready; kept with it.

        Raises:
            InputError: The session or the message is empty.
            InvariantError: The time has no zone.
            OSError: The folder cannot be written.
        """
        if not session or not user_message:
            raise InputError("a pair needs a session and a message")
        at = as_utc(said_at or self._clock.now())
        number = secrets.token_hex(16)
        pair = {
            "contentSessionId": session,
            "userMessage": user_message,
            "messageId": number,
            "timestamp": at.isoformat(),
            "metadata": dict(metadata or {}),
            **self._about,
        }
        if assistant_response is not None:
            pair["assistantResponse"] = assistant_response
        self._keep(f"{self._clock.now():%Y%m%dT%H%M%S.%f}-{number}", json.dumps(pair))
        with self._something:
            self._something.notify_all()
        return number

    def waiting(self) -> int:
        """Return how many pairs are not sent yet."""
        return len(self._names())

    def flush(self, patience: timedelta) -> bool:
        """Wait until all is sent, and return whether it is.

        Args:
            patience: Longest wait.
        """
        with self._something:
            return self._something.wait_for(
                lambda: not self._names(), timeout=patience.total_seconds()
            )

    def close(self) -> None:
        """Stop sending after the pair under way; what waits stays in the folder. Harmless to repeat."""
        with self._something:
            self._closing.set()
            self._something.notify_all()
        self._thread.join()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop sending."""
        self.close()

    def _names(self) -> list[str]:
        return sorted(path.name for path in self._folder.glob("*" + _WAITING))

    def _keep(self, name: str, content: str) -> None:
        unfinished = self._folder / (name + _UNFINISHED)
        descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - only its owner may read it
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        unfinished.rename(self._folder / (name + _WAITING))
        _make_durable(self._folder)

    def _send_all(self) -> None:
        wait = _SHORTEST_WAIT
        with httpx.Client(headers=self._headers, timeout=self._timeout) as client:
            while not self._closing.is_set():
                is_all_sent = self._send_round(client)
                wait = _SHORTEST_WAIT if is_all_sent else min(2 * wait, _LONGEST_WAIT)
                with self._something:
                    self._something.notify_all()
                    if not self._closing.is_set() and not (is_all_sent and self._names()):
                        # Another process may put something here, too.
                        self._something.wait(timeout=wait)

    def _send_round(self, client: httpx.Client) -> bool:
        """Try each pair that waits, unless the server is away; returns whether all were done with."""
        is_all_sent = True
        for name in self._names():
            if self._closing.is_set():
                return False
            try:
                is_all_sent &= self._send(client, self._folder / name)
            except (httpx.HTTPError, OSError):
                return False
        return is_all_sent

    def _send(self, client: httpx.Client, path: Path) -> bool:
        """Send one pair; returns whether it is done with."""
        with suppress(FileNotFoundError):  # another process has sent it
            answer = client.post(self._address, content=path.read_bytes())
            if answer.status_code in _HOPELESS:
                self._put_aside(path, answer)
            elif answer.status_code != _ACCEPTED:
                return False
            path.unlink(missing_ok=True)
        return True

    def _put_aside(self, path: Path, answer: httpx.Response) -> None:
        aside = self._folder / REFUSED
        aside.mkdir(mode=0o700, exist_ok=True)
        (aside / path.name).with_suffix(".answer").write_bytes(answer.content)
        path.rename(aside / path.name)


def _make_durable(folder: Path) -> None:
    """Write a folder's names to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
