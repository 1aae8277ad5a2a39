"""The household's calendar, where each entry comes from, and the import of a calendar file."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions.calendar_import import SOURCE, steps_to_undo, undo_import
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import read_action
from kinkeeper.calendar.model import Event, Occurrence
from kinkeeper.calendar.repository import list_overrides, load_event
from kinkeeper.calendar.search import occurrences_between, times_of
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.viewers import Viewer as Viewing
from kinkeeper.web.access.door import Decider, Viewer
from kinkeeper.web.access.model import FAMILY
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.page_queries import load_ground, load_standing
from kinkeeper.web.pages.tasks import change_notice
from kinkeeper.web.route_parts import ToldTime
from kinkeeper.web.views.addresses import edit_href
from kinkeeper.web.views.calendar import (
    Span,
    calendar_page,
    clamped,
    entry_page,
    import_href,
    shown_days,
)
from kinkeeper.web.views.cards import Ground, Notice
from kinkeeper.web.views.items import collect

router = APIRouter(include_in_schema=False)


@router.get("/calendar")
async def show_calendar(
    request: Request,
    person: Viewer,
    *,
    span: Annotated[Span, Query()] = Span.WEEK,
    on: Annotated[date | None, Query()] = None,
    about: Annotated[str, Query(max_length=36)] = "",
) -> HTMLResponse:
    """Show a week, a month, or what comes next, and what became of the last change.

    Args:
        about: Action that made the change.
    """
    desk = desk_of(request, person)
    anchor = clamped(on or desk.wording.today)
    first, last = shown_days(span, anchor, desk.wording.week_start)
    shown = local_days(first, last, desk.wording.zone)

    def read(conn: Connection) -> Mapping[str, Any]:
        actions = desk.open_actions(conn)
        standing = load_standing(conn, desk.viewer, actions)
        occurrences = occurrences_between(conn, desk.viewer, shown, with_busy=desk.viewer.sees_busy)
        found = [
            each
            for each in collect(occurrences, actions, standing, desk.wording.phrasing)
            if each.piece.interval.overlaps(shown) or each.piece.interval.start == shown.start
        ]
        page = calendar_page(
            found, span=span, anchor=anchor, lines=desk.lines, wording=desk.wording
        )
        return {
            "calendar": page,
            "today_href": f"/calendar?span={span.value}",
            "may_write": person.may_speak,
            "notice": saved_notice(conn, desk, about),
            "here": f"/calendar?span={span.value}&on={anchor.isoformat()}",
        }

    return await show("calendar.html", desk, "calendar", read)


@router.get("/calendar/event/{event_id}")
async def show_entry(
    request: Request,
    person: Viewer,
    event_id: Annotated[str, Path(max_length=200)],
    *,
    at: Annotated[ToldTime | None, Query()] = None,
) -> HTMLResponse:
    """Show one entry, with why it is there."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        event = load_event(conn, desk.viewer, event_id)
        action = _action(conn, desk, event)
        ground = load_ground(conn, desk.household, action) if action else Ground()
        quotes = tuple(map(desk.quotes.of, ground.messages))
        occurrence = _occurrence(conn, event, at, desk.viewer)
        entry = entry_page(
            event,
            occurrence,
            action,
            quotes if person.role in FAMILY else (),
            words=desk.words,
            people=desk.people,
        )
        return {
            "entry": entry,
            "may_write": person.may_speak and not entry.is_off,
            "edit_href": edit_href(event.id, occurrence, "edit"),
            "delete_href": edit_href(event.id, occurrence, "delete"),
        }

    return await show("entry.html", desk, "calendar", read)


def saved_notice(conn: Connection, desk: Desk, about: str) -> Notice | None:
    """Return what became of a change of the calendar, told from the stored action."""
    notice = change_notice(conn, desk, about)
    if notice is None or not notice.undo_id:
        return notice
    return replace(notice, text=f"Saved. {notice.text}")


def _action(conn: Connection, desk: Desk, event: Event) -> PendingAction | None:
    if event.provenance.action_id is None:
        return None
    try:
        return read_action(conn, desk.viewer, event.provenance.action_id)
    except NotFoundError:
        return None


def _occurrence(
    conn: Connection, event: Event, at: datetime | None, viewer: Viewing
) -> Occurrence | None:
    """Return the occurrence that begins at an instant; of what happens once, that one."""
    if at is None or at.tzinfo is None or clamped(at.date()) != at.date():
        return None
    overrides = list_overrides(conn, event.household, event.id)
    near = Interval(at, at + timedelta(minutes=1))
    found = [
        each
        for each in times_of(event, overrides, near, viewer)
        if near.start <= each.interval.start < near.end
    ]
    return found[0] if found else None


# An import of a calendar file, and undoing all of it.

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
            "href": import_href(action),
            "count": len(steps),
            "undone": undone,
            "lines": [each.proposal.summary for each in shown],
            "more": len(steps) - len(shown),
            "by": desk.people.of(action.decided_by).name if action.decided_by else "",
            "at": desk.wording.moment(decided) if decided else "",
        }

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
    """Return one action of an import."""
    action = read_action(conn, desk.viewer, action_id)
    if action.proposal.source_type != SOURCE:
        raise NotFoundError(f"there is no import {action_id!r}")
    return action
