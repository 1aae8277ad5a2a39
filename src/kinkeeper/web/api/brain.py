"""Answers abstract questions out of the calendar, for programs that keep a memory elsewhere."""

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel

from kinkeeper.brain.graph import GraphBrain
from kinkeeper.brain.model import BrainAnswer
from kinkeeper.core.errors import NotFoundError
from kinkeeper.observer.asking import query_of
from kinkeeper.web.access.door import Reader, house_of
from kinkeeper.web.context import context_of

router = APIRouter(tags=["memory"])

_NOTHING = BrainAnswer(relevance=0.0, summary="it names nothing that could be looked up")


class Answer(BaseModel):
    """What is known, and how well it answers the question.

    `activity`, `task` and `day` tell how the question was understood.
    """

    query: str
    activity: str | None
    task: str | None
    day: date | None
    relevance: float
    summary: str
    items: list[dict[str, Any]]


@router.get("/brain/query")
async def ask(
    request: Request,
    person: Reader,
    *,
    q: Annotated[str, Query(min_length=1, max_length=200, examples=["soccer schedule Thursday"])],
    x_family_context: Annotated[str | None, Header(max_length=64)] = None,
) -> Answer:
    """Answer a question such as "who usually does pickup on Tuesday".

    Whoever asks may add `context`, `format=json`, `child` and `X-Observer-Request`; none of them changes the answer.
    """
    house, clock = house_of(request, person), context_of(request).clock
    household = house.household
    if x_family_context not in {None, household.id}:
        raise NotFoundError(f"there is no household {x_family_context!r} here")
    query = query_of(q, house.participants, now=clock.now())
    answer = _NOTHING
    if query.activity or query.task or query.day:
        brain = GraphBrain(house.store, household.id, household.zone, clock)
        answer = await brain.ask(query)
    return Answer(
        query=q, activity=query.activity, task=query.task, day=query.day,
        relevance=answer.relevance, summary=answer.summary, items=[dict(i) for i in answer.items],
    )  # fmt: skip
