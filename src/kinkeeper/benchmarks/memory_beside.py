"""What memory's work beside a turn costs it: a night in a process of its own, and looking up ahead."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sqlalchemy import Connection

from kinkeeper.benchmarks.memory_nightly import Tellings
from kinkeeper.benchmarks.observer import p99_of
from kinkeeper.benchmarks.report import Figure, Ratio
from kinkeeper.benchmarks.serving import talk
from kinkeeper.benchmarks.serving.processes import ServerProcess, our_server
from kinkeeper.benchmarks.serving.turns import connected, said
from kinkeeper.bootstrap import open_system
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import SystemClock
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.writing import import_facts
from kinkeeper.settings.model import Settings

_FACTS, _TURNS, _BATCH = 4_000, 2_000, 500
_ROUNDS, _WARM_UP, _MOST_BESIDE = 45, 9, 300
_PAUSE_SECONDS = 0.1
_LONGEST_NIGHT_SECONDS = 900
_MOST_BESIDE_A_NIGHT = 1.2
_SAID = (
    "the coach of the rowing team number {} is called Ben",
    "what's on tomorrow?",
    "what do you know about the rowing team number {}?",
)
_WAYS = {"on": "true", "off": "false"}


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
        alone = asyncio.run(_turns(server, token, "127.0.0.2"))
        night = _night(folder, household, database)
        try:
            beside = asyncio.run(_turns(server, token, "127.0.0.3", while_running=night))
        finally:
            _finished(night)
    yield Ratio(
        name=f"a turn beside a night of {_FACTS:,} new facts, {len(beside.turns)} turns",
        microseconds=median(beside.turns), p99_microseconds=p99_of(beside.turns), peer="a turn alone",
        peer_microseconds=median(alone.turns), target=_MOST_BESIDE_A_NIGHT,
    )  # fmt: skip
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
            servers[way] = (held.enter_context(server), token)
        times = {
            way: asyncio.run(_turns(server, token, "127.0.0.4"))
            for way, (server, token) in servers.items()
        }
    yield Ratio(
        name="a turn, memories looked up ahead", microseconds=median(times["on"].turns),
        p99_microseconds=p99_of(times["on"].turns), peer="the same with nothing looked up",
        peer_microseconds=median(times["off"].turns), target=None,
    )  # fmt: skip
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
    command = [
        sys.executable, "-m", "kinkeeper", "consolidate", "--yes",
        "--household", str(household), "--db", str(database),
    ]  # fmt: skip
    environment = {
        "PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(sys.path), **talk.NO_MODEL,
    }  # fmt: skip
    return subprocess.Popen(  # noqa: S603 - this program itself
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=folder, env=environment
    )


def _finished(night: "subprocess.Popen[bytes]") -> None:
    try:
        if night.wait(timeout=_LONGEST_NIGHT_SECONDS):
            raise InvariantError(f"the night failed with {night.returncode}")
    finally:
        night.kill()
        night.wait()


async def _turns(
    server: ServerProcess,
    token: str,
    address: str,
    *,
    while_running: "subprocess.Popen[bytes] | None" = None,
) -> _Times:
    """Take turns: as many as always, or as many as fit while a process runs."""
    found = []
    async with connected(server, address) as connection:
        before = server.cpu_seconds()
        for number in count():
            is_over = number >= _ROUNDS + _WARM_UP
            if while_running is not None:
                is_over = while_running.poll() is not None or number >= _MOST_BESIDE
            if is_over:
                break
            text = _SAID[number % len(_SAID)].format(number)
            found.append(await connection.answered(said(text, token)))
            await asyncio.sleep(_PAUSE_SECONDS)
        cpu = 1000 * (server.cpu_seconds() - before) / max(1, len(found))
    warm = found[_WARM_UP:] if while_running is None else found
    if not warm:
        raise InvariantError("the night was over before a turn was")
    return _Times(turns=warm, cpu=cpu)
