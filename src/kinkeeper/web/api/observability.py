"""How conversations were decided, as JSON: routing, model calls, steps of acting, and the work behind them."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy import Connection, Table, func, select

from kinkeeper.conversation.records import latest
from kinkeeper.conversation.tables import routing_decisions, tool_iterations, turns
from kinkeeper.models.tables import model_calls
from kinkeeper.observer.tables import observer_messages
from kinkeeper.web.access.door import Decider, Reader, house_of
from kinkeeper.web.access.model import Person

router = APIRouter(prefix="/api/observability", tags=["server"])

Limit = Annotated[int, Query(ge=1, le=500)]
_WORDS = frozenset({"sent", "answered"})


class Rows(BaseModel):
    """The newest first."""

    rows: list[dict[str, Any]]


class Jobs(BaseModel):
    """How many rows of each kind of durable work stand where."""

    messages: dict[str, int]
    turns: dict[str, int]


@router.get("/routing")
async def routing(request: Request, person: Decider, limit: Limit = 50) -> Rows:
    """Tell how messages were routed: mode, scores, margin, signals; no words."""
    return await _latest(request, person, routing_decisions, limit)


@router.get("/iterations")
async def iterations(request: Request, person: Decider, limit: Limit = 50) -> Rows:
    """Tell the steps of acting: what was carried out, how long it took, why it ended; no parameters."""
    return await _latest(request, person, tool_iterations, limit)


@router.get("/calls")
async def calls(request: Request, person: Decider, limit: Limit = 50) -> Rows:
    """Tell the calls of models: role, prompt, outcome, time, tokens; no words."""
    found = await _latest(request, person, model_calls, limit)
    return Rows(
        rows=[
            {name: value for name, value in row.items() if name not in _WORDS} for row in found.rows
        ]
    )


@router.get("/jobs")
async def jobs(request: Request, person: Reader) -> Jobs:
    """Tell how much durable work waits, runs, is done, or needs a person."""
    house = house_of(request, person)
    tables = (observer_messages, turns)
    messages, talk = await house.store.read(
        lambda conn: [_states(conn, table, house.household.id) for table in tables]
    )
    return Jobs(messages=messages, turns=talk)


def _states(conn: Connection, table: Table, household: str) -> dict[str, int]:
    query = (
        select(table.c.state, func.count())
        .where(table.c.household == household)
        .group_by(table.c.state)
    )
    return {row[0]: row[1] for row in conn.execute(query)}


async def _latest(request: Request, person: Person, table: Table, limit: int) -> Rows:
    house = house_of(request, person)
    found = await house.store.read(
        lambda conn: latest(conn, house.household.id, table, limit=limit)
    )
    return Rows(rows=[dict(row) for row in found])
