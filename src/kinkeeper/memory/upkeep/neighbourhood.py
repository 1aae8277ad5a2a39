"""What lies near what is new in meaning: one look over all stored vectors, block by block."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kinkeeper.memory.finding.vectors import VectorKind, vectors_of
from kinkeeper.memory.upkeep.near import Block, Nearest
from kinkeeper.memory.upkeep.pair_search import pair_of
from kinkeeper.memory.upkeep.stored_vectors import fact_block
from kinkeeper.memory.upkeep.support import ALIKE, may_support
from kinkeeper.memory.upkeep.window import Window
from kinkeeper.models.embedding.calibration import Calibration
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.store.store import Store

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
    """Finds neighbours among the stored vectors of one model.

    Args:
        store: The database.
        household: Tenant key.
        likeness: Of the model.
    """

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
            other: Another.
        """
        return float(self._likeness.likeness(one @ other))

    async def vectors(self, kind: VectorKind, ids: Iterable[str]) -> Mapping[str, Vectors]:
        """Return the vectors of some rows by id; those without one are left out.

        Args:
            kind: Of what.
            ids: Any number.
        """
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
