"""The first page: the next 24 hours."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import Interval
from kinkeeper.tasks.model import TaskStatus
from kinkeeper.tasks.repository import list_tasks
from kinkeeper.web.access.door import Viewer
from kinkeeper.web.access.model import READERS
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.page_queries import load_standing
from kinkeeper.web.views.lists import TaskLine, pressing, task_lines
from kinkeeper.web.views.today import AHEAD, today

router = APIRouter(include_in_schema=False)


@router.get("/")
async def today_page(request: Request, person: Viewer) -> HTMLResponse:
    """Show who is where, what nobody has, what collides, what waits."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        actions = desk.open_actions(conn)
        span = Interval(desk.now, desk.now + AHEAD)
        return {
            "today": today(
                occurrences_between(
                    conn, desk.viewer, span, with_busy=desk.viewer.sees_busy
                ), actions,
                load_standing(conn, desk.viewer, actions), lines=desk.lines,
            ),
            "todo": _todo(conn, desk),
        }  # fmt: skip

    return await show("today.html", desk, "today", read)


def _todo(conn: Connection, desk: Desk) -> Sequence[TaskLine]:
    """Return the tasks that press, for those who may see more than the screen in the hall."""
    if desk.person.role not in READERS:
        return ()
    tasks = list_tasks(conn, desk.viewer, status=TaskStatus.OPEN)
    return task_lines(pressing(tasks, desk.now), desk.people, desk.wording)
