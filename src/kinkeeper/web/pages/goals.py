"""A person's own goals: what is looked for, watched or asked again later, how far that has come, and what it came to."""

from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.calendar.model import EventState
from kinkeeper.calendar.repository import find_event
from kinkeeper.goals.model import UNFINISHED, Goal, GoalKind
from kinkeeper.goals.repository import list_goals, load_goal
from kinkeeper.language.text import shorten
from kinkeeper.memory.episodes import find_episode
from kinkeeper.memory.facts import facts_seen
from kinkeeper.notes.repository import list_notes
from kinkeeper.web.access.door import Reader
from kinkeeper.web.access.model import Person
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.tasks import Line, Short, change_notice, time_of_form
from kinkeeper.web.speakers import done_by_hand
from kinkeeper.web.views.addresses import event_href
from kinkeeper.web.views.goals import KnownSource, goal_card
from kinkeeper.web.views.known import fact_href

router = APIRouter(include_in_schema=False)

_MOST_OVER = 20
_LONGEST_LINE = 200

GoalId = Annotated[str, Path(max_length=64)]


@router.get("/goals")
async def goals_page(
    request: Request, person: Reader, *, about: Annotated[str, Query(max_length=36)] = ""
) -> HTMLResponse:
    """Show the person's own goals."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        goals = list_goals(conn, desk.viewer)
        over = [each for each in goals if each.status not in UNFINISHED][:_MOST_OVER]
        goals = [each for each in goals if each.status in UNFINISHED]
        known = _known(conn, desk, [*goals, *over])
        return {
            "may_write": person.may_speak,
            "notice": change_notice(conn, desk, about),
            "goals": [goal_card(each, known, desk.wording) for each in goals],
            "over": [goal_card(each, known, desk.wording) for each in over],
            "today": desk.wording.today.isoformat(),
        }

    return await show("goals.html", desk, "tasks", read)


@router.post("/goals/add")
async def add_goal(
    request: Request,
    person: Reader,
    *,
    text: Line,
    kind: Annotated[GoalKind, Form()] = GoalKind.FIND,
    day: Short = "",
    at: Short = "",
) -> RedirectResponse:
    """Take on a goal."""
    params: dict[str, Any] = {"text": text, "kind": kind.value}
    if (when := time_of_form(day, at)) is not None and kind is GoalKind.ASK:
        params["at"] = when
    return await _do(request, person, "create", params)


@router.post("/goals/{goal_id}/{change}")
async def change_goal(
    request: Request, person: Reader, goal_id: GoalId, change: Literal["pause", "resume", "cancel"]
) -> RedirectResponse:
    """Pause a goal, go on with it, or stop it for good."""
    desk = desk_of(request, person)
    goal = await desk.house.store.read(lambda conn: load_goal(conn, desk.viewer, goal_id))
    return await _do(request, person, change, {"find_by": goal.id})


async def _do(
    request: Request, person: Person, name: str, params: Mapping[str, Any]
) -> RedirectResponse:
    result = await done_by_hand(request, person, f"goal.{name}", params)
    query = urlencode({"about": result.action_id or ""})
    return RedirectResponse(f"/goals?{query}", HTTPStatus.SEE_OTHER)


def _known(
    conn: Connection, desk: Desk, goals: Iterable[Goal]
) -> Mapping[tuple[str, str], KnownSource]:
    """Return what was found for goals, as far as it still holds and their person may see it."""
    ids: dict[str, set[str]] = {}
    for goal in goals:
        for step in goal.progress.steps:
            for each in step.sources:
                ids.setdefault(each.kind, set()).add(each.id)
    readers = {"fact": _facts, "event": _events, "note": _notes, "episode": _heard}
    known = {
        (kind, each): source
        for kind, read in readers.items()
        if kind in ids
        for each, source in read(conn, desk, ids[kind]).items()
    }
    known |= {("page", each): _page(each) for each in ids.get("page", ())}
    return known | {("mail", each): KnownSource(text="An email") for each in ids.get("mail", ())}


def _page(address: str) -> KnownSource:
    """Return a page of the web: its address only, for what it says may have changed."""
    if not address.startswith(("http://", "https://")):
        return KnownSource(text="A web search")
    shown = address.partition("://")[2].rstrip("/")
    return KnownSource(
        text=f"Web page: {shorten(shown, _LONGEST_LINE)}", href=address, is_outside=True
    )


def _facts(conn: Connection, desk: Desk, ids: Collection[str]) -> dict[str, KnownSource]:
    found = facts_seen(conn, desk.viewer, ids)
    return {
        each.id: KnownSource(text=shorten(each.narrative, _LONGEST_LINE), href=fact_href(each.id))
        for each in found.values()
        if each.status.is_active
    }


def _events(conn: Connection, desk: Desk, ids: Collection[str]) -> dict[str, KnownSource]:
    found = (find_event(conn, desk.viewer, each) for each in sorted(ids))
    return {
        each.id: KnownSource(
            text=f"{shorten(each.summary, _LONGEST_LINE)}, in the calendar",
            href=event_href(each.id, each.start),
        )
        for each in found
        if each is not None and each.state is EventState.CONFIRMED
    }


def _notes(conn: Connection, desk: Desk, ids: Collection[str]) -> dict[str, KnownSource]:
    return {
        each.id: KnownSource(text=f"Note: {each.title}", href=f"/tasks#note-{each.id}")
        for each in list_notes(conn, desk.viewer)
        if each.id in ids
    }


def _heard(conn: Connection, desk: Desk, ids: Collection[str]) -> dict[str, KnownSource]:
    """Return who said something and when: its words may be outdated by now."""
    found = (find_episode(conn, desk.viewer, each) for each in sorted(ids))
    return {
        each.id: KnownSource(
            text=f"Said by {desk.recollection.speaker(each.speaker).name}, {desk.wording.day(desk.wording.local(each.said_at).date())}",
            href="/memory/heard",
        )
        for each in found
        if each is not None
    }
