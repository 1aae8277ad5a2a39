"""How it is doing: checks with how to mend them, queues, comfort, and which hosts it talks to."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from kinkeeper.actions.bars import offsets_at
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.background.drift.repository import figures
from kinkeeper.conversation.turn_records import effects
from kinkeeper.core.time import local_days
from kinkeeper.observer.accounts.metrics import load_metrics
from kinkeeper.observer.feedback import daily_feedback
from kinkeeper.web.access.door import Relative
from kinkeeper.web.context import context_of
from kinkeeper.web.pages.desk import desk_of, show
from kinkeeper.web.views.health import health_page, shown_until, with_thought
from kinkeeper.web.workload import load_work

router = APIRouter(include_in_schema=False)

_DAYS = 30


@router.get("/health")
async def show_health(request: Request, person: Relative) -> HTMLResponse:
    """Show how it is doing."""
    desk, context = desk_of(request, person), context_of(request)
    findings = await asyncio.to_thread(context.checkup, desk.household)
    days = shown_until(desk.now, desk.wording, count=_DAYS)
    span = local_days(days[0], days[-1], desk.wording.zone)

    def read(conn: Connection) -> Mapping[str, Any]:
        household = desk.household
        actions = list_actions(
            conn, desk.viewer, statuses=frozenset(ActionStatus), now=desk.now, since=span.start
        )
        page = health_page(
            findings,
            load_work(conn, household, since=span.start),
            load_metrics(
                conn, household, desk.wording.zone, first=days[0], last=days[-1], now=desk.now
            ),
            daily_feedback(conn, household, span, desk.wording.zone),
            actions=actions,
            hosts=context.hosts,
            effects=with_thought(
                effects(conn, household, since=span.start),
                figures(conn, household, since=span.start),
            ),
            learned=offsets_at(conn, household, desk.now),
            days=days,
            wording=desk.wording,
        )
        return {"health": page}

    return await show("health.html", desk, "health", read)
