"""kill -9 of the server, workers and all, at random: what it acknowledged is there, once, and ends as a replay does.

A thousand messages; SERVER_CRASH_MESSAGES asks for more.
"""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from kinkeeper.bootstrap import System
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import SystemClock
from kinkeeper.observer.tables import observer_messages
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from live_household import left_by, live_system
from live_workers import SETTINGS, conversation, replayed, states
from same_tables import assert_same_tables

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).parents[1] / "serving_process.py")
MESSAGES = int(os.environ.get("SERVER_CRASH_MESSAGES", "1000"))
LEAST_KILLS = 5
# How many messages a server takes in before it is killed: within a second or two on a quiet machine.
LIVES = (5, 160)
LONGEST_DRAIN_SECONDS = 1800
# The workers live at the end of the talk, when what waits for a yes for two days would have run out.
WITHIN = timedelta(hours=40)
CHATTER = ("lol the dog ate the remote", "good night everyone", "that film was far too long")


def talk(length: int) -> list[InboundMessage]:
    """Return talk of which two messages in three are about nothing, and one in ten comes twice."""
    chat = conversation(length)
    first, last = chat[0].sent_at, chat[-1].sent_at
    pace = min(1.0, WITHIN / (last - first))
    spaced = [
        replace(each, channel="http", sent_at=first + (each.sent_at - first) * pace)
        for each in chat
    ]
    return [
        message
        if (number := int(message.message_id[1:])) % 3 == 0
        else replace(message, text=CHATTER[number % len(CHATTER)])
        for message in spaced
    ]


@contextmanager
def serving(database: Path, end: datetime) -> Iterator[str]:
    """Serve for the length of the block, then kill; yields the address."""
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    with subprocess.Popen(
        [sys.executable, SCRIPT, database, end.isoformat(), *settings], stdout=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            lines = (line.strip() for line in process.stdout)  # the log is among them
            yield next(line for line in lines if line.startswith("http://"))
        finally:
            process.kill()


@dataclass
class Bridge:
    """Sends a talk in order, each message until it is acknowledged, wherever the server is by now."""

    key: str
    chat: Sequence[InboundMessage]
    address: str | None = None
    acknowledged: list[InboundMessage] = field(default_factory=list)
    repeats: int = 0
    hung_up: int = 0
    refusal: str | None = None

    def run(self) -> None:
        """Send everything."""
        with self._client() as client:
            for message in self.chat:
                while self.refusal is None and not self._send(client, message):
                    time.sleep(0.05)
                self.acknowledged.append(message)

    def echo(self, done: threading.Event) -> None:
        """Send what was acknowledged once more, now and then, beside what is new."""
        choice = random.Random(7)  # noqa: S311 - which does not matter, only that it is the same
        with self._client() as client:
            while not done.wait(0.05):
                if self.acknowledged:
                    self._send(client, choice.choice(self.acknowledged))

    def _client(self) -> httpx.Client:
        return httpx.Client(timeout=10, headers={"Authorization": f"Bearer {self.key}"})

    def _send(self, client: httpx.Client, message: InboundMessage) -> bool:
        record = {
            "chat_id": message.chat_id, "message_id": message.message_id, "text": message.text,
            "sender": message.sender, "sent_at": message.sent_at.isoformat(),
        }  # fmt: skip
        if self.address is None:
            return False
        try:
            answer = client.post(f"{self.address}/observe", json=record)
        except httpx.TransportError:
            self.hung_up += 1
            return False
        if answer.status_code == 202:
            self.repeats += answer.json()["repeat"]
        elif answer.status_code != 503:
            self.refusal = answer.text
        return answer.status_code == 202


def bridge_key(system: System) -> str:
    issued = system.store.write_now(
        lambda conn: logins.create_token(
            conn, system.household.id, "sarah", role=AccessRole.BRIDGE, label="test",
            now=SystemClock().now(),
        )
    )  # fmt: skip
    return issued.secret


def kill_until_all_is_sent(database: Path, bridge: Bridge) -> int:
    """Run servers and kill them while the bridge sends; return how many were killed."""
    lives = random.Random(3)  # noqa: S311 - as above
    kills, done, end = 0, threading.Event(), bridge.chat[-1].sent_at
    sending = threading.Thread(target=bridge.run)
    echoing = threading.Thread(target=bridge.echo, args=(done,))
    sending.start()
    echoing.start()
    try:
        while sending.is_alive():
            kills += 1
            goal = len(bridge.acknowledged) + lives.randint(*LIVES)
            with serving(database, end) as bridge.address:
                while sending.is_alive() and len(bridge.acknowledged) < goal:
                    time.sleep(0.01)
    finally:
        bridge.refusal = bridge.refusal or ("given up" if sending.is_alive() else None)
        done.set()
        echoing.join()
    return kills


def drain(system: System, database: Path, end: datetime) -> None:
    """Let a server that nobody kills finish."""
    unfinished = select(func.count()).where(observer_messages.c.state.in_(["queued", "running"]))
    deadline = time.monotonic() + LONGEST_DRAIN_SECONDS
    with serving(database, end):
        while system.store.read_now(lambda conn: conn.execute(unfinished).scalar_one()):
            assert time.monotonic() < deadline, states(system)
            time.sleep(0.5)


def test_messages_through_a_server_that_is_killed_at_random_end_as_a_replay_does(
    tmp_path: Path,
) -> None:
    database, chat = tmp_path / "family.db", talk(MESSAGES)
    with live_system(database, **SETTINGS) as system:
        bridge = Bridge(bridge_key(system), chat)
        kills = kill_until_all_is_sent(database, bridge)
        assert bridge.refusal is None
        assert kills >= LEAST_KILLS
        assert bridge.hung_up >= kills
        assert bridge.repeats >= MESSAGES / 10
        drain(system, database, chat[-1].sent_at)
        left, by_state = left_by(system), states(system)
        begun = system.store.read_now(
            lambda conn: conn.execute(select(func.max(observer_messages.c.epoch))).scalar_one()
        )
    assert by_state.keys() == {"done", "dropped"}, "something is stuck"
    assert begun > 1, "no kill hit a message that was being understood: the test shows nothing"
    assert len(left["messages"]) == MESSAGES, "lost or doubled"
    assert left["pending_actions"]
    assert_same_tables(left, replayed(tmp_path / "replayed.db", chat))
