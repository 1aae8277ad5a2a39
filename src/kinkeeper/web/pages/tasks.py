"""What is to be done, and what is noted down: the household's tasks and notes."""

from collections.abc import Mapping
from datetime import date, time
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions.authority import is_anothers
from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import read_action
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.model import TaskStatus
from kinkeeper.tasks.repository import list_tasks
from kinkeeper.web.access.door import Reader
from kinkeeper.web.access.model import Person
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.speakers import done_by_hand
from kinkeeper.web.views.cards import Notice
from kinkeeper.web.views.lists import note_cards, task_lines

router = APIRouter(include_in_schema=False)

_MOST_DONE = 20

Line = Annotated[str, Form(min_length=1, max_length=500)]
Lines = Annotated[str, Form(min_length=1, max_length=5000)]
Short = Annotated[str, Form(max_length=64)]


@router.get("/tasks")
async def tasks_page(
    request: Request, person: Reader, *, about: Annotated[str, Query(max_length=36)] = ""
) -> HTMLResponse:
    """Show what is to be done, what was done lately, and the notes."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        tasks = list_tasks(conn, desk.viewer)
        done = [task for task in tasks if task.status is TaskStatus.DONE]
        done.sort(key=lambda task: task.done_at or task.created_at, reverse=True)
        todo = [task for task in tasks if task.status is TaskStatus.OPEN]
        return {
            "may_write": person.may_speak,
            "notice": change_notice(conn, desk, about),
            "todo": task_lines(todo, desk.people, desk.wording),
            "done": task_lines(done[:_MOST_DONE], desk.people, desk.wording),
            "notes": note_cards(list_notes(conn, desk.viewer), desk.people),
            "members": list(desk.people.members.values()),
            "today": desk.wording.today.isoformat(),
        }

    return await show("tasks.html", desk, "tasks", read)


@router.post("/tasks/add")
async def add_task(
    request: Request,
    person: Reader,
    *,
    title: Line,
    day: Short = "",
    at: Short = "",
    who: Short = "",
    private: Short = "",
) -> RedirectResponse:
    """Put something on the list."""
    params: dict[str, Any] = {"title": title, "who": [who] if who else []}
    if private:
        params |= {"private": True}
    if (deadline := time_of_form(day, at)) is not None:
        params["deadline"] = deadline
    return await _do(request, person, "task.create", params)


@router.post("/tasks/{task_id}/done")
async def complete(request: Request, person: Reader, task_id: str) -> RedirectResponse:
    """Tick a task off."""
    return await _do(request, person, "task.complete", {"find_by": task_id})


@router.post("/tasks/{task_id}/delete")
async def delete(request: Request, person: Reader, task_id: str) -> RedirectResponse:
    """Remove a task without doing it."""
    return await _do(request, person, "task.delete", {"find_by": task_id})


@router.post("/notes/add")
async def add_note(
    request: Request, person: Reader, *, title: Line, body: Lines, private: Short = ""
) -> RedirectResponse:
    """Begin a note, or add to the one of that title."""
    only_mine = {"private": True} if private else {}
    return await _do(request, person, "notes.append", {"title": title, "body": body, **only_mine})


@router.post("/notes/{note_id}/add")
async def add_line(
    request: Request, person: Reader, note_id: str, *, body: Lines
) -> RedirectResponse:
    """Add lines to a note."""
    return await _do(request, person, "notes.append", {"title": note_id, "body": body})


@router.post("/notes/{note_id}/remove")
async def remove_line(
    request: Request, person: Reader, note_id: str, *, line: Lines
) -> RedirectResponse:
    """Take a line off a note."""
    return await _do(request, person, "notes.remove_line", {"title": note_id, "line": line})


@router.post("/notes/{note_id}/delete")
async def delete_note(request: Request, person: Reader, note_id: str) -> RedirectResponse:
    """Throw a note away."""
    return await _do(request, person, "notes.delete", {"title": note_id})


async def _do(
    request: Request, person: Person, key: str, params: Mapping[str, Any]
) -> RedirectResponse:
    result = await done_by_hand(request, person, key, params)
    query = urlencode({"about": result.action_id or ""})
    return RedirectResponse(f"/tasks?{query}", HTTPStatus.SEE_OTHER)


def time_of_form(day: str, at: str) -> str | None:
    """Return the day, or the day and time, that two fields of a form make; None where both are empty."""
    if not day:
        if at:
            raise InputError("choose a day for this time as well")
        return None
    try:
        date.fromisoformat(day)
        if at:
            time.fromisoformat(at)
    except ValueError as error:
        raise InputError(f"{day} {at} is not a real date and time") from error
    return f"{day}T{at}" if at else day


def change_notice(conn: Connection, desk: Desk, about: str) -> Notice | None:
    """Return what became of the last change, told from the stored action."""
    try:
        action = read_action(conn, desk.viewer, about) if about else None
    except NotFoundError:
        return None
    if action is None or is_anothers(action, desk.person.member, desk.house.household):
        return None
    summary = action.proposal.summary
    if action.undone_at is not None:
        return Notice(text=f"Undone: {summary}")
    if action.status is ActionStatus.PENDING:
        return Notice(text=f"Needs an adult's approval: {summary}")
    return Notice(
        text=summary,
        undo_id=action.id if can_be_undone(action) else "",
        is_good=action.status is ActionStatus.DONE,
    )
