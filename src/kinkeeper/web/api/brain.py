"""Answers questions out of calendar and memory, for people's programs and for observers of other installations."""

from datetime import date, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel

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
from kinkeeper.observer.memory_query import query_of
from kinkeeper.web.access.door import Viewer, house_of
from kinkeeper.web.access.login_viewer import viewer_of
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
            id=source.id, kind=source.kind, text=source.text, speaker=source.speaker, relevance=source.relevance,
            at=source.at,
        )  # fmt: skip


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
            summary=event.summary, start=event.start, end=event.end, location=event.location,
            recurrence=event.recurrence, confirmed=event.is_confirmed,
        )  # fmt: skip


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
        query=q, activity=query.activity, task=query.task, day=query.day, answer=known.answer,
        sources=[SourceRecord.of(source) for source in known.sources], confidence=known.sureness,
        relevance_score=known.relevance, temporal_entities=[Time.of(time) for time in known.times],
        extracted_events=[ExtractedEvent.of(event) for event in known.events],
        relevance=observed.relevance, summary=observed.summary,
        items=[dict(item) for item in observed.items],
    )  # fmt: skip
