"""kill -9 of the server, workers and all or without them: what it acknowledged is there, once, and ends as a replay does.

600 messages and 120; SERVER_CRASH_MESSAGES asks for more.
"""

import os
import random
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
from live_workers import SETTINGS, Worker, conversation, replayed, states, worker
from observer_process import WORKS
from same_tables import assert_same_tables
from serving_process import ALONE, WORKERS
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).parents[1] / "serving_process.py")
MESSAGES = int(os.environ.get("SERVER_CRASH_MESSAGES", "600"))
MESSAGES_APART = int(os.environ.get("SERVER_CRASH_MESSAGES", "120"))
LEAST_KILLS = 5
LEAST_KILLS_APART = max(3, MESSAGES_APART // 100)
# How long a worker works before it is killed.
WORKS_SECONDS = 2.0
# How long a message is waited for that is being understood, at most.
LONGEST_WAIT_SECONDS = 10.0
# How many messages a server takes in at most before it is killed: a second or two's on a quiet machine.
LONGEST_LIFE = 160
LONGEST_DRAIN_SECONDS = 1800
# The workers live at the end of the talk, when what waits for a yes for two days would have run out.
WITHIN = timedelta(hours=40)
CHATTER = ("lol the dog ate the remote", "good night everyone", "that film was far too long")


def talk(length: int, *, one_in: int) -> list[InboundMessage]:
    """Return talk of which one message in so many is about something, and one in ten comes twice."""
    chat = conversation(length)
    first, last = chat[0].sent_at, chat[-1].sent_at
    pace = min(1.0, WITHIN / (last - first))
    spaced = [
        replace(each, channel="http", sent_at=first + (each.sent_at - first) * pace)
        for each in chat
    ]
    return [
        message
        if (number := int(message.message_id[1:])) % one_in == 0
        else replace(message, text=CHATTER[number % len(CHATTER)])
        for message in spaced
    ]


@contextmanager
def serving(database: Path, end: datetime, *, who: str = WORKERS) -> Iterator[str]:
    """Serve for the length of the block, with workers or alone, then kill; yields the address."""
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    with Started(
        [SCRIPT, database, end.isoformat(), who, *settings], stdout=subprocess.PIPE, text=True
    ) as process:
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
            "chat_id": message.chat_id,
            "message_id": message.message_id,
            "text": message.text,
            "sender": message.sender,
            "sent_at": message.sent_at.isoformat(),
        }
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
            conn,
            system.household.id,
            "sarah",
            role=AccessRole.BRIDGE,
            label="test",
            now=SystemClock().now(),
        )
    )
    return issued.secret


def wait_for_work(system: System, *, at_most: float = LONGEST_WAIT_SECONDS) -> None:
    """Return once a message is being understood, so that a kill hits it, or after so many seconds."""
    running = select(func.count()).where(observer_messages.c.state == "running")
    deadline = time.monotonic() + at_most
    while time.monotonic() < deadline:
        if system.store.read_now(lambda conn: conn.execute(running).scalar_one()):
            return
        time.sleep(0.002)


def kill_until_all_is_sent(
    database: Path, bridge: Bridge, system: System, *, least: int, who: str = WORKERS
) -> int:
    """Run servers and kill them while the bridge sends; return how many were killed, `least` or more.

    Every third one that does the work itself is killed at it.
    """
    lives, longest = random.Random(3), min(LONGEST_LIFE, len(bridge.chat) // least)  # noqa: S311 - as above
    kills, done, end = 0, threading.Event(), bridge.chat[-1].sent_at
    sending = threading.Thread(target=bridge.run)
    echoing = threading.Thread(target=bridge.echo, args=(done,))
    sending.start()
    echoing.start()
    try:
        while sending.is_alive():
            kills += 1
            goal = len(bridge.acknowledged) + lives.randint(1, longest)
            with serving(database, end, who=who) as bridge.address:
                while sending.is_alive() and len(bridge.acknowledged) < goal:
                    time.sleep(0.01)
                if who == WORKERS and kills % 3 == 0:
                    wait_for_work(system)
    finally:
        bridge.refusal = bridge.refusal or ("given up" if sending.is_alive() else None)
        done.set()
        echoing.join()
    return kills


def unfinished(system: System) -> int:
    """Return how many messages still wait to be understood."""
    waiting = select(func.count()).where(observer_messages.c.state.in_(["queued", "running"]))
    return system.store.read_now(lambda conn: conn.execute(waiting).scalar_one())


def drain(system: System, database: Path, end: datetime) -> None:
    """Let a server that nobody kills finish."""
    deadline = time.monotonic() + LONGEST_DRAIN_SECONDS
    with serving(database, end):
        while unfinished(system):
            assert time.monotonic() < deadline, states(system)
            time.sleep(0.5)


def kill_workers(
    database: Path, end: datetime, sending: "Future[int]", system: System, *, least: int
) -> None:
    """Run workers, each killed within two seconds, every other one at work, until all is sent; let one finish."""
    kills = 0
    while not (sending.done() and kills >= least):
        with working(database, end):
            if kills % 2:
                wait_for_work(system, at_most=WORKS_SECONDS)
            else:
                time.sleep(WORKS_SECONDS)
        kills += 1
    with working(database, end) as last:
        assert "idle\n" in last.lines


@contextmanager
def working(database: Path, end: datetime) -> Iterator[Worker]:
    """Have the work done by a process of its own, once it has taken over, then kill it."""
    with worker(str(database), end) as running:
        assert f"{WORKS}\n" in running.lines, "no worker took over"
        yield running


def assert_nothing_lost_or_doubled(system: System, chat: Sequence[InboundMessage]) -> None:
    """Compare what is left with what a replay of the talk leaves."""
    left, by_state = left_by(system), states(system)
    begun = system.store.read_now(
        lambda conn: conn.execute(select(func.max(observer_messages.c.epoch))).scalar_one()
    )
    assert by_state.keys() == {"done", "dropped"}, "something is stuck"
    assert begun > 1, "no kill hit a message that was being understood: the test shows nothing"
    assert len(left["messages"]) == len({message.message_id for message in chat}), "lost or doubled"
    assert left["pending_actions"]
    replay = Path(str(system.store.url.database)).with_name("replayed.db")
    assert_same_tables(left, replayed(replay, chat))


@pytest.mark.nightly
def test_messages_through_a_server_that_is_killed_at_random_end_as_a_replay_does(
    tmp_path: Path,
) -> None:
    database, chat = tmp_path / "family.db", talk(MESSAGES, one_in=3)
    with live_system(database, **SETTINGS) as system:
        bridge = Bridge(bridge_key(system), chat)
        kills = kill_until_all_is_sent(database, bridge, system, least=LEAST_KILLS)
        assert bridge.refusal is None
        assert kills >= LEAST_KILLS
        assert bridge.hung_up >= kills
        assert bridge.repeats >= MESSAGES / 10
        drain(system, database, chat[-1].sent_at)
        assert_nothing_lost_or_doubled(system, chat)


def test_a_worker_killed_every_two_seconds_beside_a_server_killed_at_random_ends_as_a_replay_does(
    tmp_path: Path,
) -> None:
    database, chat = tmp_path / "family.db", talk(MESSAGES_APART, one_in=1)
    with live_system(database, **SETTINGS) as system, ThreadPoolExecutor(1) as pool:
        bridge = Bridge(bridge_key(system), chat)
        sending = pool.submit(
            kill_until_all_is_sent, database, bridge, system, least=LEAST_KILLS_APART, who=ALONE
        )
        kill_workers(database, chat[-1].sent_at, sending, system, least=LEAST_KILLS_APART)
        assert bridge.refusal is None
        assert sending.result() >= LEAST_KILLS_APART
        assert bridge.repeats >= MESSAGES_APART / 10
        assert_nothing_lost_or_doubled(system, chat)
