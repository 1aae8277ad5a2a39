"""What memory adds to a turn, and how long an answer of the brain takes: CPU time of the process, no embedder."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import process_time_ns
from zoneinfo import ZoneInfo

from bench.cost import p99_of
from bench.report import Figure, Ratio
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.context_builder import assembled
from kinkeeper.memory.context.prefetch import Streaming, Thread
from kinkeeper.memory.context.session_facts import injected
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Category, Episode, Origin
from kinkeeper.store.store import Store

_NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
_FACTS, _TURNS, _ROUNDS = 500, 5_000, 60
_THINGS = [
    "bicycle",
    "kayak",
    "piano",
    "rabbit",
    "tent",
    "stove",
    "camera",
    "ladder",
    "harbour",
    "orchard",
    "violin",
    "garden",
]
_DOINGS = [
    "mended",
    "painted",
    "sold",
    "borrowed",
    "lost",
    "found",
    "cleaned",
    "wanted",
    "forgot",
    "carried",
]
_HOUSEHOLD = Household(
    id="bench",
    zone=ZoneInfo("Europe/Vienna"),
    locale="en-GB",
    bot_name="Bench",
    owner="ann",
    members=(Member(id="ann", name="Ann", role=Role.PARENT),),
)


def measure() -> tuple[Ratio | Figure, ...]:
    """Time a turn's share of memory beside thousands of turns and hundreds of facts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.sqlite"
        with Store.open(str(path)) as store:
            _fill(store)
            return asyncio.run(_measured(store))


async def _measured(store: Store) -> tuple[Ratio | Figure, ...]:
    clock, viewer = VirtualClock(_NOW), Viewer.of(_HOUSEHOLD.id, "ann")
    finder = Finder(store, _HOUSEHOLD.id, zone=_HOUSEHOLD.zone)
    await finder.prepare()
    streaming, thread = Streaming(store, finder, clock), Thread(viewer, "s0")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(streaming.run())
        looked_up = await _times(lambda: _looked_up(streaming, thread))
        running.cancel()
    brain = HouseholdBrain(store, _HOUSEHOLD, finder, clock)
    question = BrainQuery(text="Who mended the kayak of number 7?")
    return (
        _ratio("looking up what the last turns call for", looked_up, 150_000),
        _ratio(
            "taking what was looked up, on the turn's path",
            await _times(lambda: streaming.take(thread)),
            10_000,
        ),
        _ratio(
            "a turn's whole context, within the budget",
            await _times(
                lambda: assembled(
                    store,
                    streaming,
                    thread,
                    now=_NOW,
                    budget=1500,
                    names=_HOUSEHOLD.names,
                    zone=_HOUSEHOLD.zone,
                )
            ),
            100_000,
        ),
        _ratio(
            "what a session begins with",
            await _times(lambda: injected(store, finder, viewer, query="the kayak", now=_NOW)),
            250_000,
        ),
        _ratio(
            "an answer of the brain", await _times(lambda: brain.know(question, viewer)), 50_000
        ),
    )


async def _looked_up(streaming: Streaming, thread: Thread) -> None:
    before = streaming.figures.searched
    streaming.turn_ended(thread)
    while streaming.figures.searched == before:  # noqa: ASYNC110 - nobody is told
        await asyncio.sleep(0)


async def _times(operation: Callable[[], Awaitable[object]]) -> list[float]:
    await operation()
    found = []
    for _ in range(_ROUNDS):
        start = process_time_ns()
        await operation()
        found.append((process_time_ns() - start) / 1_000)
    return found


def _ratio(name: str, microseconds: list[float], target: float) -> Ratio:
    return Ratio(
        name=name,
        microseconds=median(microseconds),
        p99_microseconds=p99_of(microseconds),
        peer="-",
        peer_microseconds=None,
        target=target,
    )


def _fill(store: Store) -> None:
    turns = [
        Episode(
            household=_HOUSEHOLD.id,
            id=f"e{number}",
            session=f"s{number % 250}",
            speaker="Ann",
            text=_sentence(number),
            said_at=_NOW - timedelta(minutes=number),
            origin=Origin.SAID,
        )
        for number in range(_TURNS)
    ]
    facts = [
        ImportedFact(
            id=f"f{number}",
            text=_sentence(number),
            category=[*Category][number % len(Category)],
            title=_sentence(number),
            at=_NOW - timedelta(hours=number),
            confidence=0.9,
        )
        for number in range(_FACTS)
    ]
    store.write_now(lambda conn: insert_episodes(conn, turns, at=_NOW, is_read=True))
    store.write_now(lambda conn: import_facts(conn, _HOUSEHOLD.id, facts, at=_NOW))


def _sentence(number: int) -> str:
    thing, doing = _THINGS[number % len(_THINGS)], _DOINGS[number % len(_DOINGS)]
    return (
        f"Somebody {doing} the {thing} of number {number}, and the {_THINGS[number % 7]} beside it."
    )
