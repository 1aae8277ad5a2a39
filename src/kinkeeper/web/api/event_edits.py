"""Single events as JSON: read with their version, edited and deleted, one of a series, the later ones or all."""

from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any, Final, Self

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from kinkeeper.actions.requests.edits_by_hand import occurrence_named, require_version
from kinkeeper.actions.requests.event_views import FindEvent, Scope
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.calendar.event_version import version_of
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.repository import load_event
from kinkeeper.core.errors import FieldError, InputError, NotFoundError, OutdatedError
from kinkeeper.web.access.door import Reader, house_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.api.events import OccurrenceRecord, Text, Time
from kinkeeper.web.problems import MEDIA_TYPE, problem
from kinkeeper.web.route_parts import ToldTime
from kinkeeper.web.speakers import asked_by_hand, done_by_hand

router = APIRouter(tags=["calendar"])

_DAY = timedelta(days=1)
_DATE_LENGTH = len("2026-03-05")
_OUTDATED: Final[dict[int | str, dict[str, Any]]] = {
    412: {
        "description": "Somebody changed it since; `current` has it as it is now.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


class Part(StrEnum):
    """How much of a series is meant."""

    THIS = "this"
    FOLLOWING = "following"
    ALL = "all"


_SCOPES: Final = {
    Part.THIS: Scope.OCCURRENCE,
    Part.FOLLOWING: Scope.FOLLOWING,
    Part.ALL: Scope.SERIES,
}


class EventEdit(BaseModel):
    """What is to be different; omitted fields are kept, null removes a value.

    A start without a time makes it an all-day event. Times without an offset are local.
    """

    model_config = ConfigDict(extra="forbid")

    summary: Text | None = None
    start: Time | None = None
    end: Time | None = None
    rrule: Text | None = None
    who: Annotated[list[Text], Field(max_length=50)] | None = None
    responsible: Annotated[list[Text], Field(max_length=50)] | None = None
    location: Text | None = None
    private: Annotated[
        bool | None, Field(description="Whether nobody else may see it; it stays so if omitted.")
    ] = None


class EditTold(BaseModel):
    """The result: done, or waiting for an adult's approval. The action can be undone."""

    status: ResultStatus
    summary: str
    action_id: str | None

    @classmethod
    def of(cls, result: ActionResult) -> Self:
        """Return the record of a result."""
        return cls(status=result.status, summary=result.summary, action_id=result.action_id)


EventId = Annotated[str, Path(min_length=1, max_length=200)]
Which = Annotated[
    ToldTime | None, Query(description="The `original_start` of the occurrence that is meant.")
]
HowMuch = Annotated[
    Part | None,
    Query(description="How much of an event that repeats; needed only for such events."),
]
Version = Annotated[
    str | None,
    Header(max_length=200, description="The ETag; refused with 412 if the event has changed."),
]


@router.get("/api/events/{event_id}")
async def read_event(
    request: Request,
    response: Response,
    person: Reader,
    *,
    event_id: EventId,
    occurrence: Which = None,
) -> OccurrenceRecord:
    """Return one occurrence of an event: the one named, else the next. The ETag is the event's version."""
    found, version = await _current(request, person, event_id, occurrence)
    response.headers["ETag"] = _tag(version)
    return _record(found, asked_by_hand(request, person))


@router.patch("/api/events/{event_id}", response_model=EditTold, responses=_OUTDATED)
async def edit_event(
    request: Request,
    response: Response,
    person: Reader,
    *,
    event_id: EventId,
    edit: EventEdit,
    scope: HowMuch = None,
    occurrence: Which = None,
    if_match: Version = None,
) -> EditTold | Response:
    """Edit an event at once; what a child or guest edits waits for an adult's approval."""
    params = await _that(request, person, event_id, scope, occurrence=occurrence)
    params["changes"] = _changes(edit)
    return await _done(
        request, response, person, key="calendar.edit_event", params=params, if_match=if_match
    )


@router.delete("/api/events/{event_id}", response_model=EditTold, responses=_OUTDATED)
async def delete_event(
    request: Request,
    response: Response,
    person: Reader,
    *,
    event_id: EventId,
    scope: HowMuch = None,
    occurrence: Which = None,
    if_match: Version = None,
) -> EditTold | Response:
    """Delete an event at once; what a child or guest deletes waits for an adult's approval."""
    params = await _that(request, person, event_id, scope, occurrence=occurrence)
    key = "calendar.remove_event"
    return await _done(request, response, person, key=key, params=params, if_match=if_match)


async def _done(
    request: Request,
    response: Response,
    person: Person,
    *,
    key: str,
    params: dict[str, Any],
    if_match: str | None,
) -> EditTold | Response:
    version = _version(if_match)

    def check(conn: Connection, asked: Asked) -> None:
        if version is not None:
            require_version(conn, FindEvent(event_id=params["event_id"]), version, asked)

    try:
        result = await done_by_hand(request, person, key, params, check=check)
    except OutdatedError as error:
        return await _outdated(request, person, params, str(error))
    if result.status is ResultStatus.AWAITING:
        response.status_code = HTTPStatus.ACCEPTED
    return EditTold.of(result)


async def _outdated(
    request: Request, person: Person, params: dict[str, Any], detail: str
) -> Response:
    """Return the refusal with the event as it is now: the same occurrence, or the next if that is gone."""
    event_id, on = params["event_id"], params.get("on")
    try:
        start = datetime.fromisoformat(on) if on else None
        found, version = await _current(request, person, event_id, start)
    except NotFoundError:
        found, version = await _current(request, person, event_id, None)
    current = _record(found, asked_by_hand(request, person)).model_dump(mode="json")
    headers = {"ETag": _tag(version)}
    return problem(
        HTTPStatus.PRECONDITION_FAILED, detail, headers=headers, more={"current": current}
    )


async def _current(
    request: Request, person: Person, event_id: str, start: datetime | None
) -> tuple[Occurrence, str]:
    asked = asked_by_hand(request, person)
    wanted = FindEvent(event_id=event_id, on=None if start is None else start.isoformat())

    def read(conn: Connection) -> tuple[Occurrence, str]:
        event = load_event(conn, asked.viewer, event_id)
        return occurrence_named(conn, wanted, asked), version_of(conn, event)

    return await house_of(request, person).store.read(read)


async def _that(
    request: Request,
    person: Person,
    event_id: str,
    part: Part | None,
    *,
    occurrence: datetime | None,
) -> dict[str, Any]:
    """Return what names one occurrence and how much of its series.

    Raises:
        InputError: It repeats, and it is not said which part of it is meant.
    """
    asked = asked_by_hand(request, person)
    event = await house_of(request, person).store.read(
        lambda conn: load_event(conn, asked.viewer, event_id)
    )
    params: dict[str, Any] = {"event_id": event_id}
    if event.rrule is not None:
        if part is None:
            raise InputError("this event repeats; choose a scope: this, following or all")
        if part is not Part.ALL and occurrence is None:
            raise InputError("name the occurrence by its original_start")
        params["scope"] = _SCOPES[part].value
    if occurrence is not None:
        params["on"] = occurrence.isoformat()
    return params


def _changes(edit: EventEdit) -> dict[str, Any]:
    """Return an edit as the request takes it; of whole days that names the last one."""
    given = edit.model_dump(exclude_unset=True)
    for name in ("summary", "start", "end", "private"):
        if name in given and given[name] is None:
            raise FieldError(name, f"{name} cannot be null; leave it out to keep it")
    changes: dict[str, Any] = {
        name: given[name] for name in ("summary", "private") if name in given
    }
    changes |= {name: given[name] or "" for name in ("rrule", "location") if name in given}
    changes |= {name: given[name] or [] for name in ("who", "responsible") if name in given}
    if edit.start is not None:
        changes["start_time"] = edit.start
    if edit.end is not None:
        changes["end_time"] = _last(edit.end) if len(edit.end) <= _DATE_LENGTH else edit.end
    return changes


def _last(end: str) -> str:
    try:
        return (datetime.fromisoformat(end) - _DAY).date().isoformat()
    except (ValueError, OverflowError) as error:
        raise FieldError("end", f"{end!r} is not a real date") from error


def _record(occurrence: Occurrence, asked: Asked) -> OccurrenceRecord:
    return OccurrenceRecord.of(occurrence, asked.household, asked.viewer)


def _tag(version: str) -> str:
    return f'"{version}"'


def _version(if_match: str | None) -> str | None:
    """Return the version that a header names; None where any will do."""
    plain = (if_match or "*").strip()
    return None if plain == "*" else plain.removeprefix("W/").strip('"')
