"""The facts a session begins with, read for one viewer: tiers, and what resembles the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.tiers import ACTIVE_FOR, CATEGORIES, MOST, Placed, Tier, tiered
from kinkeeper.memory.facts import facts_by_id, list_facts
from kinkeeper.memory.finding.search import PASSIVE_CONFIDENCE, Finder, Search
from kinkeeper.memory.finding.visible_results import HitKind
from kinkeeper.memory.model import Fact
from kinkeeper.store.store import Store

log = structlog.get_logger()

ALIKE = 0.7
"""Relevance from which a fact resembles a query enough to be put into a session unasked."""

# So many more are looked at than a tier takes: some are no longer believed enough.
_LOOKED_AT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """The facts of a session.

    Attributes:
        placed: Tier after tier.
        skipped: Tiers that could not be made.
    """

    placed: Sequence[Placed]
    skipped: Sequence[Tier]


async def injected(
    store: Store, finder: Finder, viewer: Viewer, *, query: str | None, now: datetime
) -> Injected:
    """Return the facts a session begins with.

    Args:
        store: Where memory is.
        finder: Searches it.
        viewer: On whose behalf.
        query: What the session is about; without one nothing is searched.
        now: Aware.
    """
    skipped: list[Tier] = []
    found: Sequence[str] = ()
    if query:
        try:
            found = await _alike(finder, viewer, query, now=now)
        except UnavailableError as error:
            skipped.append(Tier.SEMANTIC)
            log.warning("context.tier_skipped", household=viewer.household, reason=str(error))

    def read(conn: Connection) -> list[Placed]:
        facts = facts_by_id(conn, viewer.household, found)
        return tiered(
            _newest(conn, viewer, now=now), [facts[each] for each in found if each in facts],
            now=now,
        )  # fmt: skip

    return Injected(placed=await store.read(read), skipped=skipped)


async def _alike(finder: Finder, viewer: Viewer, query: str, *, now: datetime) -> list[str]:
    found = await finder.search(
        Search(
            text=query, viewer=viewer, now=now, kinds=(HitKind.FACT,),
            # All the other tiers may have taken some of them before.
            limit=sum(MOST.values()), min_confidence=PASSIVE_CONFIDENCE, min_relevance=ALIKE,
        )
    )  # fmt: skip
    return [hit.id for hit in found.hits]


def _newest(conn: Connection, viewer: Viewer, *, now: datetime) -> list[Fact]:
    core, active = (CATEGORIES[tier] for tier in (Tier.CORE, Tier.ACTIVE))
    read = {
        fact.id: fact
        for facts in (
            list_facts(
                conn, viewer, now=now, categories=core, limit=_LOOKED_AT * MOST[Tier.CORE]
            ),
            list_facts(
                conn, viewer, now=now, categories=active, since=now - ACTIVE_FOR,
                limit=_LOOKED_AT * MOST[Tier.ACTIVE],
            ),
            list_facts(conn, viewer, now=now, limit=_LOOKED_AT * MOST[Tier.RECENT]),
        )
        for fact in facts
    }  # fmt: skip
    return sorted(read.values(), key=lambda fact: (fact.said_at, fact.id), reverse=True)
