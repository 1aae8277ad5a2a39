"""Memory where something goes wrong under it: a damaged vector, another model half way, a clock set back, two nights at once."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, func, select, update

from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.finding.vectors import count_vectors
from kinkeeper.memory.invariants import check, mend
from kinkeeper.memory.tables import memory_vectors
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors
from kinkeeper.store.store import Store
from memory_nights import HOUSE, Memory, day, meaning, unlike
from warm_start import Started

NIGHT_PROCESS = Path(__file__).parents[1] / "crash" / "night_process.py"
SAID = ("Our puppy ate a shoe", "The boiler is serviced in May", "Mia is allergic to peanuts")


class Spelling:
    """Tells texts apart by their spelling, as a model that is said to tell their meaning."""

    dimension = HashingEmbedder.dimension

    def __init__(self, model: str) -> None:
        self.model = model
        self._hashing = HashingEmbedder()

    async def embed(self, texts: list[str]) -> Vectors:
        return await self._hashing.embed(texts)


def found(store: Store, text: str, model: str) -> list[str]:
    finder = Finder(store, HOUSE, zone=ZoneInfo("UTC"), embedder=Spelling(model))
    asked = Search(text=text, viewer=Viewer.of(HOUSE), now=day(1), limit=3)
    return [hit.text for hit in asyncio.run(finder.search(asked)).hits]


def damage(conn: Connection) -> None:
    some = select(func.min(memory_vectors.c.id)).scalar_subquery()
    conn.execute(
        update(memory_vectors).where(memory_vectors.c.id == some).values(vector=b"\x00\x01\x02")
    )


def test_a_damaged_vector_is_left_out_told_and_made_anew(store: Store) -> None:
    memory = Memory(store)
    for text in SAID:
        memory.say(text, day(0))
    asyncio.run(EmbeddingWork(store, HOUSE, Spelling("one")).finish())
    before = store.read_now(lambda conn: count_vectors(conn, HOUSE))
    store.write_now(damage)
    for text in SAID:
        assert found(store, text, "one")[0] == text
    (breach,) = store.read_now(lambda conn: check(conn, HOUSE))
    assert "length differs" in breach.what
    assert breach.is_mendable
    store.write_now(lambda conn: mend(conn, HOUSE, [breach], at=SystemClock().now()))
    assert store.read_now(lambda conn: check(conn, HOUSE)) == []
    asyncio.run(EmbeddingWork(store, HOUSE, Spelling("one")).finish())
    assert store.read_now(lambda conn: count_vectors(conn, HOUSE)) == before


def test_a_model_that_changes_half_way_is_followed_by_the_last_one(store: Store) -> None:
    memory = Memory(store)
    for text in unlike(40):
        memory.say(text, day(0))
    asyncio.run(EmbeddingWork(store, HOUSE, Spelling("one")).finish())
    asyncio.run(EmbeddingWork(store, HOUSE, Spelling("two")).run_once())
    # The first model comes back before the second one is through, then a third.
    assert found(store, unlike(40)[7], "one")[0] == unlike(40)[7]
    asyncio.run(EmbeddingWork(store, HOUSE, Spelling("three")).finish())
    counts = store.read_now(lambda conn: count_vectors(conn, HOUSE))
    assert {model for model, _ in counts} == {"three"}
    assert sum(counts.values()) == 3 * 40
    assert found(store, unlike(40)[7], "three")[0] == unlike(40)[7]


def test_a_clock_that_is_set_back_charges_no_silence_twice(store: Store) -> None:
    straight, back = Memory(store, household="straight"), Memory(store, household="back")
    for memory in (straight, back):
        for text in unlike(20):
            memory.say(text, day(0))
        memory.night(day(30), is_agreed=True)
    sure = {text: confidence_now(fact, day(28)) for text, fact in back.facts().items()}
    back.night(day(28), is_agreed=True)
    for text, fact in back.facts().items():
        assert confidence_now(fact, day(28)) <= sure[text]
    for memory in (straight, back):
        memory.night(day(31), is_agreed=True)
        assert store.read_now(lambda conn, of=memory.household: check(conn, of)) == []
    now = day(31)
    assert {text: confidence_now(fact, now) for text, fact in back.facts().items()} == {
        text: confidence_now(fact, now) for text, fact in straight.facts().items()
    }


def test_of_two_nights_at_once_in_two_processes_one_is_done(store: Store, address: str) -> None:
    memory = Memory(store)
    for text in unlike(40):
        memory.say(text, day(0))
    for name in ("Abe", "Bea", "Cal"):
        for place, home in enumerate(("Leeds", "York now")):
            memory.forget_meeting_points()
            text = f"Cousin {name} lives in {home}"
            (fact,) = memory.say(text, day(100 + place))
            memory.place("fact", fact.id, meaning(name, twist=text))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(NIGHT_PROCESS.parents[1]), *sys.path]),
    }
    nights = [
        Started(
            [str(NIGHT_PROCESS), address, (day(130) + timedelta(seconds=n)).isoformat()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for n in range(2)
    ]
    told = [night.communicate(timeout=120) for night in nights]
    ends = [out.splitlines()[-1] if out else err for out, err in told]
    assert "done" in ends
    assert {*ends} <= {"done", "overtaken"}, told
    homes = Counter(
        fact.narrative
        for fact in memory.every()
        if fact.status.is_active and "Cousin" in fact.narrative
    )
    assert homes == {f"Cousin {name} lives in York now": 1 for name in ("Abe", "Bea", "Cal")}
    assert store.read_now(lambda conn: check(conn, HOUSE)) == []
