"""A long talk of two chats, and worker processes to understand it that can be killed."""

import asyncio
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from kinkeeper.bootstrap import System
from kinkeeper.core.messages import InboundMessage
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.tables import observer_messages
from live_household import MONDAY, left_by, live_system, said
from observer_process import HELD
from warm_start import Started

SCRIPT = str(Path(__file__).with_name("observer_process.py"))
# Lines of the day are not limited, and a question is not asked at an hour that depends on when work is done.
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


def conversation(length: int) -> list[InboundMessage]:
    """Return the talk of two chats in turn, a minute apart, one message in ten sent twice."""
    chat: list[InboundMessage] = []
    for number in range(length):
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


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process, which tells when it works, a dot for every message it begins, and when it is idle."""

    process: subprocess.Popen[str]

    @property
    def lines(self) -> Iterator[str]:
        """What it tells, as it does."""
        assert self.process.stdout is not None
        return iter(self.process.stdout.readline, "")

    def kill(self) -> list[str]:
        """End it with kill -9; return what it told that was not read yet."""
        self.process.kill()
        self.process.wait()
        return list(self.lines)


@contextmanager
def worker(address: str, now: datetime) -> Iterator[Worker]:
    """Start a worker, and kill it at the end of the block."""
    with held_worker(address, now) as held:
        let_go(held)
        yield held


def let_go(*workers: Worker) -> None:
    """Let workers that are held begin to work, all at once."""
    for each in workers:
        assert next(each.lines) == f"{HELD}\n"
    for each in workers:
        assert each.process.stdin is not None
        each.process.stdin.write("go\n")
        each.process.stdin.flush()


@contextmanager
def held_worker(address: str, now: datetime, **more: int) -> Iterator[Worker]:
    """Start a worker that works once it is let go, and kill it at the end of the block."""
    settings = [f"{key}={value}" for key, value in {**SETTINGS, **more}.items()]
    with Started(
        [SCRIPT, address, now.isoformat(), *settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Worker(process)
        finally:
            process.kill()


def after(lines: Iterator[str], count: int) -> None:
    """Return once that many messages were begun, or nothing is left to begin."""
    for line in lines:
        count -= line == ".\n"
        if count < 0 or line == "idle\n":
            return


def states(system: System) -> Counter[str]:
    found = system.store.read_now(
        lambda conn: conn.execute(select(observer_messages.c.state)).scalars().all()
    )
    return Counter(found)


def replayed(path: Path, chat: Sequence[InboundMessage]) -> dict[str, list[dict[str, Any]]]:
    """Return what a replay of the talk on a file of its own leaves."""
    with live_system(path, **SETTINGS) as system:

        async def replay() -> None:
            observer = system.replay(MONDAY)
            for message in chat:
                async for _ in observer.feed(message):
                    pass

        asyncio.run(replay())
        return left_by(system)
