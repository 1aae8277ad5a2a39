"""A server under steady load for a while, with tier 2 running: is anything lost, done twice or left over?"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

from sqlalchemy import Connection, func, select

from bench.cost import p99_of
from bench.report import Figure, Ratio
from bench.serving import talk
from bench.serving.load import Answers, connected
from bench.serving.processes import ServerProcess, our_server
from kinkeeper.actions.tables import pending_actions
from kinkeeper.core.time import SystemClock
from kinkeeper.jobs.leases import WorkState
from kinkeeper.messaging.tables import messages, outbox
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store.store import Store

_PER_SECOND = 200
_CONNECTIONS = 64
_ONE_IN_IS_RESENT = 20
_LONGEST_DRAIN_SECONDS = 600
_ACCEPTED = 202
_UNFINISHED = (WorkState.QUEUED, WorkState.RUNNING)
_FINISHED = frozenset({WorkState.DONE.value, WorkState.DROPPED.value})
# Until then connections, threads and caches come to be; what grows afterwards grows for as long as people talk.
_WARM_UP_SECONDS = 60
_MOST_MB_A_MINUTE = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """What the database holds afterwards.

    Attributes:
        stored: Messages by chat and id.
        states: Messages by state and reason.
        storm: Messages of the storm by reason.
        actions: Largest number of cards that one place of one message led to.
        lines: Lines to be sent that came twice.
    """

    stored: Counter[tuple[str, str]]
    states: Counter[tuple[str, str]]
    storm: Counter[str]
    actions: int
    lines: int


def measure(folder: Path, *, seconds: int) -> tuple[Ratio | Figure, ...]:
    """Send a server 200 messages a second, one in twenty of them twice, and see what became of them.

    Args:
        folder: For the database.
        seconds: How long.
    """
    household, database, token = talk.prepare(folder, "soak")
    records = talk.mixed(_PER_SECOND * seconds)
    with our_server(folder, household=household, database=database) as server:
        answers, memory, cpu = asyncio.run(_load(server, records, token))
        with Store.open(str(database)) as store:
            drained = _drain(store)
            left = store.read_now(_look)
    sent = {(record["chat_id"], record["message_id"]) for record in records}
    refused = answers.statuses.total() - answers.statuses[_ACCEPTED]
    unfinished = sum(count for (state, _), count in left.states.items() if state not in _FINISHED)
    queued_storm = left.storm.total() - left.storm["rate_limited"]
    return (
        Ratio(
            name=f"soak, {_PER_SECOND} a second for {seconds} s: until the answer",
            microseconds=1e6 * median(answers.seconds),
            p99_microseconds=1e6 * p99_of(answers.seconds),
            peer="-",
            peer_microseconds=None,
            target=None,
        ),
        Figure(name="soak: messages that were not taken", value=refused, unit="", target=0),
        Figure(name="soak: messages lost", value=len(sent - left.stored.keys()), unit="", target=0),
        Figure(
            name="soak: messages, cards and lines doubled",
            unit="",
            target=0,
            value=left.stored.total() - len(left.stored) + max(left.actions - 1, 0) + left.lines,
        ),
        Figure(name="soak: messages stuck or failed", value=unfinished, unit="", target=0),
        Figure(
            name=f"soak: of {left.storm.total()} messages of a storm, queued",
            value=queued_storm,
            unit="",
            target=60 * (seconds / 60 + 1),
        ),
        Figure(name="soak: until the queue was empty", value=drained, unit="s more"),
        Figure(name="soak: CPU of the server, tier 2 and all", value=100 * cpu, unit="% of a core"),
        *_growth(memory),
    )


async def _load(
    server: ServerProcess, records: Sequence[dict[str, Any]], token: str
) -> tuple[Answers, list[tuple[float, float]], float]:
    """Return the answers, the server's memory by second, and its CPU time a second."""
    memory: list[tuple[float, float]] = []
    begin, before = time.monotonic(), server.cpu_seconds()

    async def watch() -> None:
        while True:
            memory.append((time.monotonic() - begin, server.resident_mb()))
            await asyncio.sleep(1)

    async with connected(server.host, server.port, connections=_CONNECTIONS) as client:
        watching = asyncio.ensure_future(watch())
        answers = await client.pace(_requests(records, token), per_second=_PER_SECOND)
        watching.cancel()
    return answers, memory, (server.cpu_seconds() - before) / (time.monotonic() - begin)


def _requests(records: Sequence[dict[str, Any]], token: str) -> Iterator[bytes]:
    """Yield each message with its time when it is asked for, and some once more."""
    for number, record in enumerate(records):
        stamped = {**record, "sent_at": SystemClock().now().isoformat()}
        request = talk.observe(stamped, token)
        yield request
        if number % _ONE_IN_IS_RESENT == 0:
            yield request


def _drain(store: Store) -> float:
    """Wait until nothing is to be understood any more; returns how long that took, seconds."""
    begin = time.monotonic()
    waiting = select(func.count()).where(observer_messages.c.state.in_(_UNFINISHED))
    while time.monotonic() < begin + _LONGEST_DRAIN_SECONDS:
        if store.read_now(lambda conn: conn.execute(waiting).scalar_one()) == 0:
            break
        time.sleep(0.5)
    return time.monotonic() - begin


def _look(conn: Connection) -> _Left:
    seen, cards = observer_messages.c, pending_actions.c
    by_place = (
        select(func.count().label("cards"))
        .select_from(pending_actions)
        .group_by(cards.household, cards.source_type, cards.source_id, cards.slot)
        .subquery()
    )
    lines = conn.execute(
        select(func.count() - func.count(outbox.c.dedupe_key.distinct())).select_from(outbox)
    ).scalar_one()
    rows = conn.execute(select(seen.chat_id, seen.state, seen.reason)).all()
    return _Left(
        stored=Counter(
            (row.chat_id, row.message_id)
            for row in conn.execute(select(messages.c.chat_id, messages.c.message_id))
        ),
        states=Counter((str(row.state), str(row.reason)) for row in rows),
        storm=Counter(str(row.reason) for row in rows if row.chat_id == talk.STORM),
        actions=conn.execute(select(func.max(by_place.c.cards))).scalar() or 0,
        lines=lines,
    )


def _growth(memory: Sequence[tuple[float, float]]) -> tuple[Figure, Figure]:
    """Return how much memory the warm-up took, at most the first half, and how fast it grew afterwards."""
    warm_up = min(_WARM_UP_SECONDS, memory[-1][0] / 2)
    later = [(at, mb) for at, mb in memory if at >= warm_up]
    slope = linear_regression([at for at, _ in later], [mb for _, mb in later]).slope
    (_, first), (_, warm), (_, last) = memory[0], later[0], later[-1]
    return (
        Figure(
            name=f"soak: memory that {warm_up:.0f} s of warm-up take, from {first:.0f} MB to {warm:.0f}",
            value=warm - first,
            unit="MB",
        ),
        Figure(
            name=f"soak: growth of memory in {memory[-1][0] - warm_up:.0f} s after that, to {last:.0f} MB",
            value=60 * slope,
            unit="MB a minute",
            target=_MOST_MB_A_MINUTE,
        ),
    )
