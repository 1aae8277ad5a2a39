"""What a turn costs without a model, by the way it takes, beside a bare committed echo; and many open streams."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.benchmarks.observer import p99_of
from kinkeeper.benchmarks.report import Figure, Ratio
from kinkeeper.bootstrap.conversation import talk_of
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.bootstrap.requests import catalogue_of
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.threads import Thread, open_thread
from kinkeeper.conversation.turns import post_to_thread
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.settings.embedding import EmbedderChoice
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

_ANN = Member(id="ann", name="Ann", role=Role.PARENT)
_HOUSEHOLD = Household(
    id="bench", zone=ZoneInfo("Europe/Vienna"), locale="en-GB", bot_name="Bench", owner="ann",
    members=(_ANN,),
)  # fmt: skip
_ROUNDS, _STREAMS = 40, 200
_P50_MS, _P99_US = 15.0, 50_000.0
_WAYS = {
    "a greeting": "good morning!",
    "a question about the calendar": "what's on tomorrow?",
    "a list": "what's on my to-do list?",
    "a task": "add buy stamps number {} to my to-do list",
    "a statement": "the coach of the rowing team number {} is called Ben",
}


def measure() -> tuple[Ratio | Figure, ...]:
    """Time turns as their channel sees them, from the message to the last event of the answer."""
    settings = Settings(embedder=EmbedderChoice.NONE)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "talk.sqlite")
        with Store.open(path) as store:
            return asyncio.run(_measured(settings, store))


async def _measured(settings: Settings, store: Store) -> tuple[Ratio | Figure, ...]:
    recall = Recall(settings, _HOUSEHOLD, store)
    catalogue = catalogue_of(settings, store, recall.finder)
    talk = talk_of(
        settings, _HOUSEHOLD, store, recall=recall, catalogue=lambda: catalogue,
        clock=SystemClock(),
    ).conversation  # fmt: skip
    echo = median(await _times(lambda number: _echo(store, number)))
    found: list[Ratio | Figure] = []
    for name, text in _WAYS.items():
        times = await _times(lambda number, text=text: _turn(talk, text.format(number)))  # type: ignore[misc]  # bound at once
        found += [
            Ratio(
                name=f"{name}, to the end of the answer", microseconds=median(times),
                p99_microseconds=p99_of(times), peer="-", peer_microseconds=None, target=_P99_US,
            ),
            Ratio(
                name=f"{name}, beside an echo that is committed and read",
                microseconds=median(times), p99_microseconds=p99_of(times), peer="echo",
                peer_microseconds=echo, target=None,
            ),
            Figure(name=f"{name}, median", value=median(times) / 1000, unit="ms", target=_P50_MS),
        ]  # fmt: skip
    found.append(await _streams(talk, store))
    await talk.close()
    return tuple(found)


async def _turn(talk: Conversation, text: str) -> None:
    said = await talk.say(_ANN, text, channel="bench")
    async for _ in talk.events(_ANN, said.thread_id, after=said.after, turn_id=said.turn_id):
        pass


async def _echo(store: Store, number: int) -> None:
    now, key = SystemClock().now(), f"echo-{number}"
    await store.write(lambda conn: _open(conn, "echo", now))
    await store.write(
        lambda conn: post_to_thread(conn, _HOUSEHOLD.id, "echo", "echo", key=key, now=now)
    )


def _open(conn: Connection, thread_id: str, now: datetime) -> None:
    open_thread(
        conn,
        Thread(
            household=_HOUSEHOLD.id, id=thread_id, member=_ANN.id, channel="bench", chat_id=None,
            created_at=now, last_at=now,
        ),
    )  # fmt: skip


async def _times(operation: Callable[[int], Awaitable[None]]) -> list[float]:
    """Return how long each run took, microseconds of the clock on the wall."""
    for number in range(5):
        await operation(-number - 1)
    found = []
    for number in range(_ROUNDS):
        begun = perf_counter()
        await operation(number)
        found.append((perf_counter() - begun) * 1e6)
    return found


async def _streams(talk: Conversation, store: Store) -> Figure:
    """Return what an event costs that one of many open streams hears."""
    now, heard = SystemClock().now(), asyncio.Semaphore(0)
    names = [f"stream-{number}" for number in range(_STREAMS)]
    for name in names:
        await store.write(lambda conn, name=name: _open(conn, name, now))  # type: ignore[misc]  # run at once

    async def listen(name: str) -> None:
        async for _ in talk.events(_ANN, name):
            heard.release()

    async with asyncio.TaskGroup() as group:
        listening = [group.create_task(listen(name)) for name in names]
        await asyncio.sleep(1)
        begun = process_time()
        for name in names:
            await store.write(
                lambda conn, name=name: post_to_thread(  # type: ignore[misc]  # run at once
                    conn, _HOUSEHOLD.id, name, "hello", key="k", now=now
                )
            )
        with suppress(TimeoutError):
            async with asyncio.timeout(60):
                for _ in range(2 * _STREAMS):
                    await heard.acquire()
        spent = (process_time() - begun) * 1000 / (2 * _STREAMS)
        for task in listening:
            task.cancel()
    return Figure(name=f"CPU an event, {_STREAMS} streams open", value=spent, unit="ms")
