"""What memory's work beside a turn costs it: a night in a process of its own, and looking up ahead."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sqlalchemy import Connection

from bench.cost import p99_of
from bench.report import Figure, Ratio
from bench.serving import talk
from bench.serving.processes import ServerProcess, our_server
from bench.serving.turns import connected, said
from bench.suites.memory_nightly import Tellings
from kinkeeper.bootstrap import open_system, read_households
from kinkeeper.bootstrap.nights import Night
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import SystemClock
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.ingest import import_facts
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice

_FACTS, _TURNS, _BATCH = 4_000, 2_000, 500
_ROUNDS, _WARM_UP, _MOST_BESIDE = 45, 9, 300
# As often as a server lets one client write for long; a calm machine answers faster than that.
_PAUSE_SECONDS = 0.5
_LONGEST_NIGHT_SECONDS = 900
_MOST_BESIDE_A_NIGHT = 1.2
_SAID = (
    "the coach of the rowing team number {} is called Ben",
    "what's on tomorrow?",
    "what do you know about the rowing team number {}?",
)
_OURS = "ours"
_WAYS = {"on": "true", "off": "false"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A server, and the token of who may speak there."""

    server: ServerProcess
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    """What turns took.

    Attributes:
        turns: From the message to the end of the answer, microseconds of the clock on the wall.
        cpu: Of the server a turn, what is done after it included, ms.
    """

    turns: Sequence[float]
    cpu: float


def measure() -> tuple[Ratio | Figure, ...]:
    """Time turns alone and beside a night, then with and without looking up ahead."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        return (*_beside_a_night(folder), *_looked_up_ahead(folder))


def _beside_a_night(folder: Path) -> Iterator[Ratio | Figure]:
    household, database, _ = talk.prepare(folder, "night")
    token = talk.adult_token(household, database)
    # The night of today is over, so that the server begins none of its own.
    _finished(_night(folder, household, database))
    _fill(household, database)
    with our_server(
        folder, household=household, database=database, settings=talk.NO_MODEL
    ) as server:
        asked = {_OURS: _Asked(server, token)}
        alone = asyncio.run(_turns(asked, "127.0.0.2"))[_OURS]
        night = _night(folder, household, database)
        try:
            beside = asyncio.run(_turns(asked, "127.0.0.3", while_running=night))[_OURS]
        finally:
            _finished(night)
    yield Ratio(
        name=f"a turn beside a night of {_FACTS:,} new facts, {len(beside.turns)} turns",
        microseconds=median(beside.turns),
        p99_microseconds=p99_of(beside.turns),
        peer="a turn alone",
        peer_microseconds=median(alone.turns),
        target=_MOST_BESIDE_A_NIGHT,
    )
    yield Figure(name="CPU of the server a turn, beside a night", value=beside.cpu, unit="ms")
    yield Figure(name="CPU of the server a turn, alone", value=alone.cpu, unit="ms")


def _looked_up_ahead(folder: Path) -> Iterator[Ratio | Figure]:
    with ExitStack() as held:
        servers = {}
        for way, setting in _WAYS.items():
            household, database, _ = talk.prepare(folder, way)
            token = talk.adult_token(household, database)
            _finished(_night(folder, household, database))
            _fill(household, database)
            settings = {**talk.NO_MODEL, "PASSIVE_STREAMING": setting}
            server = our_server(folder, household=household, database=database, settings=settings)
            servers[way] = _Asked(held.enter_context(server), token)
        times = asyncio.run(_turns(servers, "127.0.0.4"))
    yield Ratio(
        name="a turn, memories looked up ahead",
        microseconds=median(times["on"].turns),
        p99_microseconds=p99_of(times["on"].turns),
        peer="the same with nothing looked up",
        peer_microseconds=median(times["off"].turns),
        target=None,
    )
    for way, each in times.items():
        yield Figure(name=f"CPU of the server a turn, looking up {way}", value=each.cpu, unit="ms")


def _fill(household: Path, database: Path) -> None:
    """Store facts and turns that no night has looked at."""
    with open_system(Settings(), household_file=household, database=str(database)) as system:
        tenant, now = system.household.id, SystemClock().now()
        tellings = Tellings(tenant)
        for _ in range(0, _FACTS, _BATCH):
            known = [tellings.fact() for _ in range(_BATCH)]
            stored = partial(import_facts, household=tenant, imported=known, at=now)
            system.store.write_now(stored)
        turns = [tellings.turn(now) for _ in range(_TURNS)]

        def store(conn: Connection) -> None:
            insert_episodes(conn, turns, at=now, is_read=True)

        system.store.write_now(store)


def _night(folder: Path, household: Path, database: Path) -> "subprocess.Popen[bytes]":
    """Start what the server starts every night."""
    settings = Settings(embedder=EmbedderChoice.NONE)
    (house,) = read_households(household, settings)
    night = Night(settings=settings, household=house, database=f"sqlite:///{database}")
    environment = {**night.environment(), "PYTHONPATH": os.pathsep.join(sys.path)}
    packed = folder / "night"
    packed.write_bytes(night.packed())
    with packed.open("rb") as told:
        return subprocess.Popen(  # noqa: S603 - this program itself
            night.command(), stdin=told, stdout=subprocess.DEVNULL, cwd=folder, env=environment
        )


def _finished(night: "subprocess.Popen[bytes]") -> None:
    try:
        if night.wait(timeout=_LONGEST_NIGHT_SECONDS):
            raise InvariantError(f"the night failed with {night.returncode}")
    finally:
        night.kill()
        night.wait()


async def _turns(
    asked: Mapping[str, "_Asked"],
    address: str,
    *,
    while_running: "subprocess.Popen[bytes] | None" = None,
) -> dict[str, _Times]:
    """Take turns with each server in turn: as many as always, or as many as fit while a process runs."""
    found: dict[str, list[float]] = {name: [] for name in asked}
    async with AsyncExitStack() as held:
        connections = {
            name: await held.enter_async_context(connected(each.server, address))
            for name, each in asked.items()
        }
        before = {name: each.server.cpu_seconds() for name, each in asked.items()}
        for number in takewhile(partial(_goes_on, night=while_running), count()):
            text = _SAID[number % len(_SAID)].format(number)
            for name, each in asked.items():
                took = await connections[name].answered(said(text, each.token))
                found[name].append(took)
                await asyncio.sleep(_PAUSE_SECONDS)
    skipped = _WARM_UP if while_running is None else 0
    if not all(found.values()):
        raise InvariantError("the night was over before a turn was")
    return {
        name: _Times(
            turns=took[skipped:],
            cpu=1000 * (asked[name].server.cpu_seconds() - before[name]) / len(took),
        )
        for name, took in found.items()
    }


def _goes_on(number: int, *, night: "subprocess.Popen[bytes] | None") -> bool:
    if night is None:
        return number < _ROUNDS + _WARM_UP
    return night.poll() is None and number < _MOST_BESIDE
