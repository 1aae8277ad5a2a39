"""Finds what was told again and again: recent episodes that crowd together, person by person."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np

from kinkeeper.core.errors import UnavailableError
from kinkeeper.memory.finding.vectors import VectorKind
from kinkeeper.memory.ingest import speaker_of
from kinkeeper.memory.model import Episode
from kinkeeper.memory.upkeep.clusters import MOST_AT_ONCE, SMALLEST, clusters
from kinkeeper.memory.upkeep.neighbourhood import Neighbourhood
from kinkeeper.memory.upkeep.recent import recent_unused
from kinkeeper.memory.upkeep.support import may_support
from kinkeeper.memory.upkeep.themes import Theme, theme_of
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring:
    """What was found.

    Attributes:
        themes: That nobody has decided on yet.
        clusters: Number of dense groups that were looked at.
        remark: Why nothing could be looked for, if so.
    """

    themes: Sequence[Theme] = ()
    clusters: int = 0
    remark: str | None = None


class Recurrence:
    """Looks for it.

    Args:
        store: The database.
        household: Tenant key.
        neighbourhood: Knows vectors.
        people: Member ids by folded name or alias.
        zone: Whose days are counted.
    """

    def __init__(
        self,
        store: Store,
        household: str,
        neighbourhood: Neighbourhood,
        *,
        people: Mapping[str, str],
        zone: ZoneInfo,
    ) -> None:
        self._store = store
        self._household = household
        self._neighbourhood = neighbourhood
        self._people = people
        self._zone = zone

    async def among(self, new: Sequence[Episode]) -> Recurring:
        """Return what new episodes, with recent ones, amount to.

        Args:
            new: What a run looks at.
        """
        fresh = {each.id for each in new if may_support(each)}
        if not fresh:
            return Recurring()
        unused = await self._store.read(
            lambda conn: recent_unused(conn, self._household, limit=MOST_AT_ONCE)
        )
        ids = [each.id for each in unused]
        vectors = await self._neighbourhood.vectors(VectorKind.EPISODE, ids)
        by_person: defaultdict[tuple[str, str | None], list[Episode]] = defaultdict(list)
        for each in unused:
            if each.id in vectors:
                by_person[each.scope, speaker_of(each)].append(each)
        found = Recurring()
        for own in by_person.values():
            if len(own) >= SMALLEST and any(each.id in fresh for each in own):
                try:
                    crowds = await asyncio.to_thread(self._crowds, own, vectors)
                except UnavailableError as error:
                    return Recurring(remark=str(error))
                found = self._with(found, crowds, fresh)
        return found

    def _crowds(
        self, episodes: Sequence[Episode], vectors: Mapping[str, Vectors]
    ) -> list[list[Episode]]:
        matrix = np.stack([vectors[each.id] for each in episodes])
        dense = clusters(matrix, floor=self._neighbourhood.floor)
        return [[episodes[member] for member in members] for members in dense]

    def _with(
        self, found: Recurring, crowds: Sequence[Sequence[Episode]], fresh: set[str]
    ) -> Recurring:
        themes = [
            theme_of(crowd, people=self._people, zone=self._zone)
            for crowd in crowds
            if not fresh.isdisjoint(each.id for each in crowd)
        ]
        return Recurring(
            themes=(*found.themes, *filter(None, themes)), clusters=found.clusters + len(crowds)
        )
