"""kill -9 of the server in the middle of turns: each message is answered once, nothing is done twice, no event is lost.

60 messages in three threads; CONVERSATION_CRASH_MESSAGES asks for more.
"""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from cli_program import Program
from kinkeeper.conversation.tables import turn_events, turns
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from kinkeeper.tasks.repository import list_tasks
from running_server import Running, prepared, running, token

pytestmark = [pytest.mark.slow, pytest.mark.crash]

MESSAGES = int(os.environ.get("CONVERSATION_CRASH_MESSAGES", "60"))
THREADS = 3
LEAST_KILLS = 4
LONGEST_SECONDS = 900
THINGS = ("stamps", "batteries", "candles", "envelopes", "sponges", "tape", "string", "glue")


def said(number: int) -> str:
    return f"add buy {THINGS[number % len(THINGS)]} number {number + 100} to my to-do list"


def answered(address: str, secret: str, number: int) -> bool:
    """Say one message, once more if it was said before; returns whether its answer came whole."""
    body = {
        "text": said(number),
        "thread": f"thread-{number % THREADS}",
        "message_id": f"m{number}",
    }
    headers = {"Authorization": f"Bearer {secret}"}
    with suppress(httpx.HTTPError):
        answer = httpx.post(f"{address}/chat", json=body, headers=headers, timeout=60)
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
            time.sleep(1)
        return answer.status_code == httpx.codes.OK and "event: done" in answer.text
    return False


def talk_until_killed(server: Running, secret: str, left: Sequence[int], life: float) -> set[int]:
    """Say what is left, several at a time, and kill the server meanwhile; returns what was answered."""
    killer = threading.Timer(life, server.process.kill)
    killer.start()
    with ThreadPoolExecutor(THREADS) as people:
        told = people.map(lambda number: answered(server.address, secret, number), left)
        done = {number for number, is_whole in zip(left, told, strict=True) if is_whole}
    killer.cancel()
    return done


def test_each_message_is_answered_once_whatever_is_killed(tmp_path: Path) -> None:
    program, rng = prepared(Program(tmp_path)), random.Random(7)  # noqa: S311 - a test's
    secret = token(program, "john", "--role", "owner")
    left, kills, began = list(range(MESSAGES)), 0, time.monotonic()
    while left:
        assert time.monotonic() - began < LONGEST_SECONDS
        is_last = kills >= LEAST_KILLS
        with running(program) as server:
            life = LONGEST_SECONDS if is_last else rng.uniform(0.5, 4.0)
            pace = len(left) if is_last else max(1, MESSAGES // LEAST_KILLS)
            done = talk_until_killed(server, secret, left[:pace], life)
            kills += server.process.poll() is not None or not is_last
        left = [number for number in left if number not in done]
    assert kills >= LEAST_KILLS
    _all_is_there_once(program)


def _all_is_there_once(program: Program) -> None:
    with Store.open(str(program.database)) as store:
        household = "miller"
        made = store.read_now(
            lambda conn: [task.title for task in list_tasks(conn, Viewer.whole(household))]
        )
        assert len(made) == len(set(made)) == MESSAGES
        rows = store.read_now(lambda conn: conn.execute(select(turns)).all())
        assert Counter(row.outcome for row in rows) == {"answered": MESSAGES}
        events = store.read_now(lambda conn: conn.execute(select(turn_events)).all())
    ends = Counter(event.turn for event in events if event.name == "done")
    assert set(ends.values()) == {1}
    for thread in {event.thread for event in events}:
        numbers = sorted(event.number for event in events if event.thread == thread)
        assert numbers == list(range(1, len(numbers) + 1))
