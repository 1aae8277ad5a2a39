"""The facts a session begins with, in tiers, and how what is remembered is told: who said it, and when."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.confidence import OFFERED, confidence_now
from kinkeeper.memory.facts import facts_by_id, list_facts
from kinkeeper.memory.finding.search import PASSIVE_CONFIDENCE, Finder, Search
from kinkeeper.memory.finding.visible_results import HitKind
from kinkeeper.memory.model import Category, Fact
from kinkeeper.store.store import Store

# Who says a remembered sentence and when, told with it: "I" may be anybody, "yesterday" any day.
# Pure.

Names = Mapping[str, str]
"""Names of members by id."""


def name_of(speaker: str | None, names: Names) -> str | None:
    """Return a speaker's name, if there is a speaker.

    Args:
        speaker: Member id, or a name from elsewhere.
    """
    return None if speaker is None else names.get(speaker, speaker)


def attributed(text: str, speaker: str | None, names: Names) -> str:
    """Return a text with who says it before it, where that is known.

    Args:
        speaker: Member id, or a name from elsewhere.
    """
    name = name_of(speaker, names)
    return text if name is None else f"{name}: {text}"


def remembered(text: str, speaker: str | None, names: Names, *, said_on: date) -> str:
    """Return a text of an earlier time with who says it before it, where that is known, and on which day.

    Args:
        speaker: Member id, or a name from elsewhere.
        said_on: In the household's zone.
    """
    name, day = name_of(speaker, names), f"{said_on.day} {said_on:%B %Y}"
    return f"{day}: {text}" if name is None else f"{name}, {day}: {text}"


# Which facts a session begins with, each in the first tier that takes it. Pure.


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

MOST: Mapping[Tier, int] = {Tier.CORE: 15, Tier.ACTIVE: 15, Tier.SEMANTIC: 10, Tier.RECENT: 10}
"""Most facts of each tier."""

ACTIVE_FOR = timedelta(days=14)
"""How long ago a fact of the active tier was mentioned at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A fact in a session's context."""

    fact: Fact
    tier: Tier


def is_offered(fact: Fact, now: datetime) -> bool:
    """Whether a fact may be shown to somebody who did not search for it."""
    return fact.is_current(now) and confidence_now(fact, now) > OFFERED


def tiered(newest: Iterable[Fact], found: Sequence[Fact], *, now: datetime) -> list[Placed]:
    """Return a session's facts, tier after tier.

    Core, active and recent ones come newest first; what was found, best first.

    Args:
        newest: Facts of one viewer, newest first; each tier's own at least must be among them.
        found: What resembles the query, best first; none without one.
    """
    offered = [fact for fact in newest if is_offered(fact, now)]
    taken: dict[str, Placed] = {}

    def take(tier: Tier, facts: Iterable[Fact], admits: Callable[[Fact], bool]) -> None:
        fresh = (fact for fact in facts if fact.id not in taken and admits(fact))
        for fact in islice(fresh, MOST[tier]):
            taken[fact.id] = Placed(fact=fact, tier=tier)

    take(Tier.CORE, offered, lambda fact: fact.category in CATEGORIES[Tier.CORE])
    take(
        Tier.ACTIVE,
        offered,
        lambda fact: (
            fact.category in CATEGORIES[Tier.ACTIVE] and fact.last_evidence_at >= now - ACTIVE_FOR
        ),
    )
    take(Tier.SEMANTIC, found, lambda fact: is_offered(fact, now))
    take(Tier.RECENT, offered, lambda _: True)
    return list(taken.values())


# The facts a session begins with, read for one viewer: tiers, and what resembles the query.

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
        query: What the session is about; without one nothing is searched.
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
            _newest(conn, viewer, now=now),
            [facts[each] for each in found if each in facts],
            now=now,
        )

    return Injected(placed=await store.read(read), skipped=skipped)


async def _alike(finder: Finder, viewer: Viewer, query: str, *, now: datetime) -> list[str]:
    found = await finder.search(
        Search(
            text=query,
            viewer=viewer,
            now=now,
            kinds=(HitKind.FACT,),
            # All the other tiers may have taken some of them before.
            limit=sum(MOST.values()),
            min_confidence=PASSIVE_CONFIDENCE,
            min_relevance=ALIKE,
        )
    )
    return [hit.id for hit in found.hits]


def _newest(conn: Connection, viewer: Viewer, *, now: datetime) -> list[Fact]:
    core, active = (CATEGORIES[tier] for tier in (Tier.CORE, Tier.ACTIVE))
    read = {
        fact.id: fact
        for facts in (
            list_facts(conn, viewer, now=now, categories=core, limit=_LOOKED_AT * MOST[Tier.CORE]),
            list_facts(
                conn,
                viewer,
                now=now,
                categories=active,
                since=now - ACTIVE_FOR,
                limit=_LOOKED_AT * MOST[Tier.ACTIVE],
            ),
            list_facts(conn, viewer, now=now, limit=_LOOKED_AT * MOST[Tier.RECENT]),
        )
        for fact in facts
    }
    return sorted(read.values(), key=lambda fact: (fact.said_at, fact.id), reverse=True)


# A session's facts as a program reads them, and as a model does. Pure.

_HEADINGS = {
    Tier.CORE: "Who people are",
    Tier.ACTIVE: "What they are busy with",
    Tier.SEMANTIC: "What is relevant to the question",
    Tier.RECENT: "What is new",
}


def as_record(injected: Injected, names: Names) -> dict[str, Any]:
    """Return a session's facts as JSON-ready values."""
    counts = Counter(placed.tier for placed in injected.placed)
    return {
        "observations": [
            _observation(placed.fact, names) | {"tier": placed.tier.value}
            for placed in injected.placed
        ],
        "skipped_tiers": [tier.value for tier in injected.skipped],
        "counts": {tier.value: counts[tier] for tier in Tier},
    }


def as_markdown(injected: Injected, zone: ZoneInfo, names: Names) -> str:
    """Return a session's facts as Markdown, a heading a tier and a line a fact.

    Args:
        zone: The household's, for the days.
    """
    lines = ["# What is remembered"]
    for tier in Tier:
        facts = [placed.fact for placed in injected.placed if placed.tier is tier]
        if facts:
            lines += [
                "",
                f"## {_HEADINGS[tier]} ({tier})",
                *(_line(fact, zone, names) for fact in facts),
            ]
    if not injected.placed:
        lines += ["", "Nothing yet."]
    for tier in injected.skipped:
        lines += ["", f"({tier}: could not be looked up now)"]
    return "\n".join(lines) + "\n"


def _observation(fact: Fact, names: Names) -> dict[str, Any]:
    return {
        "id": fact.id,
        "type": fact.type.value,
        "category": fact.category.value,
        "title": fact.title,
        "subtitle": fact.subtitle,
        "narrative": fact.narrative,
        "speaker": name_of(fact.speaker, names),
        "facts": list(fact.details),
        "is_doubted": _is_doubted(fact),
        # When the household said it: an import of this morning may be years old.
        "created_at": fact.said_at.isoformat(),
    }


def _line(fact: Fact, zone: ZoneInfo, names: Names) -> str:
    words = " ".join(" ".join((fact.narrative, *fact.details)).split())
    day = f"{fact.said_at.astimezone(zone):%Y-%m-%d}"
    doubt = ", in doubt" if _is_doubted(fact) else ""
    return f"- {attributed(words, fact.speaker, names)} ({fact.category}, {day}{doubt})"


def _is_doubted(fact: Fact) -> bool:
    return fact.is_contradicted or fact.doubted_by is not None
