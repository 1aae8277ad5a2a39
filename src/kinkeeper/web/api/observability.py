"""How conversations were decided, as JSON: routing, model calls, steps of acting."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy import Table

from kinkeeper.actions.bars import offsets_at, versions
from kinkeeper.background.drift.repository import figures as thought_figures
from kinkeeper.background.drift.repository import latest_cycles
from kinkeeper.conversation.review.repository import review_figures
from kinkeeper.conversation.tables import (
    critic_verdicts,
    routing_decisions,
    routing_reviews,
    tool_cycles,
    tool_iterations,
    tool_runs,
)
from kinkeeper.conversation.turn_records import effects, latest
from kinkeeper.models.repository import model_calls
from kinkeeper.web.access.door import Owner, house_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.context import context_of

router = APIRouter(prefix="/api/observability", tags=["server"])

Limit = Annotated[int, Query(ge=1, le=500)]
_LATELY = timedelta(days=30)
_WORDS = frozenset({"sent", "answered"})


class Rows(BaseModel):
    """The newest first."""

    rows: list[dict[str, Any]]


class Share(BaseModel):
    """How many messages were answered in one mode; `is_healthy` is missing if there are too few."""

    mode: str
    share: float
    least: float
    most: float
    is_healthy: bool | None


class Part(BaseModel):
    """A component: how often it ran, and how often it changed the course of a turn."""

    name: str
    fired: int
    had_effect: int


class Routing(Rows):
    """Decisions, the newest first, and what those of the last 30 days come to."""

    decisions: int
    shares: list[Share]
    effects: list[Part]


class Iterations(Rows):
    """Steps of acting, the newest first, with turns that waited for slow tools, their calls, and second looks at steps."""

    cycles: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]


class Thoughts(Rows):
    """Cycles, the newest first, and what those of the last 30 days came to: by action, and of remarks and questions by their state."""

    cycles: dict[str, int]
    effects: dict[str, int]
    remarks: dict[str, int]
    questions: dict[str, int]


class Bars(Rows):
    """Versions, the newest first, each with its evidence and what became of it; and how far each bar is moved now.

    `reviews` is what a strong model said of the decisions of the last 30 days: how many it reviewed, and how many of
    them it would have made otherwise; the rows of `reviewed` are the newest of them.
    """

    offsets: dict[str, float]
    reviews: dict[str, Any]
    reviewed: list[dict[str, Any]]


@router.get("/routing")
async def routing(request: Request, person: Owner, limit: Limit = 50) -> Routing:
    """Return how messages were routed: mode, scores, margin, signals, healthy shares, effects; no message text."""
    house, since = house_of(request, person), context_of(request).clock.now() - _LATELY
    rows = await _latest(request, person, routing_decisions, limit)
    found = await house.store.read(lambda conn: effects(conn, house.household.id, since=since))
    return Routing(
        rows=rows.rows,
        decisions=found.decisions,
        shares=[Share(**asdict(each)) for each in found.shares],
        effects=[Part(**asdict(each)) for each in found.parts],
    )


@router.get("/iterations")
async def iterations(request: Request, person: Owner, limit: Limit = 50) -> Iterations:
    """Return the executed steps: what was carried out, how long it took, why it ended; no parameters."""
    rows = {
        name: (await _latest(request, person, table, limit)).rows
        for name, table in {
            "rows": tool_iterations,
            "cycles": tool_cycles,
            "runs": tool_runs,
            "verdicts": critic_verdicts,
        }.items()
    }
    return Iterations(**rows)


@router.get("/calls")
async def calls(request: Request, person: Owner, limit: Limit = 50) -> Rows:
    """Return the model calls: role, prompt, outcome, time, tokens; no text."""
    found = await _latest(request, person, model_calls, limit)
    return Rows(
        rows=[
            {name: value for name, value in row.items() if name not in _WORDS} for row in found.rows
        ]
    )


@router.get("/drift")
async def drift(request: Request, person: Owner, limit: Limit = 50) -> Thoughts:
    """Return the cycles of idle thought: what about, what was done, scores, seed; and what remarks came to; no words."""
    house, since = house_of(request, person), context_of(request).clock.now() - _LATELY
    household = house.household.id
    rows, found = await house.store.read(
        lambda conn: (
            latest_cycles(conn, household, limit=limit),
            thought_figures(conn, household, since=since),
        )
    )
    return Thoughts(
        rows=[*rows],
        cycles=dict(found.cycles),
        effects=dict(found.effects),
        remarks=dict(found.remarks),
        questions=dict(found.questions),
    )


@router.get("/bars")
async def bars(request: Request, person: Owner, limit: Limit = 50) -> Bars:
    """Return how far confirmations and corrections moved what must be reached before a card or an offer is shown."""
    house, now = house_of(request, person), context_of(request).clock.now()
    household = house.household.id
    found, offsets, reviews = await house.store.read(
        lambda conn: (
            versions(conn, household, limit=limit),
            offsets_at(conn, household, now),
            review_figures(conn, household, since=now - _LATELY),
        )
    )
    reviewed = await _latest(request, person, routing_reviews, limit)
    return Bars(
        rows=[asdict(each) for each in found],
        offsets={bar.value: offset for bar, offset in offsets.by_bar.items()},
        reviews=asdict(reviews),
        reviewed=reviewed.rows,
    )


async def _latest(request: Request, person: Person, table: Table, limit: int) -> Rows:
    house = house_of(request, person)
    found = await house.store.read(
        lambda conn: latest(conn, house.household.id, table, limit=limit)
    )
    return Rows(rows=[dict(row) for row in found])
