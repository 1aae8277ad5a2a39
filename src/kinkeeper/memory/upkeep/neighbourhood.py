"""What a run looks at: what is new since the last one, and what lies near it in meaning."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection, and_, select

from kinkeeper.memory.episodes import episodes_changed
from kinkeeper.memory.facts import count_facts, facts_changed
from kinkeeper.memory.finding.vectors import VectorKind, readable, vectors_of
from kinkeeper.memory.memory_rows import Changed, last_seq
from kinkeeper.memory.model import ACTIVE_STATUSES, Episode, Fact
from kinkeeper.memory.tables import facts, memory_vectors
from kinkeeper.memory.upkeep.pair_search import ALIKE, may_support, pair_of
from kinkeeper.memory.upkeep.runs import looked_up_to
from kinkeeper.models.embedding.calibration import Calibration
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.store.store import Store

# What a run looks at: what is new or was changed since the last one, as much as fits into one run.

MOST_EPISODES = 200
"""What they bear out is written in one transaction, for which all who write wait; more follow in a run of their own."""

MOST_FACTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a run looks at.

    Attributes:
        from_seq: Change number after which it begins.
        to_seq: Change number up to which it looks at everything.
        last_seq: Highest change number that there was when it was read.
        facts: Active ones that are new or were changed.
        active: Number of active facts of the household.
    """

    from_seq: int
    to_seq: int
    last_seq: int
    facts: Sequence[Fact]
    episodes: Sequence[Episode]
    active: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left for another run."""
        return self.to_seq == self.last_seq


def read_window(conn: Connection, household: str) -> Window:
    """Return what the next run of a household looks at."""
    start, end = looked_up_to(conn, household), last_seq(conn, household)
    facts = facts_changed(conn, household, after_seq=start, limit=MOST_FACTS)
    episodes = episodes_changed(conn, household, after_seq=start, limit=MOST_EPISODES)
    to_seq = min(_reached(facts, MOST_FACTS, end), _reached(episodes, MOST_EPISODES, end))
    counts = count_facts(conn, household)
    return Window(
        from_seq=start,
        to_seq=to_seq,
        last_seq=end,
        facts=[
            each.value
            for each in facts
            if each.value and each.value.status.is_active and each.seq <= to_seq
        ],
        episodes=[each.value for each in episodes if each.value and each.seq <= to_seq],
        active=sum(count for status, count in counts.items() if status.is_active),
    )


def _reached(
    changed: Sequence[Changed[Fact]] | Sequence[Changed[Episode]], most: int, end: int
) -> int:
    return changed[-1].seq if len(changed) == most else end


# Which vectors lie near which, block by block: memory stays bounded however many there are. Pure.


@dataclass(frozen=True, slots=True)
class Near:
    """A stored thing that is near a new one.

    Attributes:
        cosine: In [-1, 1].
    """

    cosine: float
    id: str


@dataclass(frozen=True, slots=True)
class Block:
    """Some stored things.

    Attributes:
        groups: What each may be compared within, such as its scope.
        vectors: Shape (things, dimension), each of length 1 or 0.
    """

    ids: Sequence[str]
    groups: Sequence[str]
    vectors: Vectors


class Nearest:
    """Finds, for each new thing, the stored ones of its group that are nearest.

    Args:
        queries: Shape (new things, dimension), each of length 1 or 0.
        floor: Cosine from which a stored thing counts.
        count: Most that are kept for each new thing, > 0.
    """

    def __init__(
        self, queries: Vectors, groups: Sequence[str], *, floor: float, count: int
    ) -> None:
        self._queries = queries
        self._groups = groups
        self._floor = floor
        self._count = count
        self._found: list[list[Near]] = [[] for _ in groups]

    def look_at(self, block: Block) -> None:
        """Take in some of what is stored."""
        if not len(self._groups) or not len(block.ids):
            return
        cosines = block.vectors @ self._queries.T
        rows, columns = np.nonzero(cosines >= self._floor)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if block.groups[row] == self._groups[column]:
                near = Near(float(cosines[row, column]), block.ids[row])
                self._found[column].append(near)
        for each in self._found:
            if len(each) > self._count:
                self._keep_the_nearest(each)

    def found(self) -> list[list[Near]]:
        """Return what was found for each new thing, the nearest first."""
        for each in self._found:
            self._keep_the_nearest(each)
        return self._found

    def _keep_the_nearest(self, found: list[Near]) -> None:
        found.sort(key=lambda near: (-near.cosine, near.id))
        del found[self._count :]


# The vectors of facts, read in blocks so that memory stays bounded. Statements only.

BLOCK = 8_000
"""Vectors that are held at a time."""

_facts = facts.c
_vectors = memory_vectors.c


def fact_block(
    conn: Connection, household: str, model: str, *, after: str
) -> tuple[Block, str | None]:
    """Return some vectors of active facts, and where the next ones begin.

    Args:
        after: Last id of the block before; "" to begin with.

    Returns:
        A block, and what to pass as `after` next; None at the end.
    """
    query = (
        select(_vectors.id, _vectors.vector, _facts.scope, _facts.status)
        .join(facts, and_(_facts.household == _vectors.household, _facts.id == _vectors.id))
        .where(
            _vectors.household == household,
            _vectors.kind == "fact",
            _vectors.model == model,
            _vectors.id > after,
        )
        .order_by(_vectors.id)
        .limit(BLOCK)
    )
    rows = conn.execute(query).all()
    active = {row.id: row for row in rows if row.status in ACTIVE_STATUSES}
    ids, vectors = readable([(row.id, row.vector) for row in active.values()])
    block = Block(ids, [active[each].scope for each in ids], vectors)
    return block, rows[-1].id if len(rows) == BLOCK else None


NEIGHBOURS = 10
"""Most stored facts that a new thing is compared with for their likeness alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """What lies near what is new.

    Attributes:
        episodes: Likeness of facts of the same scope, by new episode and fact.
        facts: Pairs of facts of one scope, of which one at least is new.
        compared: Number of vectors that were looked at.
    """

    episodes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    facts: frozenset[tuple[str, str]] = frozenset()
    compared: int = 0


class Neighbourhood:
    """Finds neighbours among the stored vectors of one model."""

    def __init__(self, store: Store, household: str, likeness: Calibration) -> None:
        self._store = store
        self._household = household
        self._likeness = likeness

    @property
    def floor(self) -> float:
        """Cosine from which two things are alike."""
        return self._likeness.cosine(ALIKE)

    def likeness(self, one: Vectors, other: Vectors) -> float:
        """Return how alike two things are, between 0 and 1.

        Args:
            one: A vector of length 1.
        """
        return float(self._likeness.likeness(one @ other))

    async def vectors(self, kind: VectorKind, ids: Iterable[str]) -> Mapping[str, Vectors]:
        """Return the vectors of some rows by id; those without one are left out."""
        wanted = list(ids)
        return await self._store.read(
            lambda conn: vectors_of(
                conn, self._household, self._likeness.model, kind=kind, ids=wanted
            )
        )

    async def of(self, window: Window) -> Neighbours:
        """Return what lies near what a run looks at."""
        episodes = {each.id: each for each in window.episodes if may_support(each)}
        facts = {each.id: each for each in window.facts}
        of_episodes = await self.vectors(VectorKind.EPISODE, episodes)
        of_facts = await self.vectors(VectorKind.FACT, facts)
        if not of_episodes and not of_facts:
            return Neighbours()
        scopes = [episodes[each].scope for each in of_episodes]
        scopes += [facts[each].scope for each in of_facts]
        queries = np.stack([*of_episodes.values(), *of_facts.values()])
        nearest = Nearest(queries, scopes, floor=self.floor, count=NEIGHBOURS + 1)
        compared = await self._look_at_all(nearest)
        found = nearest.found()
        return Neighbours(
            episodes={
                key: {each.id: float(self._likeness.likeness(each.cosine)) for each in near}
                for key, near in zip(of_episodes, found, strict=False)
            },
            facts=frozenset(
                pair_of(key, each.id)
                for key, near in zip(of_facts, found[len(of_episodes) :], strict=True)
                for each in near
                if each.id != key
            ),
            compared=compared,
        )

    async def _look_at_all(self, nearest: Nearest) -> int:
        compared = 0
        after: str | None = ""
        while after is not None:
            block, after = await self._block(after)
            await asyncio.to_thread(nearest.look_at, block)
            compared += len(block.ids)
        return compared

    async def _block(self, after: str) -> tuple[Block, str | None]:
        return await self._store.read(
            lambda conn: fact_block(conn, self._household, self._likeness.model, after=after)
        )
