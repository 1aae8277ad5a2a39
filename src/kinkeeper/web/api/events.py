"""The household's calendar as JSON: read it, add to it, import a calendar file."""

import asyncio
from datetime import date, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection
from starlette.datastructures import UploadFile

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.importing import Import, read_calendar
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.actions.receipts import Receipt
from kinkeeper.calendar.busy import private_to
from kinkeeper.calendar.event_records import event_of_record, occurrence_record
from kinkeeper.calendar.model import Event, EventKind, Occurrence, SourceType
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.model import Household
from kinkeeper.messaging.records import storable
from kinkeeper.web.access.door import Decider, Viewer, house_of
from kinkeeper.web.access.secret import new_secret
from kinkeeper.web.access.viewing import viewer_of
from kinkeeper.web.api.pending import Told
from kinkeeper.web.context import context_of

router = APIRouter(tags=["calendar"])

_AHEAD = timedelta(days=14)
_LONGEST_SPAN = timedelta(days=400)
_YEARS = range(1600, 2200)
_MOST_EVENTS = 2000
_LONGEST_NAME = 60
_EXPIRES = timedelta(hours=48)
_SOURCE = "WEB"
_VISIBLE = "^[!-~]+$"


class OccurrenceRecord(BaseModel):
    """One occurrence of an entry; times are the household's."""

    id: str
    summary: str
    kind: EventKind
    activity: str | None
    task: str | None
    start: datetime
    end: datetime
    original_start: datetime
    all_day: bool
    rrule: str | None
    who: list[str]
    responsible: list[str]
    place: str | None
    private: bool
    source_type: SourceType
    source_id: str
    confirmed_by: str | None
    action_id: str | None

    @classmethod
    def of(cls, occurrence: Occurrence, zone: ZoneInfo) -> Self:
        """Return the record of an occurrence."""
        return cls.model_validate(occurrence_record(occurrence, zone))


class OccurrenceList(BaseModel):
    """What takes place from the first day up to the last, included."""

    first: date
    last: date
    events: list[OccurrenceRecord]


Text = Annotated[str, Field(min_length=1, max_length=500)]
Time = Annotated[str, Field(min_length=10, max_length=40, examples=["2026-03-05T16:30:00"])]


class EventWish(BaseModel):
    """An entry to add. Times without offset are local; a start that is a day makes it all-day."""

    model_config = ConfigDict(extra="forbid")

    summary: Text
    start: Time
    end: Time | None = None
    rrule: Text | None = None
    who: Annotated[list[Text], Field(max_length=50)] = []
    responsible: Annotated[list[Text], Field(max_length=50)] = []
    location: Text | None = None
    private: bool = False


class ImportLine(BaseModel):
    """What became of one event of a file."""

    id: str | None = None
    summary: str | None = None
    start: datetime | None = None
    status: str | None = None
    line: int | None = None
    error: str | None = None


class ImportReport(BaseModel):
    """What became of a file; all of it is one action, which can be taken back."""

    events: list[ImportLine]
    errors: int
    notes: list[str]
    told: Told | None


@router.get("/api/events")
async def list_events(
    request: Request,
    person: Viewer,
    *,
    first: Annotated[date | None, Query(alias="from", description="Today if not given.")] = None,
    last: Annotated[
        date | None, Query(alias="to", description="Included; two weeks on if not given.")
    ] = None,
    member: Annotated[
        str | None, Query(max_length=64, description="Who takes part or is in charge.")
    ] = None,
) -> OccurrenceList:
    """List what takes place."""
    house = house_of(request, person)
    household = house.household
    now = context_of(request).clock.now()
    viewer = viewer_of(person, now=now)
    begin = first or now.astimezone(household.zone).date()
    span, end = _span(begin, last, household)
    if member is not None and household.member(member) is None:
        raise InputError(f"{member!r} is no member of this household")
    found = await house.store.read(
        lambda conn: occurrences_between(
            conn,
            viewer,
            span,
            member=member,
            with_busy=viewer.sees_busy,
        )
    )
    records = [OccurrenceRecord.of(each, household.zone) for each in found]
    return OccurrenceList(first=begin, last=end, events=records)


@router.post("/api/events", status_code=HTTPStatus.CREATED)
async def add_event(
    request: Request,
    response: Response,
    person: Decider,
    *,
    wish: EventWish,
    idempotency_key: Annotated[str | None, Header(max_length=160, pattern=_VISIBLE)] = None,
) -> Told:
    """Add an entry at once; the answer's action can be taken back.

    With an `Idempotency-Key`, the same request sent again adds nothing.
    """
    house, now = house_of(request, person), context_of(request).clock.now()
    key = f"{person.member.id}/{idempotency_key or new_secret()}"
    event = event_of_record(
        wish.model_dump(exclude_none=True, exclude={"private"}),
        house.household,
        key=key,
        source=SourceType.WEB,
    )
    if wish.private:
        event = private_to(event, person.member.id)
    proposal = _proposal(event, key, now=now)
    receipt: Receipt = await house.store.write(
        lambda conn: approvals.request(
            conn, proposal, member=person.member, household=house.household, now=now
        )
    )
    if not receipt.is_change:
        response.status_code = HTTPStatus.OK
    return Told.of(receipt)


@router.post(
    "/api/events/import",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "text/calendar": {"schema": {"type": "string"}},
                "application/x-ndjson": {"schema": {"type": "string"}},
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["file"],
                        "properties": {"file": {"type": "string", "format": "binary"}},
                    }
                },
            },
        }
    },
)
async def import_events(request: Request, person: Decider) -> ImportReport:
    """Import a calendar file: iCalendar, or one event as JSON a line; what is there already stays."""
    house, now = house_of(request, person), context_of(request).clock.now()
    name, data = await _uploaded(request)
    found = await asyncio.to_thread(
        lambda: read_calendar(data.splitlines(keepends=True), house.household)
    )
    if len(found.events) > _MOST_EVENTS:
        raise InputError(f"{len(found.events)} events at once; send at most {_MOST_EVENTS}")
    work = Import(household=house.household, member=person.member, now=now, name=name)

    def run(conn: Connection) -> Receipt | None:
        return work.run(conn, found)

    receipt = await house.store.write(run)
    return ImportReport(
        events=[ImportLine.model_validate(line) for line in found.lines],
        errors=found.errors,
        notes=found.notes,
        told=Told.of(receipt) if receipt else None,
    )


def _span(begin: date, last: date | None, household: Household) -> tuple[Interval, date]:
    """Return the span of local days, and its last one.

    Raises:
        InputError: It ends before it begins, is too long, or lies where no calendar reaches.
    """
    if begin.year not in _YEARS:
        raise InputError(f"the year {begin.year} does not lie in {_YEARS[0]} to {_YEARS[-1]}")
    end = last or begin + _AHEAD
    if not begin <= end <= begin + _LONGEST_SPAN:
        raise InputError(f"from {begin} to {end} is no span of at most {_LONGEST_SPAN.days} days")
    return local_days(begin, end, household.zone), end


def _proposal(event: Event, key: str, *, now: datetime) -> Proposal:
    extraction: dict[str, Any] = {
        "assigned_to": list(event.responsible), "child": list(event.who),
        "dates": [event.start.date().isoformat()],
        "times": [] if event.all_day else [f"{event.start:%H:%M}"],
    }  # fmt: skip
    return Proposal(
        household=event.household, type=ActionType.EVENT_CREATE, source_type=_SOURCE,
        source_id=key, slot="0", chat_id=None, extraction=extraction, extraction_confidence=1.0,
        summary=f"Add {event.summary}", effects=(AddEvent(event=event).frozen(),), choices=(),
        merge_key=None, expires_at=now + _EXPIRES, origin=Origin.SAID,
    )  # fmt: skip


async def _uploaded(request: Request) -> tuple[str, bytes]:
    """Return the name and the content of what was sent: a form with one file, or the file itself.

    Raises:
        InputError: The form has no file.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return "a file", await request.body()
    async with request.form() as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InputError('the form needs a file in its field "file"')
        name = storable(file.filename or "").strip()[:_LONGEST_NAME]
        return name or "a file", await file.read()
