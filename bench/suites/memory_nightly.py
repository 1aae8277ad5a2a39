"""A night of memory: what 500 new facts and 500 new turns cost beside ten and a hundred thousand facts."""

import asyncio
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import Connection, select

from bench.report import Figure
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.vectors import VectorKey, VectorKind, put_vectors
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.memory_rows import last_seq
from kinkeeper.memory.model import Category, Episode, Origin
from kinkeeper.memory.tables import facts
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Tools
from kinkeeper.memory.upkeep.recurrence import SMALLEST, clusters
from kinkeeper.memory.upkeep.runs import Report, Run, RunState, insert_run
from kinkeeper.models.embedding.calibration import shipped_calibrations
from kinkeeper.models.embedding.embedder import Vectors, normalised
from kinkeeper.store.store import Store

SIZES = (10_000, 100_000)
NEW = 500

_BY_WORDS, _BY_MEANING = _WAYS = ("by words", "with vectors")
_HOUSE = "bench"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_NIGHT = _BEGIN + timedelta(days=1)
_BATCH = 2_000
_WORDS = 20_000
_DIMENSION = 384
_MOST_SECONDS = 10.0
_MOST_GROWTH = 1.3
_PEOPLE = ("ana", "ben", "leo", "mia", "tom", "eva", "sam", "ida")
_VERBS = ("loves", "owns", "visited", "wants", "plays", "repairs", "collects", "grows")


def measure(sizes: Sequence[int] = SIZES) -> tuple[Figure, ...]:
    """Fill memories of several sizes, and run two nights on each: by words alone, then with vectors.

    Args:
        sizes: Facts that are there already, in rising order.
    """
    loading = _cpu_of(lambda: clusters(_vectors(SMALLEST, seed=1), floor=1.0))
    nights = [_nights(size) for size in sizes]
    found = [
        Figure(
            name=f"night, {size:,} facts + {NEW} new and {NEW} turns, {how}",
            value=seconds[how],
            unit="s CPU",
            target=_MOST_SECONDS,
        )
        for how in _WAYS
        for size, seconds in zip(sizes, nights, strict=True)
    ]
    found += [
        Figure(
            name=f"night, {sizes[-1]:,} facts beside {sizes[0]:,}, {how}",
            value=nights[-1][how] / nights[0][how],
            unit="times",
            target=_MOST_GROWTH,
        )
        for how in _WAYS
    ]
    library = Figure(name="night, loading what finds dense groups", value=loading, unit="s CPU")
    return (*found, library)


def _nights(size: int) -> Mapping[str, float]:
    with TemporaryDirectory() as folder, Store.open(str(Path(folder) / "memory.db")) as store:
        tellings = Tellings(_HOUSE)
        for start in range(0, size, _BATCH):
            known = [tellings.fact() for _ in range(min(_BATCH, size - start))]
            store.write_now(partial(import_facts, household=_HOUSE, imported=known, at=_BEGIN))
        seconds = {}
        for number, how in enumerate(_WAYS):
            now = _NIGHT + timedelta(days=number)
            store.write_now(partial(_looked_at, at=now - timedelta(hours=1)))
            ids = _tell(store, tellings, now)
            likeness = None
            if how == _BY_MEANING:
                likeness = next(iter(shipped_calibrations().values()))
                _place_all(store, ids)
            tools = Tools(
                people={name: name for name in _PEOPLE}, zone=ZoneInfo("UTC"), likeness=likeness
            )
            night = consolidate(store, _HOUSE, tools, now=now, progress=lambda _: None)
            seconds[how] = _cpu_of(partial(asyncio.run, night))
    return seconds


def _cpu_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _tell(store: Store, tellings: "Tellings", now: datetime) -> Sequence[str]:
    """Store what is new; returns the ids of the turns."""
    new = [tellings.fact() for _ in range(NEW)]
    turns = [tellings.turn(now) for _ in range(NEW)]
    store.write_now(lambda conn: insert_episodes(conn, turns, at=now, is_read=True))
    store.write_now(partial(import_facts, household=_HOUSE, imported=new, at=now))
    return [turn.id for turn in turns]


def _place_all(store: Store, turns: Sequence[str]) -> None:
    """Give all facts and the new turns vectors that point anywhere."""
    query = select(facts.c.id).where(facts.c.household == _HOUSE)
    ids = store.read_now(lambda conn: conn.execute(query).scalars().all())
    for start in range(0, len(ids), _BATCH):
        part = ids[start : start + _BATCH]
        store.write_now(partial(_place, kind=VectorKind.FACT, ids=part))
    store.write_now(partial(_place, kind=VectorKind.EPISODE, ids=turns))


class Tellings:
    """Makes up what is told; the same in every run.

    Args:
        household: Tenant key of what is said.
    """

    def __init__(self, household: str) -> None:
        self._household = household
        self._chance = np.random.default_rng(20260301)
        syllables = [f"{one}{two}" for one in "bdfgklmnprstv" for two in "aeiou"]
        self._words = ["".join(each) for each in self._chance.choice(syllables, (_WORDS, 3))]
        self._told: list[str] = []
        self._count = 0

    def fact(self) -> ImportedFact:
        """Return a fact of its own."""
        self._count += 1
        person, verb = self._chance.choice(_PEOPLE), self._chance.choice(_VERBS)
        text = f"{person.title()} {verb} the {' '.join(self._chance.choice(self._words, 3))}"
        self._told.append(text)
        return ImportedFact(
            id=f"f{self._count}",
            text=text,
            category=Category.PREFERENCE,
            title=text,
            at=_BEGIN + timedelta(seconds=self._count % 3600),
        )

    def turn(self, now: datetime) -> Episode:
        """Return a turn that bears a fact out which is known already."""
        self._count += 1
        said = str(self._chance.choice(self._told))
        return Episode(
            household=self._household,
            id=f"e{self._count}",
            text=f"{said} as always",
            said_at=now,
            member=str(self._chance.choice(_PEOPLE)),
            origin=Origin.SAID,
        )


def _place(conn: Connection, *, kind: VectorKind, ids: Sequence[str]) -> None:
    model = next(iter(shipped_calibrations()))
    made = _vectors(len(ids), seed=zlib.crc32(ids[0].encode()))
    put_vectors(
        conn,
        _HOUSE,
        model,
        {VectorKey(kind, key): vector for key, vector in zip(ids, made, strict=True)},
    )


def _vectors(count: int, *, seed: int) -> Vectors:
    """Return vectors that point anywhere, of length 1: shape (count, dimension)."""
    return normalised(np.random.default_rng(seed).normal(size=(count, _DIMENSION)))


def _looked_at(conn: Connection, *, at: datetime) -> None:
    """Note that nights before have looked at all there is."""
    seq = last_seq(conn, _HOUSE)
    run = Run(
        household=_HOUSE,
        id=f"before {at}",
        state=RunState.DONE,
        from_seq=0,
        to_seq=seq,
        report=Report(),
        started_at=at - timedelta(days=1),
        ended_at=at,
    )
    insert_run(conn, run)
