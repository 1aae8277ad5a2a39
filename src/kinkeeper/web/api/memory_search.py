"""Searching what is remembered."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from kinkeeper.memory.finding.search import Search
from kinkeeper.memory.finding.showing import Hit, HitKind
from kinkeeper.web.access.door import Viewer, house_of
from kinkeeper.web.access.memory_scope import viewer_of
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
    SearchType.FACTS: (HitKind.FACT,),
    SearchType.EPISODES: (HitKind.EPISODE,),
    SearchType.BOTH: (HitKind.FACT, HitKind.EPISODE),
}


class SearchWish(BaseModel):
    """What to search for."""

    query: Words
    search_type: SearchType = SearchType.BOTH
    limit: Limit = 5
    project: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=20)] = []


class Result(BaseModel):
    """Something remembered. Of an episode, sentences that hold no more are left out of the text.

    `score` orders the results; `relevance` says how well it bears on the query, `parts` what the score is made of.
    """

    id: str
    kind: HitKind
    text: str
    category: str | None
    confidence: float | None
    at: datetime
    created_at: datetime
    speaker: str | None
    session: str | None
    scope: str
    provenance: list[str]
    score: float
    relevance: float
    parts: dict[str, float]

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Return the record of a hit."""
        return cls(
            id=hit.id, kind=hit.kind, text=hit.text, category=hit.category,
            confidence=hit.confidence, at=hit.at, created_at=hit.created_at, speaker=hit.speaker,
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
) -> Results:
    """Search facts and episodes that the asker may see, of the projects named, too."""
    wish = SearchWish(query=query, search_type=search_type, limit=limit, project=project or [])
    return await _found(request, person, wish)


@router.post("/api/memory/search")
async def search_posted(request: Request, person: Viewer, wish: SearchWish) -> Results:
    """Search as GET does, with a query that is too long or too private for an address."""
    return await _found(request, person, wish)


async def _found(request: Request, person: Person, wish: SearchWish) -> Results:
    house = house_of(request, person)
    found = await house.finder.search(
        Search(
            text=wish.query, viewer=viewer_of(person, projects=wish.project),
            now=context_of(request).clock.now(), kinds=_KINDS[wish.search_type], limit=wish.limit,
        )
    )  # fmt: skip
    return Results(
        results=[Result.of(hit) for hit in found.hits], is_complete=found.is_complete,
        took_ms=found.took_ms,
    )  # fmt: skip
