"""Which facts a session begins with, each in the first tier that takes it. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice

from kinkeeper.memory.confidence import OFFERED, confidence_now
from kinkeeper.memory.model import Category, Fact


class Tier(StrEnum):
    """Why a fact is in a session's context."""

    CORE = "core"
    ACTIVE = "active"
    SEMANTIC = "semantic"
    RECENT = "recent"


CATEGORIES: Mapping[Tier, frozenset[Category]] = {
    Tier.CORE: frozenset({Category.IDENTITY, Category.PREFERENCE, Category.RELATIONSHIP}),
    Tier.ACTIVE: frozenset(
        {Category.PROJECT_ACTIVE, Category.GOAL, Category.EMOTIONAL, Category.CONSTRAINT}
    ),
}
"""What the first two tiers are made of; the others take any."""

MOST: Mapping[Tier, int] = {
    Tier.CORE: 15,
    Tier.ACTIVE: 15,
    Tier.SEMANTIC: 10,
    Tier.RECENT: 10,
}
"""Most facts of each tier."""

ACTIVE_FOR = timedelta(days=14)
"""How long ago a fact of the active tier was mentioned at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A fact in a session's context."""

    fact: Fact
    tier: Tier


def is_offered(fact: Fact, now: datetime) -> bool:
    """Whether a fact may be shown to somebody who did not search for it.

    Args:
        fact: As stored.
        now: Aware.
    """
    return fact.is_current(now) and confidence_now(fact, now) > OFFERED


def tiered(newest: Iterable[Fact], found: Sequence[Fact], *, now: datetime) -> list[Placed]:
    """Return a session's facts, tier after tier.

    Core, active and recent ones come newest first; what was found, best first.

    Args:
        newest: Facts of one viewer, newest first; each tier's own at least must be among them.
        found: What resembles the query, best first; none without one.
        now: Aware.
    """
    offered = [fact for fact in newest if is_offered(fact, now)]
    taken: dict[str, Placed] = {}

    def take(tier: Tier, facts: Iterable[Fact], admits: Callable[[Fact], bool]) -> None:
        fresh = (fact for fact in facts if fact.id not in taken and admits(fact))
        for fact in islice(fresh, MOST[tier]):
            taken[fact.id] = Placed(fact=fact, tier=tier)

    take(Tier.CORE, offered, lambda fact: fact.category in CATEGORIES[Tier.CORE])
    take(
        Tier.ACTIVE, offered,
        lambda fact: (
            fact.category in CATEGORIES[Tier.ACTIVE] and fact.last_evidence_at >= now - ACTIVE_FOR
        ),
    )  # fmt: skip
    take(Tier.SEMANTIC, found, lambda fact: is_offered(fact, now))
    take(Tier.RECENT, offered, lambda _: True)
    return list(taken.values())
