"""The first pages: the next 24 hours with a person's daily digest, and the sample family for somebody new."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from sqlalchemy import Connection

from kinkeeper.background.drift.repository import choose, end_question, wants_none
from kinkeeper.background.drift.rounds import kept_for
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import Interval
from kinkeeper.digest.content import DigestWords, gather
from kinkeeper.digest.repository import digest_time, last_digest, parse_time, set_digest_time
from kinkeeper.tasks.model import TaskStatus
from kinkeeper.tasks.repository import list_tasks
from kinkeeper.web.access.door import Decider, Viewer, anyone
from kinkeeper.web.access.model import READERS
from kinkeeper.web.context import WebContext, context_of
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.offline import may_be_kept
from kinkeeper.web.pages.page_queries import load_standing
from kinkeeper.web.pages.responses import page
from kinkeeper.web.views.lists import TaskLine, pressing, task_lines
from kinkeeper.web.views.today import AHEAD, digest_page, today
from kinkeeper.web.views.welcome import Scene, scenes

router = APIRouter(include_in_schema=False)

_SECONDS_A_SCENE = 0.9


class Stage:
    """The play of one server: performed once, then told from memory."""

    def __init__(self, context: WebContext) -> None:
        self._context = context
        self._lock = asyncio.Lock()
        self._scenes: tuple[Scene, ...] = ()

    async def scenes(self) -> tuple[Scene, ...]:
        """Return the play.

        Raises:
            NotFoundError: This server has no sample.
        """
        if self._context.sample is None:
            raise NotFoundError("this server does not have the sample")
        async with self._lock:
            if not self._scenes:
                self._scenes = scenes([row async for row in self._context.sample()])
        return self._scenes


@router.get("/welcome", dependencies=[Depends(anyone)])
async def welcome(request: Request) -> HTMLResponse:
    """Show the play; without scripts it is there at once."""
    return page("welcome.html", None, scenes=await _stage(request).scenes())


@router.get("/welcome/live", dependencies=[Depends(anyone)])
async def play(
    request: Request, *, pace: Annotated[float, Query(ge=0, le=5)] = _SECONDS_A_SCENE
) -> StreamingResponse:
    """Stream the play, scene by scene; goes on where a lost connection left it."""
    last = request.headers.get("last-event-id", "")
    begin = int(last) + 1 if last.isdecimal() and len(last) <= len("9999") else 0
    played = await _stage(request).scenes()
    return StreamingResponse(
        _events(context_of(request), played[begin:], begin, pace),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _events(
    context: WebContext, played: tuple[Scene, ...], begin: int, pace: float
) -> AsyncIterator[str]:
    for number, scene in enumerate(played, begin):
        if context.stopping.is_set():
            return
        data = json.dumps({"scene": number, "ledger": scene.ledger})
        yield f"id: {number}\nevent: scene\ndata: {data}\n\n"
        await asyncio.sleep(pace)
    yield "event: end\ndata: {}\n\n"


def _stage(request: Request) -> Stage:
    state = request.app.state
    if not hasattr(state, "stage"):
        state.stage = Stage(context_of(request))
    stage: Stage = state.stage
    return stage


@router.get("/")
async def today_page(request: Request, person: Viewer) -> HTMLResponse:
    """Show who is where, what nobody has, what collides, what waits."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        actions = desk.open_actions(conn)
        span = Interval(desk.now, desk.now + AHEAD)
        return {
            "today": today(
                occurrences_between(conn, desk.viewer, span, with_busy=desk.viewer.sees_busy),
                actions,
                load_standing(conn, desk.viewer, actions),
                lines=desk.lines,
            ),
            "todo": _todo(conn, desk),
        }

    return may_be_kept(await show("today.html", desk, "today", read), desk)


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
            conn,
            household,
            person.member,
            day=desk.wording.today,
            now=desk.now,
            since=last_digest(conn, household.id, person.member.id),
        )
        cards = [desk.cards.expired(each) for each in digest.expired]
        at = digest_time(conn, household, person.member.id)
        has_remarks = person.member.id not in wants_none(conn, household.id)
        page = digest_page(digest, DigestWords(household), expired=cards, at=at)
        kept = kept_for(conn, household, person.member, now=desk.now) if has_remarks else []
        return {"digest": page, "has_remarks": has_remarks, "kept": kept}

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


@router.post("/digest/remarks")
async def choose_remarks(
    request: Request, person: Decider, *, on: Annotated[bool, Form()]
) -> RedirectResponse:
    """Turn what one is told unasked off or on."""
    desk = desk_of(request, person)
    await desk.house.store.write(
        lambda conn: choose(conn, desk.household, person.member.id, is_on=on, now=desk.now)
    )
    return RedirectResponse("/digest", HTTPStatus.SEE_OTHER)


@router.post("/digest/questions")
async def end_kept_question(
    request: Request, person: Decider, *, news: Annotated[str, Form(max_length=64)]
) -> RedirectResponse:
    """End a question that is kept for oneself: it is not asked, now or later."""
    desk = desk_of(request, person)
    await desk.house.store.write(
        lambda conn: end_question(conn, desk.household, person.member.id, news, now=desk.now)
    )
    return RedirectResponse("/digest", HTTPStatus.SEE_OTHER)
