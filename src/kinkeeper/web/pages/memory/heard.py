"""What was said to the assistant, newest first."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from kinkeeper.memory.episodes import list_episodes, outdated_spans
from kinkeeper.web.access.door import Viewer
from kinkeeper.web.pages.desk import desk_of, show
from kinkeeper.web.request_values import ToldTime
from kinkeeper.web.views.happened import days_of

router = APIRouter(include_in_schema=False)

_A_PAGE = 40


@router.get("/memory/heard")
async def heard_page(
    request: Request, person: Viewer, *, before: Annotated[ToldTime | None, Query()] = None
) -> HTMLResponse:
    """Show what was said, by day."""
    desk = desk_of(request, person)
    since = before if before is None or before.tzinfo else before.replace(tzinfo=desk.wording.zone)

    def read(conn: Connection) -> Mapping[str, Any]:
        found = list_episodes(conn, desk.viewer, before=since, limit=_A_PAGE)
        outdated = outdated_spans(conn, desk.household, [each.id for each in found], at=desk.now)
        is_full = len(found) == _A_PAGE
        earlier = urlencode({"before": found[-1].said_at.isoformat()}) if is_full else ""
        return {
            "days": days_of(found, outdated, desk.recollection),
            "earlier": f"/memory/heard?{earlier}" if earlier else "",
        }

    return await show("memory_heard.html", desk, "memory", read)
