"""The first page: the next 24 hours."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from kinkeeper.actions.repository import open_actions
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import Interval
from kinkeeper.web.access.door import Viewer
from kinkeeper.web.pages.desk import desk_of, show
from kinkeeper.web.pages.records import load_standing
from kinkeeper.web.views.today import AHEAD, today

router = APIRouter(include_in_schema=False)


@router.get("/")
async def today_page(request: Request, person: Viewer) -> HTMLResponse:
    """Show who is where, what nobody has, what collides, what waits."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        actions = open_actions(conn, desk.household, now=desk.now)
        span = Interval(desk.now, desk.now + AHEAD)
        return {
            "today": today(
                occurrences_between(conn, desk.household, span), actions,
                load_standing(conn, desk.household, actions), lines=desk.lines,
            )
        }  # fmt: skip

    return await show("today.html", desk, "today", read)
