"""Memory as JSON: search, questions answered out of it and the calendar, and single facts that people change."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import date, datetime
from enum import StrEnum
from time import perf_counter
from typing import Annotated, Any, Self

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import Connection

from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.brain.evidence_search import EventHit, Kind, find
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import (
    BrainAnswer,
    KnownEvent,
    Source,
    SourceKind,
    Sureness,
    TemporalEntity,
)
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import latest_told
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.browser import Version, history
from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.context.session_facts import Names, name_of
from kinkeeper.memory.facts import load_fact, statements_of
from kinkeeper.memory.finding.search import Search
from kinkeeper.memory.finding.visible_results import Hit
from kinkeeper.memory.journal import Cause
from kinkeeper.memory.model import Category, Fact, FactStatus, Origin, Statement, StatementType
from kinkeeper.messaging.message_json import storable
from kinkeeper.observer.memory_query import query_of
from kinkeeper.web.access.door import Decider, Searcher, Viewer, house_of, viewer_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.api.pending import RECEIPTS, Told, status_for
from kinkeeper.web.context import context_of

router = APIRouter(tags=["memory"])


_NOTHING = BrainAnswer(relevance=0.0, summary="the question contains nothing to look up")


class SourceRecord(BaseModel):
    """A source of an answer."""

    id: str
    kind: SourceKind
    text: str
    speaker: str | None
    relevance: float
    at: datetime

    @classmethod
    def of(cls, source: Source) -> "SourceRecord":
        """Return the record of a source."""
        return cls(
            id=source.id,
            kind=source.kind,
            text=source.text,
            speaker=source.speaker,
            relevance=source.relevance,
            at=source.at,
        )


class Time(BaseModel):
    """A time mentioned in the question or its sources."""

    type: str
    value: str
    context: str

    @classmethod
    def of(cls, entity: TemporalEntity) -> "Time":
        """Return the record of a time."""
        return cls(type=entity.type, value=entity.value, context=entity.context)


class ExtractedEvent(BaseModel):
    """An event mentioned in the sources."""

    summary: str
    start: datetime
    end: datetime
    location: str | None
    recurrence: str | None
    confirmed: bool

    @classmethod
    def of(cls, event: KnownEvent) -> "ExtractedEvent":
        """Return the record of an event."""
        return cls(
            summary=event.summary,
            start=event.start,
            end=event.end,
            location=event.location,
            recurrence=event.recurrence,
            confirmed=event.is_confirmed,
        )


class Answer(BaseModel):
    """What is known, and how well it answers the question.

    `activity`, `task` and `day` show how the question was understood; `relevance`, `summary` and `items` hold what
    an observer may use: bookings, and what is remembered about times.
    """

    query: str
    activity: str | None
    task: str | None
    day: date | None
    answer: str
    sources: list[SourceRecord]
    confidence: Sureness
    relevance_score: float
    temporal_entities: list[Time]
    extracted_events: list[ExtractedEvent]
    relevance: float
    summary: str
    items: list[dict[str, Any]]


@router.get("/brain/query")
async def ask(
    request: Request,
    person: Viewer,
    *,
    q: Annotated[str, Query(min_length=1, max_length=500, examples=["soccer schedule Thursday"])],
    x_family_context: Annotated[str | None, Header(max_length=64)] = None,
) -> Answer:
    """Answer a question such as "who usually does pickup on Tuesday" or "what is Leo allergic to".

    Callers may add `context`, `format=json`, `child` and `X-Observer-Request`; none of them changes the answer.
    """
    house, clock = house_of(request, person), context_of(request).clock
    household = house.household
    if x_family_context not in {None, household.id}:
        raise NotFoundError(f"there is no household {x_family_context!r} here")
    query = query_of(q, house.participants, now=clock.now())
    brain = HouseholdBrain(house.store, household, house.finder, clock)
    viewer = viewer_of(person, now=clock.now())
    known = await brain.know(query, viewer)
    observed = _NOTHING
    if query.activity or query.task or query.day:
        observed = await brain.ask(query, viewer)
    return Answer(
        query=q,
        activity=query.activity,
        task=query.task,
        day=query.day,
        answer=known.answer,
        sources=[SourceRecord.of(source) for source in known.sources],
        confidence=known.sureness,
        relevance_score=known.relevance,
        temporal_entities=[Time.of(time) for time in known.times],
        extracted_events=[ExtractedEvent.of(event) for event in known.events],
        relevance=observed.relevance,
        summary=observed.summary,
        items=[dict(item) for item in observed.items],
    )


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
                id=hit.id,
                kind=hit.kind,
                text=hit.text,
                category=None,
                confidence=None,
                at=hit.at,
                created_at=None,
                speaker=None,
                session=None,
                scope=HOUSEHOLD_SCOPE,
                provenance=[hit.source],
                score=hit.score,
                relevance=hit.relevance,
                parts={},
            )
        return cls(
            id=hit.id,
            kind=Kind(hit.kind),
            text=hit.text,
            category=hit.category,
            confidence=hit.confidence,
            at=hit.at,
            created_at=hit.created_at,
            speaker=name_of(hit.speaker, names),
            session=hit.session,
            scope=hit.scope,
            provenance=list(hit.provenance),
            score=hit.score,
            relevance=hit.relevance,
            parts=dict(hit.parts),
        )


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
        query=query,
        search_type=search_type,
        limit=limit,
        project=project or [],
        types=types or [],
        as_of=as_of,
    )
    return await _found(request, person, wish)


@router.post("/api/memory/search")
async def search_posted(request: Request, person: Searcher, wish: SearchWish) -> Results:
    """Search like GET, for queries that are too long or too private for a URL."""
    return await _found(request, person, wish)


async def _found(request: Request, person: Person, wish: SearchWish) -> Results:
    start, house = perf_counter(), house_of(request, person)
    zone = house.household.zone
    search = Search(
        text=wish.query,
        viewer=viewer_of(person, now=context_of(request).clock.now(), projects=wish.project),
        now=context_of(request).clock.now(),
        limit=wish.limit,
        as_of=None if wish.as_of is None else latest_told(wish.as_of, zone),
    )
    found = await find(
        search,
        wish.types or _KINDS[wish.search_type],
        store=house.store,
        finder=house.finder,
        household=house.household,
    )
    return Results(
        results=[Result.of(hit, house.household.names) for hit in found.hits],
        is_complete=found.is_complete,
        took_ms=1_000 * (perf_counter() - start),
    )


_LONGEST = 2000


class Evidence(BaseModel):
    """A sentence that a fact is based on, as it was said."""

    episode_id: str
    text: str
    speaker: str | None
    said_at: datetime

    @classmethod
    def of(cls, statement: Statement, names: Names) -> Self:
        """Return the record of a statement, with the names of the household for its members."""
        return cls(
            episode_id=statement.episode_id,
            text=statement.text,
            speaker=name_of(statement.speaker, names),
            said_at=statement.said_at,
        )


class FactRecord(BaseModel):
    """A fact; `facts` are its details, `confidence` is its current confidence."""

    id: str
    scope: str
    category: Category
    type: StatementType
    subject: str
    slot: str | None
    title: str
    subtitle: str | None
    narrative: str
    facts: list[str]
    origin: Origin
    source: str
    confidence: float
    evidence_count: int
    derived_from: list[str]
    status: FactStatus
    is_active: bool
    superseded_by: str | None
    merged_into_id: str | None
    is_contradicted: bool
    doubted_by: str | None
    is_edited: bool
    held_from: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    said_at: datetime
    created_at: datetime
    last_evidence_at: datetime
    archived_at: datetime | None

    @classmethod
    def of(cls, fact: Fact, *, now: datetime) -> Self:
        """Return the record of a fact."""
        return cls(
            id=fact.id,
            scope=fact.scope,
            category=fact.category,
            type=fact.type,
            subject=fact.subject,
            slot=fact.slot,
            title=fact.title,
            subtitle=fact.subtitle,
            narrative=fact.narrative,
            facts=list(fact.details),
            origin=fact.origin,
            source=fact.source,
            confidence=round(confidence_now(fact, now), 4),
            evidence_count=fact.evidence_count,
            derived_from=list(fact.derived_from),
            status=fact.status,
            is_active=fact.is_current(now),
            superseded_by=fact.superseded_by,
            merged_into_id=fact.merged_into_id,
            is_contradicted=fact.is_contradicted,
            doubted_by=fact.doubted_by,
            is_edited=fact.is_edited,
            held_from=fact.held_from,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
            said_at=fact.said_at,
            created_at=fact.created_at,
            last_evidence_at=fact.last_evidence_at,
            archived_at=fact.archived_at,
        )


class FactWithEvidence(FactRecord):
    """A fact and what it rests on."""

    evidence: list[Evidence]


class VersionRecord(BaseModel):
    """A fact after one change; `change_set` is null for the state before the oldest change that is still kept."""

    change_set: str | None
    cause: Cause | None
    at: datetime | None
    by: str | None
    fact: FactRecord

    @classmethod
    def of(cls, version: Version, *, now: datetime) -> Self:
        """Return the record of a version."""
        change = version.change
        return cls(
            change_set=change.id if change else None,
            cause=change.cause if change else None,
            at=change.made_at if change else None,
            by=change.made_by if change else None,
            fact=FactRecord.of(version.fact, now=now),
        )


class FactChange(BaseModel):
    """One change to a fact: its wording, that it was never true, or who may recall it."""

    model_config = ConfigDict(extra="forbid")

    narrative: Annotated[str, Field(min_length=1, max_length=_LONGEST, pattern=r"\S")] | None = None
    wrong: bool | None = None
    private: bool | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = (self.narrative is not None, self.wrong is True, self.private is not None)
        if sum(given) != 1:
            raise ValueError("send exactly one of: narrative, wrong (true), private")
        return self


@router.get("/api/facts/{fact_id}")
async def show(request: Request, person: Viewer, fact_id: str) -> FactWithEvidence:
    """Return a fact, whatever its status, and what it is based on."""
    now = context_of(request).clock.now()
    viewer = viewer_of(person, now=now)

    def read(conn: Connection) -> tuple[Fact, Sequence[Statement]]:
        return load_fact(conn, viewer, fact_id), statements_of(conn, viewer, fact_id)

    house = house_of(request, person)
    fact, said = await house.store.read(read)
    names = house.household.names
    record = FactRecord.of(fact, now=now).model_dump()
    return FactWithEvidence(**record, evidence=[Evidence.of(each, names) for each in said])


@router.get("/api/facts/{fact_id}/history")
async def show_history(request: Request, person: Viewer, fact_id: str) -> list[VersionRecord]:
    """List the versions of a fact, newest first, with the time, person and reason of each change."""
    now = context_of(request).clock.now()
    viewer = viewer_of(person, now=now)

    versions = await house_of(request, person).store.read(
        lambda conn: history(conn, viewer, fact_id)
    )
    return [VersionRecord.of(version, now=now) for version in versions]


@router.patch("/api/facts/{fact_id}", responses=RECEIPTS)
async def change(
    request: Request, response: Response, person: Decider, *, fact_id: str, wish: FactChange
) -> Told:
    """Correct a fact; the returned action can be undone."""

    def decide(conn: Connection, right: SettingRight) -> Receipt:
        if wish.narrative is not None:
            return right.edit(conn, fact_id, storable(wish.narrative).strip())
        if wish.wrong:
            return right.wrong(conn, fact_id)
        return right.set_scope(conn, fact_id, is_private=bool(wish.private))

    return await _decided(request, response, person, decide)


@router.delete("/api/facts/{fact_id}", responses=RECEIPTS)
async def forget(request: Request, response: Response, person: Decider, fact_id: str) -> Told:
    """Erase a fact and the words it is based on. This cannot be undone."""
    told = await _decided(
        request, response, person, lambda conn, right: right.forget(conn, fact_id)
    )
    await asyncio.to_thread(house_of(request, person).store.fold_log)
    return told


@router.post("/api/memory/changes/{change_set}/undo", responses=RECEIPTS)
async def take_back(request: Request, response: Response, person: Decider, change_set: str) -> Told:
    """Undo a whole memory change, made by a person or a nightly run."""
    return await _decided(
        request, response, person, lambda conn, right: right.take_back(conn, change_set)
    )


async def _decided(
    request: Request,
    response: Response,
    person: Person,
    decision: Callable[[Connection, SettingRight], Receipt],
) -> Told:
    right = SettingRight(
        household=person.household, member=person.member, now=context_of(request).clock.now()
    )
    store = house_of(request, person).store
    receipt = await store.write(lambda conn: decision(conn, right))
    response.status_code = status_for(receipt)
    return Told.of(receipt)
