"""Searching what is remembered, and what is planned."""

from datetime import datetime
from enum import StrEnum
from time import perf_counter
from typing import Annotated, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from kinkeeper.brain.evidence_search import EventHit, Kind, find
from kinkeeper.core.time import latest_told
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.context.session_facts import Names, name_of
from kinkeeper.memory.finding.search import Search
from kinkeeper.memory.finding.visible_results import Hit
from kinkeeper.web.access.door import Searcher, Viewer, house_of
from kinkeeper.web.access.login_viewer import viewer_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.context import context_of

router = APIRouter(tags=["memory"])

_MOST = 100

Words = Annotated[str, Field(min_length=1, max_length=2000, examples=["what is Leo allergic to"])]
Limit = Annotated[int, Field(ge=1, le=_MOST)]


class SearchType(StrEnum):
    """What to look for."""

    FACTS = "facts"
    EPISODES = "episodes"
    BOTH = "both"


_KINDS = {
    SearchType.FACTS: (Kind.FACT,),
    SearchType.EPISODES: (Kind.EPISODE,),
    SearchType.BOTH: (Kind.FACT, Kind.EPISODE),
}

Kinds = Annotated[
    list[Kind],
    Field(max_length=len(Kind), description="Kinds of results, instead of `search_type`."),
]
AsOf = Annotated[
    str,
    Field(
        min_length=8,
        max_length=40,
        examples=["2026-03-05", "2026-03-05T16:30:00"],
        description="Search as of the end of a day, or as of an instant (local if without offset): facts that were true then, whatever became of them, and what had been said by then. A future time counts as now. Events ignore this.",
    ),
]


class SearchWish(BaseModel):
    """What to search for."""

    query: Words
    search_type: SearchType = SearchType.BOTH
    limit: Limit = 5
    project: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=20)] = []
    types: Kinds = []
    as_of: AsOf | None = None


class Result(BaseModel):
    """A memory or an event. Sentences of an episode that are no longer true are left out of the text.

    `score` orders the results; `relevance` says how relevant it is to the query; `parts` are the parts of the score.
    The time of an event is its next start, or its start in the range asked for.
    """

    id: str
    kind: Kind
    text: str
    category: str | None
    confidence: float | None
    at: datetime
    created_at: datetime | None
    speaker: str | None
    session: str | None
    scope: str
    provenance: list[str]
    score: float
    relevance: float
    parts: dict[str, float]

    @classmethod
    def of(cls, hit: Hit | EventHit, names: Names) -> Self:
        """Return the record of a hit, with the names of the household for its members."""
        if isinstance(hit, EventHit):
            return cls(
                id=hit.id, kind=hit.kind, text=hit.text, category=None, confidence=None, at=hit.at,
                created_at=None, speaker=None, session=None, scope=HOUSEHOLD_SCOPE,
                provenance=[hit.source], score=hit.score, relevance=hit.relevance, parts={},
            )  # fmt: skip
        return cls(
            id=hit.id, kind=Kind(hit.kind), text=hit.text, category=hit.category,
            confidence=hit.confidence, at=hit.at, created_at=hit.created_at,
            speaker=name_of(hit.speaker, names),
            session=hit.session, scope=hit.scope, provenance=list(hit.provenance),
            score=hit.score, relevance=hit.relevance, parts=dict(hit.parts),
        )  # fmt: skip


class Results(BaseModel):
    """What was found, best first; not complete while the index of older memories is still being built."""

    results: list[Result]
    is_complete: bool
    took_ms: float


@router.get("/api/memory/search")
async def search(
    request: Request,
    person: Viewer,
    *,
    query: Annotated[Words, Query()],
    search_type: SearchType = SearchType.BOTH,
    limit: Annotated[Limit, Query()] = 5,
    project: Annotated[list[str] | None, Query(max_length=20)] = None,
    types: Annotated[Kinds | None, Query()] = None,
    as_of: Annotated[AsOf | None, Query()] = None,
) -> Results:
    """Search the facts and episodes that you may see, those of named projects, and events if requested."""
    wish = SearchWish(
        query=query, search_type=search_type, limit=limit, project=project or [], types=types or [],
        as_of=as_of,
    )  # fmt: skip
    return await _found(request, person, wish)


@router.post("/api/memory/search")
async def search_posted(request: Request, person: Searcher, wish: SearchWish) -> Results:
    """Search like GET, for queries that are too long or too private for a URL."""
    return await _found(request, person, wish)


async def _found(request: Request, person: Person, wish: SearchWish) -> Results:
    start, house = perf_counter(), house_of(request, person)
    zone = house.household.zone
    search = Search(
        text=wish.query, viewer=viewer_of(person, now=context_of(request).clock.now(), projects=wish.project),
        now=context_of(request).clock.now(), limit=wish.limit,
        as_of=None if wish.as_of is None else latest_told(wish.as_of, zone),
    )  # fmt: skip
    found = await find(
        search, wish.types or _KINDS[wish.search_type],
        store=house.store, finder=house.finder, household=house.household,
    )  # fmt: skip
    return Results(
        results=[Result.of(hit, house.household.names) for hit in found.hits], is_complete=found.is_complete,
        took_ms=1_000 * (perf_counter() - start),
    )  # fmt: skip
