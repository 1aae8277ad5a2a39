"""A night of memory: what 500 new facts and 500 new turns cost beside ten and a hundred thousand facts."""

import asyncio
import time
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import Connection

from kinkeeper.benchmarks.report import Figure
from kinkeeper.memory.counting import last_seq
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.vectors import VectorKey, VectorKind, put_vectors
from kinkeeper.memory.model import Category, Episode, Origin
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Tools
from kinkeeper.memory.upkeep.report import Report, RunState
from kinkeeper.memory.upkeep.runs import Run, insert_run
from kinkeeper.memory.writing import ImportedFact, import_facts
from kinkeeper.models.embedding.calibration import shipped_calibrations
from kinkeeper.models.embedding.embedder import Vectors, normalised
from kinkeeper.store.store import Store

SIZES = (10_000, 100_000)
NEW = 500

_HOUSE = "bench"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_NIGHT = _BEGIN + timedelta(days=1)
_BATCH = 2_000
_WORDS = 20_000
_DIMENSION = 384
_MOST_SECONDS = 10.0
_MOST_GROWTH = 1.3
_PEOPLE = ("ana", "ben", "leo", "mia", "tom", "eva", "sam", "ida")
_VERBS = ("loves", "owns", "visited", "wants", "plays", "repairs", "collects", "studied")


def measure(sizes: Sequence[int] = SIZES) -> tuple[Figure, ...]:
    """Fill memories of several sizes, and run one night on each, by words alone and with vectors.

    Args:
        sizes: Facts that are there already, in rising order.
    """
    found = []
    for has_vectors, how in ((False, "by words"), (True, "with vectors")):
        seconds = [_night(size, has_vectors=has_vectors) for size in sizes]
        found += [
            Figure(
                name=f"night, {size:,} facts + {NEW} new, {how}", value=taken, unit="s CPU",
                target=_MOST_SECONDS,
            )
            for size, taken in zip(sizes, seconds, strict=True)
        ]  # fmt: skip
        found.append(
            Figure(
                name=f"night, growth from {sizes[0]:,} to {sizes[-1]:,} facts, {how}",
                value=seconds[-1] / seconds[0], unit="times", target=_MOST_GROWTH,
            )
        )  # fmt: skip
    return tuple(found)


def _night(size: int, *, has_vectors: bool) -> float:
    with TemporaryDirectory() as folder, Store.open(str(Path(folder) / "memory.db")) as store:
        tellings = _Tellings()
        _fill(store, tellings, size, has_vectors=has_vectors)
        return _cpu_of_night(store, has_vectors=has_vectors)


def _cpu_of_night(store: Store, *, has_vectors: bool) -> float:
    """Run one night; returns the seconds of CPU that it took.

    Args:
        store: Filled.
        has_vectors: Whether what it holds has vectors.
    """
    likeness = next(iter(shipped_calibrations().values())) if has_vectors else None
    tools = Tools(people={name: name for name in _PEOPLE}, zone=ZoneInfo("UTC"), likeness=likeness)
    start = time.process_time()
    asyncio.run(consolidate(store, _HOUSE, tools, now=_NIGHT, progress=lambda _: None))
    return time.process_time() - start


def _fill(store: Store, tellings: "_Tellings", size: int, *, has_vectors: bool) -> None:
    """Store facts that earlier nights have looked at, and what is new since."""
    for start in range(0, size, _BATCH):
        known = [tellings.fact() for _ in range(min(_BATCH, size - start))]
        store.write_now(partial(_import, known=known, has_vectors=has_vectors))
    store.write_now(_looked_at)
    new = [tellings.fact() for _ in range(NEW)]
    turns = [tellings.turn() for _ in range(NEW)]
    store.write_now(lambda conn: insert_episodes(conn, turns, at=_BEGIN, is_read=True))
    store.write_now(lambda conn: _import(conn, known=new, has_vectors=has_vectors))
    if has_vectors:
        ids = [turn.id for turn in turns]
        store.write_now(lambda conn: _place(conn, VectorKind.EPISODE, ids))


class _Tellings:
    """Makes up what is told; the same in every run."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(20260301)
        syllables = [f"{one}{two}" for one in "bdfgklmnprstv" for two in "aeiou"]
        self._words = ["".join(each) for each in self._chance.choice(syllables, (_WORDS, 3))]
        self._count = 0

    def fact(self) -> ImportedFact:
        """Return a fact of its own."""
        self._count += 1
        person, verb = self._chance.choice(_PEOPLE), self._chance.choice(_VERBS)
        text = f"{person.title()} {verb} the {' '.join(self._chance.choice(self._words, 3))}"
        return ImportedFact(
            id=f"f{self._count}", text=text, category=Category.PREFERENCE, title=text,
            at=_BEGIN + timedelta(seconds=self._count % 3600),
        )  # fmt: skip

    def turn(self) -> Episode:
        """Return a turn that may bear a fact out."""
        self._count += 1
        said = self.fact()
        return Episode(
            household=_HOUSE, id=f"e{self._count}", text=f"{said.text} as always", said_at=_NIGHT,
            member=str(self._chance.choice(_PEOPLE)), origin=Origin.SAID,
        )  # fmt: skip


def _import(conn: Connection, *, known: Sequence[ImportedFact], has_vectors: bool) -> None:
    import_facts(conn, _HOUSE, known, at=_BEGIN)
    if has_vectors:
        _place(conn, VectorKind.FACT, [each.id for each in known])


def _place(conn: Connection, kind: VectorKind, ids: Sequence[str]) -> None:
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


def _looked_at(conn: Connection) -> None:
    """Note that nights before have looked at all there is."""
    seq = last_seq(conn, _HOUSE)
    insert_run(
        conn,
        Run(
            household=_HOUSE, id="before", state=RunState.DONE, from_seq=0, to_seq=seq,
            report=Report(), started_at=_BEGIN, ended_at=_BEGIN,
        ),
    )  # fmt: skip
