"""An import of a calendar file, and undoing all of it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions.calendar_import import SOURCE
from kinkeeper.actions.import_undo import steps_to_undo, undo_import
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import read_action
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.web.access.door import Decider
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.views.provenance import import_href

router = APIRouter(include_in_schema=False)

_MOST_LINES = 20

ActionId = Annotated[str, Path(max_length=36)]


@router.get("/calendar/imports/{action_id}")
async def import_page(
    request: Request,
    person: Decider,
    action_id: ActionId,
    *,
    undone: Annotated[int | None, Query(ge=0)] = None,
) -> HTMLResponse:
    """Say what undoing an import would take out of the calendar, and ask; afterwards, what became of it."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        action = _step(conn, desk, action_id)
        import_id, by = action.proposal.source_id, [person.member]
        steps = steps_to_undo(conn, desk.house.household, import_id, by)
        shown = [read_action(conn, desk.viewer, each.action_id) for each in steps[:_MOST_LINES]]
        decided = action.decided_at
        return {
            "href": import_href(action), "count": len(steps), "undone": undone,
            "lines": [each.proposal.summary for each in shown], "more": len(steps) - len(shown),
            "by": desk.people.of(action.decided_by).name if action.decided_by else "",
            "at": desk.wording.moment(decided) if decided else "",
        }  # fmt: skip

    return await show("import_undo.html", desk, "calendar", read)


@router.post("/calendar/imports/{action_id}/undo")
async def undo(
    request: Request,
    person: Decider,
    action_id: ActionId,
    sure: Annotated[str, Form(max_length=3)] = "",
) -> RedirectResponse:
    """Undo a whole import, as far as this person may see it."""
    if sure != "yes":
        raise InputError("this removes everything that was imported; tick the box to confirm")
    desk = desk_of(request, person)
    store = desk.house.store
    action = await store.read(lambda conn: _step(conn, desk, action_id))
    done = await undo_import(
        store, desk.house.household, action.proposal.source_id, by=person.member, now=desk.now
    )
    return RedirectResponse(f"{import_href(action)}?undone={done.undone}", HTTPStatus.SEE_OTHER)


def _step(conn: Connection, desk: Desk, action_id: str) -> PendingAction:
    """Return one action of an import.

    Raises:
        NotFoundError: There is none with that id that its viewer may read.
    """
    action = read_action(conn, desk.viewer, action_id)
    if action.proposal.source_type != SOURCE:
        raise NotFoundError(f"there is no import {action_id!r}")
    return action
