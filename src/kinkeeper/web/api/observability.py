"""How conversations were decided, as JSON: routing, model calls, steps of acting."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy import Table

from kinkeeper.conversation.records import latest
from kinkeeper.conversation.tables import routing_decisions, tool_iterations
from kinkeeper.models.tables import model_calls
from kinkeeper.web.access.door import Decider, house_of
from kinkeeper.web.access.model import Person

router = APIRouter(prefix="/api/observability", tags=["server"])

Limit = Annotated[int, Query(ge=1, le=500)]
_WORDS = frozenset({"sent", "answered"})


class Rows(BaseModel):
    """The newest first."""

    rows: list[dict[str, Any]]


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


async def _latest(request: Request, person: Person, table: Table, limit: int) -> Rows:
    house = house_of(request, person)
    found = await house.store.read(
        lambda conn: latest(conn, house.household.id, table, limit=limit)
    )
    return Rows(rows=[dict(row) for row in found])
