"""kill -9 of the worker at any moment: no message lost, nothing done twice, the same end as a replay."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from kinkeeper.bootstrap import System
from kinkeeper.core.messages import InboundMessage
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.tables import observer_messages
from live_household import MONDAY, left_by, live_system, said

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).with_name("observer_process.py"))
QUEUED = 300
CHATTER = 30
KILLS = (1, 29, 0, 61, 12, 44)
# Lines of the day are not limited, and a question is not asked at an hour that falls between two kills.
SETTINGS = {"max_speak_per_day": 500, "speak_on_missing_critical": 0, "tier2_workers": 2}

DAYS = ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
# Each chat has a parent, a child and an activity of its own: what one chat says never meets the other.
CHATS = {"one": ("john", "Leo", "soccer"), "two": ("sarah", "Mia", "ballet")}
TEXTS = (
    "Who's picking up {child} {day} after {activity}?",
    "I'll do it",
    "{child} has the dentist {day} at {hour}pm",
    "I'll drop off {child} at {activity} {day}",
    "{activity} is cancelled {day}",
    "can't make it {day} after all, who can get {child}?",
    "{child} has a doctor appointment {day} at {hour}:30pm",
    "I got {child} {day}",
)


def conversation() -> list[InboundMessage]:
    """Return enough talk of two chats in turn, a minute apart, one in ten sent twice."""
    chat: list[InboundMessage] = []
    for number in range(QUEUED + CHATTER):
        name = list(CHATS)[number % 2]
        sender, child, activity = CHATS[name]
        turn = number // 2
        text = TEXTS[turn % len(TEXTS)].format(
            child=child, activity=activity, day=DAYS[turn // 3 % len(DAYS)], hour=1 + turn % 6
        )
        if number % 11 == 10:
            text = "lol the dog ate the remote"
        message = said(number, sender, text, minute=1 + number / 2, chat=name)
        chat += [message] * (2 if number % 10 == 0 else 1)
    return chat


def take_in(system: System, intake: Intake, chat: Sequence[InboundMessage]) -> int:
    """Take messages in, each at its time; return how many wait for tier 2."""
    queued = 0
    for message in chat:
        received = system.store.write_now(
            lambda conn, message=message: intake.receive(conn, message, now=message.sent_at)  # type: ignore[misc]  # the loop's value
        )
        queued += received.is_queued and not received.is_repeat
    return queued


@contextmanager
def worker(path: Path, now: datetime) -> Iterator[Iterator[str]]:
    """Start a worker; yield the lines it prints; kill -9 at the end of the block."""
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    tests = str(Path(__file__).parents[1])
    started = subprocess.Popen(
        [sys.executable, SCRIPT, str(path), now.isoformat(), *settings],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])},
    )
    assert started.stdout is not None
    try:
        yield iter(started.stdout.readline, "")
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


def after(lines: Iterator[str], count: int) -> None:
    """Return once that many messages were begun, or nothing is left to begin."""
    for number, line in enumerate(lines, 1):
        if number > count or line == "idle\n":
            return


def states(system: System) -> Counter[str]:
    found = system.store.read_now(
        lambda conn: conn.execute(select(observer_messages.c.state)).scalars().all()
    )
    return Counter(found)


def test_three_hundred_messages_through_repeated_kills_end_as_a_replay_does(tmp_path: Path) -> None:
    path, chat = tmp_path / "family.db", conversation()
    end, share = chat[-1].sent_at, len(chat) // len(KILLS)
    with live_system(path, **SETTINGS) as system:
        with system.live_intake(refuses_chats=False) as intake:
            queued = take_in(system, intake, chat[:share])
            for kill, count in enumerate(KILLS, 1):
                with worker(path, end) as lines:
                    until = None if kill == len(KILLS) else share * (kill + 1)
                    queued += take_in(system, intake, chat[share * kill : until])
                    after(lines, count)
        assert queued >= QUEUED
        with worker(path, end) as lines:
            assert "idle\n" in lines
        begun = system.store.read_now(
            lambda conn: conn.execute(select(observer_messages.c.epoch)).scalars().all()
        )
        left = left_by(system)
        assert states(system).keys() == {"done", "dropped"}
    assert max(begun) > 1, "no kill hit a message that was being understood: the test shows nothing"
    assert len(left["messages"]) == QUEUED + CHATTER
    assert left["pending_actions"]
    assert left["outbox"]

    with live_system(tmp_path / "replayed.db", **SETTINGS) as other:

        async def replay() -> None:
            observer = other.replay(MONDAY)
            for message in chat:
                async for _ in observer.feed(message):
                    pass

        asyncio.run(replay())
        replayed = left_by(other)
    for table, rows in replayed.items():
        assert left[table] == rows, table
