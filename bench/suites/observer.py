"""Speed of the observer on a family's chat: tier 1 beside a bare insert, both tiers beside tier 1 alone, tier 2."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, insert

from bench.cost import p99_of
from bench.report import Ratio
from kinkeeper.bootstrap import System, open_system
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.core.time import VirtualClock
from kinkeeper.jobs import leases
from kinkeeper.messaging.tables import messages
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.settling.job import UnderstandingJob
from kinkeeper.observer.speaker import REPLAY
from kinkeeper.observer.tables import observer_messages
from kinkeeper.settings.model import Settings

_MESSAGES = 420
_ROUNDS = 3
_ONE_IN = 14
_LARGEST_RATIO = 3.0
_BARE_INSERT = insert(messages).returning(messages.c.id)
_TIER_2_P99_US = 100_000.0
START = datetime(2026, 3, 2, 13, tzinfo=UTC)
APART = timedelta(seconds=150)
_LEASE = timedelta(hours=1)
_WARM_UP = 20
_WARM_UP_QUEUED = 3

HOUSEHOLD = """
[household]
id = "bench"
timezone = "America/Chicago"

[[members]]
id = "nadia"
name = "Nadia"
role = "parent"

[[members]]
id = "viktor"
name = "Viktor"
role = "parent"

[[members]]
id = "ida"
name = "Ida"
role = "child"

[[members]]
id = "emil"
name = "Emil"
role = "child"

[[activities]]
id = "judo"

[[activities]]
id = "choir"

[[events]]
id = "ida-judo"
summary = "Ida judo"
activity = "judo"
who = ["ida"]
start = 2026-01-06T16:30:00
duration_minutes = 60
rrule = "FREQ=WEEKLY;BYDAY=TU,TH"

[[events]]
id = "emil-choir"
summary = "Emil choir"
activity = "choir"
who = ["emil"]
start = 2026-01-05T16:00:00
duration_minutes = 60
rrule = "FREQ=WEEKLY;BYDAY=MO,WE"
"""
CHATTER = (
    "good morning ☀️",
    "did you see the neighbours' new fence, it is painted bright green 😂",
    "lol no",
    "we are out of milk again",
    "thx!",
    "that film was so much longer than it had to be",
    "haha same",
    "the cat has brought another mouse in and it was still very much alive, I screamed",
    "love you",
    "who ate my yoghurt",
    "my phone is at {n} percent",
    "grandma says hi 👋",
    "I can't believe it's {n} already, where does the year go",
)
COORDINATION = (
    "Who's picking up Ida Thursday after judo?",
    "I'll do it",
    "Emil has the dentist Wednesday at 4pm",
    "can you take Emil to choir tomorrow",
    "judo is cancelled Tuesday",
    "I got Ida on Tuesday, you get Emil from choir Wednesday",
    "moved the dentist to Friday 10:30",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What operations took, in microseconds each.

    Attributes:
        cpu: Time of the process.
        wall: Time that passed.
    """

    cpu: list[float]
    wall: list[float]


def measure() -> tuple[Ratio, ...]:
    """Time both tiers on one message in fourteen that coordinates, the rest ordinary talk.

    Returns:
        Tier 1 as a ratio to inserting the same message alone, in CPU and in wall time; a replay
        through both tiers as a ratio to tier 1 alone; and tier 2 of one message against its budget.
    """
    with ExitStack() as held:
        folder = Path(held.enter_context(TemporaryDirectory()))
        (folder / "household.toml").write_text(HOUSEHOLD, encoding="utf-8")
        systems = [
            held.enter_context(bench_system(folder, name)) for name in ("one", "two", "three")
        ]
        return (*_tier_1(systems[0]), *asyncio.run(_both_tiers(systems[1], systems[2])))


@contextmanager
def bench_system(folder: Path, name: str) -> Iterator[System]:
    """Open the family of these benchmarks on a new database.

    Args:
        folder: Holds its household file.
        name: Of the database.
    """
    with open_system(
        Settings(max_messages_per_minute=100_000),
        household_file=folder / "household.toml",
        database=str(folder / f"{name}.db"),
        now=START,
    ) as system:
        yield system


def _chat(chat_id: str) -> list[InboundMessage]:
    chatter, coordination = cycle(CHATTER), cycle(COORDINATION)
    return [
        InboundMessage(
            channel=REPLAY,
            chat_id=chat_id,
            message_id=f"m{number}",
            sender="nadia" if number % 3 else "viktor",
            text=next(coordination if number % _ONE_IN == 0 else chatter).format(n=number),
            sent_at=START + number * APART,
        )
        for number in range(_MESSAGES)
    ]


def _tier_1(system: System) -> tuple[Ratio, Ratio]:
    """Take in each message and insert it bare, in turn; the best of a message's rounds counts."""
    intake = system.intake(refuses_chats=False)
    received, inserted = (
        [Cost([], []) for _ in range(_ROUNDS)],
        [Cost([], []) for _ in range(_ROUNDS)],
    )
    for number in range(_ROUNDS):
        for message in _chat(f"chat {number}"):
            _timed(received[number], system, _receiving(intake, message))
            _timed(inserted[number], system, _inserting(message))
    return (
        _ratio("tier 1 of a message, CPU", _best(received, "cpu"), _best(inserted, "cpu")),
        _ratio("tier 1 of a message, wall time", _best(received, "wall"), _best(inserted, "wall")),
    )


def _receiving(intake: Intake, message: InboundMessage) -> Callable[[Connection], object]:
    return lambda conn: intake.receive(conn, message, now=message.sent_at)


def _inserting(message: InboundMessage) -> Callable[[Connection], object]:
    values = {
        "household": "bare",
        "channel": message.channel,
        "chat_id": message.chat_id,
        "message_id": message.message_id,
        "revision": message.message_id,
        "thread_id": message.message_id,
        "sender": message.sender,
        "is_member": 1,
        "text": message.text,
        "kind": message.kind.value,
        "reply_to": None,
        "target": None,
        "sent_at": message.sent_at,
        "received_at": message.sent_at,
    }
    return lambda conn: conn.execute(_BARE_INSERT, values).scalar_one()


def _timed(cost: Cost, system: System, work: Callable[[Connection], object]) -> None:
    wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
    system.store.write_now(work)
    cost.cpu.append((time.thread_time_ns() - cpu) / 1_000)
    cost.wall.append((time.perf_counter_ns() - wall) / 1_000)


def _best(rounds: Sequence[Cost], kind: str) -> list[float]:
    """Return each message's best round, without the first messages, which fill caches."""
    return [min(each) for each in zip(*(getattr(cost, kind) for cost in rounds), strict=True)][
        _WARM_UP:
    ]


def _ratio(name: str, found: Sequence[float], peer: Sequence[float]) -> Ratio:
    return Ratio(
        name=name,
        microseconds=median(found),
        p99_microseconds=p99_of(found),
        peer="bare insert of the same message",
        peer_microseconds=median(peer),
        target=_LARGEST_RATIO,
    )


@asynccontextmanager
async def timing(cost: Cost) -> AsyncIterator[None]:
    """Add what the block takes to a cost."""
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    yield
    cost.cpu.append((time.process_time_ns() - cpu) / 1_000)
    cost.wall.append((time.perf_counter_ns() - wall) / 1_000)


async def _both_tiers(replayed: System, first_only: System) -> tuple[Ratio, Ratio]:
    """Replay each message on one database and take it in on another, in turn; then run tier 2 there."""
    replay, intake = replayed.replay(START), first_only.intake(refuses_chats=False)
    both, alone = Cost([], []), Cost([], [])
    queued: list[str] = []
    for message in _chat("chat"):
        async with timing(both):
            async for _ in replay.feed(message):
                pass
        async with timing(alone):
            received = await first_only.store.write(
                lambda conn, message=message: intake.receive(conn, message, now=message.sent_at)  # type: ignore[misc]  # the loop's value
            )
        if received.is_queued:
            queued.append(received.row_id)
    second = await _tier_2(first_only, queued)
    found, peer = both.cpu[_WARM_UP:], alone.cpu[_WARM_UP:]
    settled = second.cpu[_WARM_UP_QUEUED:]
    share = round(100 * len(queued) / _MESSAGES)
    return (
        Ratio(
            name=f"replay through both tiers, {share} % queued, {1e6 / fmean(found):,.0f} a second of CPU",
            microseconds=fmean(found),
            p99_microseconds=p99_of(found),
            peer=f"tier 1 alone, {1e6 / fmean(peer):,.0f} a second of CPU",
            peer_microseconds=fmean(peer),
            target=None,
        ),
        Ratio(
            name="tier 2 of a queued message, by rules, CPU",
            microseconds=median(settled),
            p99_microseconds=p99_of(settled),
            peer="-",
            peer_microseconds=None,
            target=_TIER_2_P99_US,
        ),
    )


async def _tier_2(system: System, queued: Sequence[str]) -> Cost:
    clock = VirtualClock(START + _MESSAGES * APART)
    job = understanding_job(system, clock)
    cost = Cost([], [])
    for row_id in queued:
        await time_tier_2(system, job, row_id, cost, now=clock.now())
    return cost


def understanding_job(system: System, clock: VirtualClock) -> UnderstandingJob:
    """Return tier 2 as the worker runs it."""
    return UnderstandingJob(
        system.store,
        system.household.id,
        understanding=system.understanding(clock),
        settlement=system.settlement(),
    )


async def time_tier_2(
    system: System, job: UnderstandingJob, row_id: str, cost: Cost, *, now: datetime
) -> None:
    """Run tier 2 of one queued message and add what it takes, without the claim, to a cost."""
    key = (system.household.id, row_id)
    epoch = await system.store.write(
        lambda conn: leases.claim(conn, observer_messages, key, now=now, lease=_LEASE)
    )
    if epoch is None:
        raise InvariantError("a queued message of the benchmark cannot be claimed")
    async with timing(cost):
        await job.handle(key, epoch)
