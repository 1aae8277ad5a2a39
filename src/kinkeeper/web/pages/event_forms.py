"""Adding, editing and deleting an event on a page: forms that also work without scripts."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.responses import Response

from kinkeeper.actions.requests.edits_by_hand import occurrence_named, require_version
from kinkeeper.actions.requests.event_views import FindEvent, Scope
from kinkeeper.actions.requests.model import ActionResult, Asked
from kinkeeper.calendar.event_version import version_of
from kinkeeper.calendar.model import Occurrence
from kinkeeper.core.errors import (
    ConflictError,
    DeniedError,
    FieldError,
    InputError,
    OutdatedError,
    UnclearError,
)
from kinkeeper.web.access.door import Reader
from kinkeeper.web.access.model import Person
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.route_parts import ToldTime
from kinkeeper.web.security.browser_protection import own_page
from kinkeeper.web.speakers import asked_by_hand, done_by_hand
from kinkeeper.web.views.calendar import Span, clamped
from kinkeeper.web.views.calendar_diff import piece_of
from kinkeeper.web.views.event_form import (
    FIELD_OF_REQUEST,
    EventFields,
    EventForm,
    audiences_of,
    blank,
    changes_between,
    fields_before,
    fields_of,
    merged,
    new_event,
    repeats_of,
    wrong_fields,
)

router = APIRouter(include_in_schema=False)

_REFUSALS = (InputError, UnclearError, ConflictError, DeniedError)

EventId = Annotated[str, Path(max_length=200)]
Short = Annotated[str, Form(max_length=64)]
Clock = Annotated[str, Query(max_length=8)]


class Filled(BaseModel):
    """The form as a browser sends it; what is wrong with it is said beside its fields."""

    title: Annotated[str, Form(max_length=500)] = ""
    who: Annotated[list[str], Form(max_length=50)] = []
    day: Short = ""
    start: Short = ""
    last_day: Short = ""
    end: Short = ""
    all_day: Short = ""
    place: Annotated[str, Form(max_length=500)] = ""
    repeat: Short = "never"
    until: Short = ""
    responsible: Annotated[list[str], Form(max_length=50)] = []
    audience: Short = ""
    scope: Scope = Scope.OCCURRENCE
    occurrence: Short = ""
    version: Short = ""
    before: Annotated[str, Form(max_length=20_000)] = ""
    back: Annotated[str, Form(max_length=2000)] = ""
    csrf: Annotated[str, Form(max_length=200)] = ""

    @property
    def fields(self) -> EventFields:
        """What the fields of the event hold."""
        return EventFields(
            title=self.title,
            who=tuple(self.who),
            day=self.day,
            start=self.start[:5],
            last_day="" if self.last_day == self.day else self.last_day,
            end=self.end[:5],
            all_day=bool(self.all_day),
            place=self.place,
            repeat=self.repeat,
            until="" if self.repeat == "never" else self.until,
            responsible=tuple(self.responsible),
            audience=self.audience,
        )


Sent = Annotated[Filled, Form()]


@router.get("/calendar/new")
async def new_page(
    request: Request,
    person: Reader,
    *,
    on: Annotated[date | None, Query()] = None,
    at: Clock = "",
    span: Annotated[Span, Query()] = Span.WEEK,
) -> HTMLResponse:
    """Show the form for a new event."""
    desk = _desk_of_writer(request, person)
    day = clamped(on or desk.wording.today)
    filled = blank(day, at, person.member.id, desk.wording)
    back = f"/calendar?span={span.value}&on={day.isoformat()}"
    return await _show(desk, _new_form(desk, filled, back, {}))


@router.post("/calendar/new")
async def add(request: Request, person: Reader, sent: Sent) -> Response:
    """Add the event, or show the form with what is wrong."""
    desk = _desk_of_writer(request, person)
    filled, back = sent.fields, _own(sent.back)
    wrong: Mapping[str, str] = wrong_fields(filled)
    if not wrong:
        try:
            result = await done_by_hand(request, person, "calendar.create_event", new_event(filled))
        except _REFUSALS as error:
            wrong = _wrong(error)
        else:
            return _saved(back, result)
    return await _show(desk, _new_form(desk, filled, back, wrong))


@router.get("/calendar/event/{event_id}/edit")
async def edit_page(
    request: Request, person: Reader, event_id: EventId, *, at: ToldTime | None = None
) -> HTMLResponse:
    """Show the form for an event that is in the calendar.

    Args:
        at: Original start of the occurrence; the next one without it.
    """
    desk = _desk_of_writer(request, person)
    found, version = await _standing(request, desk, _named(event_id, at))
    now = fields_of(found, desk.house.household)
    return await _show(desk, _edit_form(desk, found, version, before=now, filled=now))


@router.post("/calendar/event/{event_id}/edit")
async def edit(request: Request, person: Reader, event_id: EventId, sent: Sent) -> Response:
    """Save what was changed, or show the form with what is wrong."""
    desk = _desk_of_writer(request, person)
    named = _named(event_id, _instant(sent.occurrence))
    found, version = await _standing(request, desk, named)
    now = fields_of(found, desk.house.household)
    before, filled = fields_before(sent.before, now), sent.fields
    wrong: Mapping[str, str] = wrong_fields(filled)
    if not wrong:
        changes = changes_between(before, filled, found.event.rrule)
        if not changes:
            return RedirectResponse(_day_of(desk, found), HTTPStatus.SEE_OTHER)
        params = {**named.model_dump(), "scope": sent.scope, "changes": changes}
        try:
            result = await _done(
                request, person, key="calendar.edit_event", params=params, version=sent.version
            )
        except OutdatedError as error:
            wrong, filled, before = {"": str(error)}, merged(filled, before, now), now
        except _REFUSALS as error:
            wrong = _wrong(error)
        else:
            return _saved(f"/calendar?on={filled.day}", result)
    form = _edit_form(desk, found, version, before=before, filled=filled)
    return await _show(desk, replace(form, wrong=wrong, scope=form.scope and sent.scope.value))


@router.get("/calendar/event/{event_id}/delete")
async def delete_page(
    request: Request, person: Reader, event_id: EventId, *, at: ToldTime | None = None
) -> HTMLResponse:
    """Ask how much of a series is to be deleted."""
    desk = _desk_of_writer(request, person)
    return await _show_deletion(request, desk, _named(event_id, at))


@router.post("/calendar/event/{event_id}/delete")
async def delete(
    request: Request,
    person: Reader,
    event_id: EventId,
    *,
    scope: Annotated[Scope, Form()] = Scope.OCCURRENCE,
    occurrence: Short = "",
    version: Short = "",
) -> Response:
    """Delete an event, or part of a series."""
    desk = _desk_of_writer(request, person)
    named = _named(event_id, _instant(occurrence))
    found, _ = await _standing(request, desk, named)
    params = {**named.model_dump(), "scope": scope}
    try:
        result = await _done(
            request, person, key="calendar.remove_event", params=params, version=version
        )
    except OutdatedError:
        wrong = "Somebody changed this in the meantime. Look at it again before you delete it."
        return await _show_deletion(request, desk, named, wrong)
    except _REFUSALS as error:
        return await _show_deletion(request, desk, named, str(error))
    return _saved(_day_of(desk, found), result)


def _desk_of_writer(request: Request, person: Person) -> Desk:
    if not person.may_speak:
        raise DeniedError("this sign-in is read-only")
    return desk_of(request, person)


async def _done(
    request: Request, person: Person, *, key: str, params: Mapping[str, Any], version: str
) -> ActionResult:
    named = FindEvent(event_id=params["event_id"])

    def check(conn: Connection, asked: Asked) -> None:
        require_version(conn, named, version, asked)

    return await done_by_hand(request, person, key, params, check=check)


async def _standing(request: Request, desk: Desk, named: FindEvent) -> tuple[Occurrence, str]:
    """Return the occurrence that is named, as it is now, and the version of its event."""
    asked = asked_by_hand(request, desk.person)

    def read(conn: Connection) -> tuple[Occurrence, str]:
        found = occurrence_named(conn, named, asked)
        return found, version_of(conn, found.event)

    return await desk.house.store.read(read)


def _named(event_id: str, at: datetime | None) -> FindEvent:
    return FindEvent(event_id=event_id, on=None if at is None else at.isoformat())


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _wrong(error: Exception) -> dict[str, str]:
    """Return an error by the field of the form that it concerns; "" for none."""
    text = str(error)
    name = FIELD_OF_REQUEST.get(error.field, error.field) if isinstance(error, FieldError) else ""
    return {name: text[:1].upper() + text[1:]}


def _new_form(desk: Desk, filled: EventFields, back: str, wrong: Mapping[str, str]) -> EventForm:
    return EventForm(
        heading="New event",
        action="/calendar/new",
        back=back,
        filled=filled,
        wrong=wrong,
        members=list(desk.people.members.values()),
        places=list(desk.places.values()),
        repeats=repeats_of(None),
        audiences=audiences_of(None, desk.people),
    )


def _edit_form(
    desk: Desk, found: Occurrence, version: str, *, before: EventFields, filled: EventFields
) -> EventForm:
    event = found.event
    known = desk.people.each((*desk.people.members, *event.who, *found.responsible))
    return EventForm(
        heading="Edit event",
        action=f"/calendar/event/{quote(event.id, safe='')}/edit",
        back=_day_of(desk, found),
        filled=filled,
        members=known,
        places=list(desk.places.values()),
        repeats=repeats_of(before),
        audiences=audiences_of(event, desk.people),
        before=before.as_json(),
        version=version,
        occurrence=found.original_start.isoformat(),
        scope="" if event.rrule is None else Scope.OCCURRENCE.value,
    )


async def _show(desk: Desk, form: EventForm) -> HTMLResponse:
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.wrong else HTTPStatus.OK
    return await show("event_form.html", desk, "calendar", lambda _: {"form": form}, status=status)


async def _show_deletion(
    request: Request, desk: Desk, named: FindEvent, wrong: str = ""
) -> HTMLResponse:
    found, version = await _standing(request, desk, named)
    line = desk.words.piece(piece_of(found))
    values = {
        "line": line,
        "repeats": found.event.rrule is not None,
        "action": f"/calendar/event/{quote(found.event.id, safe='')}/delete",
        "version": version,
        "occurrence": found.original_start.isoformat(),
        "back": _day_of(desk, found),
        "wrong": wrong,
    }
    status = HTTPStatus.CONFLICT if wrong else HTTPStatus.OK
    return await show("event_delete.html", desk, "calendar", lambda _: values, status=status)


def _day_of(desk: Desk, found: Occurrence) -> str:
    return f"/calendar?on={desk.wording.local(found.interval.start).date().isoformat()}"


def _own(back: str) -> str:
    """Return a page of the calendar to go back to."""
    page = own_page(back)
    return page if page.startswith("/calendar?") else "/calendar?span=week"


def _saved(back: str, result: ActionResult) -> RedirectResponse:
    about = quote(result.action_id or "", safe="")
    return RedirectResponse(f"{back}&about={about}", HTTPStatus.SEE_OTHER)
