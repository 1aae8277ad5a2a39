"""A memory with days and nights: what was said, meanings as vectors that a test chooses, and runs of the upkeep."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.adjustments import Adjustment, adjust
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.journal import Cause, changing
from kinkeeper.memory.model import Category, Episode, Fact, Observation, Origin
from kinkeeper.memory.tables import facts, memory_vectors, statement_keys
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Tools
from kinkeeper.memory.upkeep.rollback import revert
from kinkeeper.memory.upkeep.runs import Run
from kinkeeper.models.embedding.calibration import Calibration
from kinkeeper.store.store import Store

HOUSE = "miller"
ZONE = ZoneInfo("America/Chicago")
START = datetime(2026, 3, 1, 18, tzinfo=UTC)
LIKENESS = Calibration(model="test-meanings", slope=20.0, midpoint=0.6)
DIMENSION = 64


def tools_of_tests() -> Tools:
    """Return what nights work with where nothing else is said."""
    return Tools(people={}, zone=ZONE, likeness=LIKENESS)


def unlike(count: int) -> Sequence[str]:
    """Return statements that have nothing to do with each other."""
    names = ("Ana", "Ben", "Carla", "Dora", "Emil", "Frida", "Gus", "Hanna", "Igor", "Jette")
    likes = ("tulips", "chess", "sailing", "mushrooms")
    return [f"{name} loves {like}" for like in likes for name in names][:count]


def day(count: float) -> datetime:
    """Return the instant some days after the start."""
    return START + timedelta(days=count)


def meaning(name: str, *, twist: str = "", by: float = 0.05) -> np.ndarray:
    """Return a vector that is the same for a name, turned a little by a twist."""

    def direction(text: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        found = np.random.default_rng(seed).normal(size=DIMENSION)
        return found / np.linalg.norm(found)

    vector = direction(name) + (by * direction(f"{name} {twist}") if twist else 0)
    return np.asarray(vector / np.linalg.norm(vector))


@dataclass
class Memory:
    """One household's memory.

    Attributes:
        store: Its database.
        tools: What its nights work with.
        steps: Names of the steps that runs went through.
    """

    store: Store
    tools: Tools = field(default_factory=tools_of_tests)
    household: str = HOUSE
    steps: list[str] = field(default_factory=list)

    def say(self, text: str, at: datetime, **given: Any) -> list[Fact]:
        """Let somebody say one durable sentence; returns what it changed."""
        category = given.pop("category", Category.PREFERENCE)
        episode = self.episode(text, at, **given)
        seen = Observation(
            text=text, start=0, end=len(text), category=category, title=text, narrative=text
        )
        people = self.tools.people
        remembered = self.store.write_now(
            lambda conn: remember(conn, episode, [seen], at=at, people=people, by="john")
        )
        return list(remembered.facts)

    def hear(
        self, text: str, at: datetime, *, vector: np.ndarray | None = None, **given: Any
    ) -> str:
        """Store a turn that states nothing durable; returns its id."""
        episode = self.episode(text, at, **given)
        self.store.write_now(lambda conn: insert_episodes(conn, [episode], at=at, is_read=True))
        if vector is not None:
            self.place("episode", episode.id, vector)
        return episode.id

    def episode(self, text: str, at: datetime, **given: Any) -> Episode:
        """Return an episode that is right unless a test says otherwise."""
        values: dict[str, Any] = {
            "household": self.household,
            "id": f"{at.isoformat()} {text}",
            "scope": HOUSEHOLD_SCOPE,
            "member": "john",
            "text": text,
            "said_at": at,
            "origin": Origin.SAID,
        } | given
        return Episode(**values)

    def place(self, kind: str, row_id: str, vector: np.ndarray) -> None:
        """Give a row a vector of the model that tells meanings here."""
        values = {
            "household": self.household,
            "kind": kind,
            "id": row_id,
            "model": LIKENESS.model,
            "vector": vector.astype("<f2").tobytes(),
            "seq": 0,
        }
        self.store.write_now(lambda conn: conn.execute(insert(memory_vectors), values))

    def night(self, at: datetime, **given: Any) -> Run:
        """Run the upkeep once."""
        return asyncio.run(
            consolidate(
                self.store, self.household, self.tools, now=at, progress=self.steps.append, **given
            )
        )

    def revert(self, run: Run, at: datetime) -> None:
        """Take a night back."""
        self.store.write_now(lambda conn: revert(conn, self.household, run.id, by="john", at=at))

    def adjust(self, adjustments: Sequence[Adjustment], at: datetime) -> None:
        """Set something about facts, as the upkeep does."""

        def work(conn: Connection) -> None:
            with changing(
                conn, self.household, cause=Cause.CONSOLIDATE, summary="", by=None, at=at
            ) as change:
                adjust(conn, change, adjustments, at=at)

        self.store.write_now(work)

    def forget_meeting_points(self) -> None:
        """Let what is said next not find what was said until now."""
        self.store.write_now(lambda conn: conn.execute(delete(statement_keys)))

    def facts(self) -> dict[str, Fact]:
        """Return all facts by what they say; of several that say the same, one that is active."""
        found = sorted(self.every(), key=lambda fact: fact.status.is_active)
        return {fact.narrative: fact for fact in found}

    def every(self) -> Sequence[Fact]:
        """Return all facts, whatever their status."""

        def read(conn: Connection) -> Sequence[Fact]:
            query = select(facts.c.id).where(facts.c.household == self.household)
            ids = conn.execute(query).scalars().all()
            return [*facts_by_id(conn, self.household, ids).values()]

        return self.store.read_now(read)
