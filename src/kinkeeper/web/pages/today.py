"""The first page, with the next 24 hours; and a person's daily digest."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import Interval
from kinkeeper.digest.content import DigestWords, gather
from kinkeeper.digest.model import parse_time
from kinkeeper.digest.repository import digest_time, last_digest, set_digest_time
from kinkeeper.tasks.model import TaskStatus
from kinkeeper.tasks.repository import list_tasks
from kinkeeper.web.access.door import Decider, Viewer
from kinkeeper.web.access.model import READERS
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.page_queries import load_standing
from kinkeeper.web.views.lists import TaskLine, pressing, task_lines
from kinkeeper.web.views.today import AHEAD, digest_page, today

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


# A person's daily digest as a page, and the time they want it at.


@router.get("/digest")
async def show_digest(request: Request, person: Decider) -> HTMLResponse:
    """Show what is waiting, what is unassigned tomorrow, and what has expired."""
    desk = desk_of(request, person)
    household = desk.house.household

    def read(conn: Connection) -> Mapping[str, Any]:
        digest = gather(
            conn, household, person.member, day=desk.wording.today, now=desk.now,
            since=last_digest(conn, household.id, person.member.id),
        )  # fmt: skip
        cards = [desk.cards.expired(each) for each in digest.expired]
        at = digest_time(conn, household, person.member.id)
        return {"digest": digest_page(digest, DigestWords(household), expired=cards, at=at)}

    return await show("digest.html", desk, "pending", read)


@router.post("/digest/time")
async def choose_time(
    request: Request,
    person: Decider,
    *,
    at: Annotated[str, Form(max_length=20)] = "",
    off: Annotated[bool, Form()] = False,
) -> RedirectResponse:
    """Change the time of the digest, or turn it off."""
    desk = desk_of(request, person)
    wanted = parse_time("off" if off else at)
    await desk.house.store.write(
        lambda conn: set_digest_time(conn, desk.household, person.member.id, wanted, now=desk.now)
    )
    return RedirectResponse("/digest", HTTPStatus.SEE_OTHER)
