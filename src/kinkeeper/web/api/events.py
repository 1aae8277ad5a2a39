"""The household's calendar as JSON, to read and add to, as a file to import, and at secret addresses for calendar programs."""

import asyncio
import hashlib
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Self

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection
from starlette.datastructures import UploadFile

from kinkeeper.actions import approvals
from kinkeeper.actions.calendar_import import Import, StepResult, undo_import
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.event_files import EventFile, read_events
from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.actions.receipts import Receipt
from kinkeeper.calendar import repository
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.event_records import event_of_record, occurrence_record
from kinkeeper.calendar.model import Change, Event, EventKind, Occurrence, SourceType
from kinkeeper.calendar.repository import list_all_overrides
from kinkeeper.calendar.search import private_to
from kinkeeper.core.errors import ConflictError, InputError, NotFoundError, StoreBusyError
from kinkeeper.core.time import Interval, as_utc, local_days
from kinkeeper.household import viewers
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_of, person_scope
from kinkeeper.household.viewers import Viewer as Viewing
from kinkeeper.language.text import one_line
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.store.store import Store
from kinkeeper.web.access import logins
from kinkeeper.web.access.door import Decider, Viewer, anyone, house_of, viewer_of
from kinkeeper.web.access.model import KeyKind, new_secret
from kinkeeper.web.api.pending import Told
from kinkeeper.web.context import House, context_of
from kinkeeper.web.views.addresses import feed_address

router = APIRouter(tags=["calendar"])

_LONGEST_NAME = 60
_AGAIN = "Import the same file again to add the rest; events that are already in the calendar are left alone."
_FILE = {"type": "string", "format": "binary"}
_BODY = {
    "required": True,
    "content": {
        "text/calendar": {"schema": {"type": "string"}},
        "application/x-ndjson": {"schema": {"type": "string"}},
        "multipart/form-data": {
            "schema": {"type": "object", "required": ["file"], "properties": {"file": _FILE}}
        },
    },
}


class ImportLine(BaseModel):
    """The result for one event of a file; without a status it was not reached."""

    id: str | None = None
    summary: str | None = None
    start: datetime | None = None
    status: str | None = None
    private: bool | None = None
    note: str | None = None
    line: int | None = None
    error: str | None = None


class ImportedStep(BaseModel):
    """An action that imported some of the events; it can be undone."""

    action: str
    message: str


class ImportUndone(BaseModel):
    """The result of undoing an import: how many steps were undone, and why others were not."""

    undone: int
    left: list[str]
    message: str


class ImportReport(BaseModel):
    """The result for a file; `incomplete` says why not all of it was imported, and what to do.

    `POST /api/events/import/ID/undo` with this `import_id` undoes all of it.
    """

    import_id: str
    events: list[ImportLine]
    errors: int
    notes: list[str]
    steps: list[ImportedStep]
    incomplete: str | None


@dataclass(slots=True)
class _Writing:
    """Writes an import step by step until it is done or told to stop."""

    work: Import
    store: Store
    stopping: asyncio.Event
    steps: list[ImportedStep] = field(default_factory=list)
    incomplete: str | None = None

    async def run(self) -> None:
        """Write all steps; what stops it in between is noted, not raised.

        Raises:
            ConflictError: Nothing was imported; the message says why.
            StoreBusyError: Nothing was imported, because others write.
        """
        for step in self.work.steps():
            if self.stopping.is_set():
                self.incomplete = f"The server is stopping. {_AGAIN}"
                return
            try:
                result = await self.store.write(partial(self.work.write, step=step))
            except (ConflictError, StoreBusyError) as error:
                if step.number == 1:
                    raise
                self.incomplete = f"{error}. {_AGAIN}"
                return
            self._note(result)

    def _note(self, result: StepResult) -> None:
        self.work.found.report(result.lines)
        self.steps += [
            ImportedStep(action=each.action.id, message=each.message) for each in result.receipts
        ]


@router.post(
    "/api/events/import", openapi_extra={"requestBody": _BODY}, response_model=ImportReport
)
async def import_events(request: Request, person: Decider) -> Response:
    """Import a calendar file: iCalendar, or one JSON event per line; existing events are left alone.

    A large file is written in several steps, each an action that is visible at once and can be undone.
    Private events (CLASS) become private to the importer and surprises stay surprises; nothing becomes visible to more people
    than before.
    """
    context, house = context_of(request), house_of(request, person)
    now = context.clock.now()
    name, data = await _uploaded(request)
    found = await _read(data, house.household, now, context.stopping)
    found.leave_out_hidden(house.household, person.member)
    work = Import(
        id=new_secret(),
        household=house.household,
        member=person.member,
        now=now,
        name=name,
        found=found,
    )
    writing = _Writing(work, house.store, context.stopping)
    await writing.run()
    body = await asyncio.to_thread(_report, writing)
    return Response(body, media_type="application/json")


@router.post("/api/events/import/{import_id}/undo")
async def undo(request: Request, person: Decider, import_id: str) -> ImportUndone:
    """Take back a whole import, as far as its person may see it; what has changed since stays as it is."""
    context, house = context_of(request), house_of(request, person)
    done = await undo_import(
        house.store, house.household, import_id, by=person.member, now=context.clock.now()
    )
    return ImportUndone(undone=done.undone, left=done.left, message=done.message)


async def _read(
    data: bytes, household: Household, now: datetime, stopping: asyncio.Event
) -> EventFile:
    """Read a file on a thread, which ends soon after the request or the server does."""
    left = threading.Event()

    def read() -> EventFile:
        limit = ImportLimit(now, is_stopped=lambda: left.is_set() or stopping.is_set())
        return read_events(data.splitlines(keepends=True), household, limit)

    try:
        return await asyncio.to_thread(read)
    finally:
        left.set()


def _report(writing: _Writing) -> str:
    found = writing.work.found
    return ImportReport(
        import_id=writing.work.id,
        events=[ImportLine.model_validate(line) for line in found.lines],
        errors=found.errors,
        notes=found.notes,
        steps=writing.steps,
        incomplete=writing.incomplete,
    ).model_dump_json()


async def _uploaded(request: Request) -> tuple[str, bytes]:
    """Return the name and the content of what was sent: a form with one file, or the file itself."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return "a file", await request.body()
    async with request.form() as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InputError('the form needs a file in its field "file"')
        name = one_line(file.filename or "").strip()[:_LONGEST_NAME]
        return name or "a file", await file.read()


_AHEAD = timedelta(days=14)
_LONGEST_SPAN = timedelta(days=400)
_YEARS = range(1600, 2200)
_SOURCE = "WEB"
_VISIBLE = "^[!-~]+$"


class WaitingRecord(BaseModel):
    """An open proposal about an occurrence; nobody has confirmed it yet."""

    action_id: str
    change: Change
    claimed_by: list[str]
    asked: list[str]
    leaves: list[str]
    moved_to: datetime | None
    moved_from: datetime | None


class OccurrenceRecord(BaseModel):
    """One occurrence of an event, in the household's time.

    `confirmed` is false if the event is only proposed. `waiting` lists the open
    proposals about it: what they would change, who would be in charge or claims it, who was asked, and who
    no longer could.
    """

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
    place_id: str | None
    private: bool
    source_type: SourceType
    source_id: str
    confirmed_by: str | None
    action_id: str | None
    confirmed: bool
    waiting: list[WaitingRecord]

    @classmethod
    def of(cls, occurrence: Occurrence, household: Household, viewer: Viewing) -> Self:
        """Return the record of an occurrence."""
        return cls.model_validate(occurrence_record(occurrence, household, viewer))


class OccurrenceList(BaseModel):
    """The events from the first to the last day, inclusive."""

    first: date
    last: date
    events: list[OccurrenceRecord]


Text = Annotated[str, Field(min_length=1, max_length=500)]
Time = Annotated[str, Field(min_length=10, max_length=40, examples=["2026-03-05T16:30:00"])]


class EventWish(BaseModel):
    """An event to add. Times without an offset are local; a start without a time makes it an all-day event."""

    model_config = ConfigDict(extra="forbid")

    summary: Text
    start: Time
    end: Time | None = None
    rrule: Text | None = None
    who: Annotated[list[Text], Field(max_length=50)] = []
    responsible: Annotated[list[Text], Field(max_length=50)] = []
    location: Text | None = None
    private: Annotated[
        bool | None,
        Field(description="Whether nobody else may see it; without it, its words decide."),
    ] = None


@router.get("/api/events")
async def list_events(
    request: Request,
    person: Viewer,
    *,
    first: Annotated[date | None, Query(alias="from", description="Default is today.")] = None,
    last: Annotated[
        date | None,
        Query(alias="to", description="Last day, inclusive; two weeks ahead if omitted."),
    ] = None,
    member: Annotated[
        str | None, Query(max_length=64, description="Who takes part or is in charge.")
    ] = None,
    waiting: Annotated[bool, Query(description="Also list events that are only proposed.")] = False,
) -> OccurrenceList:
    """List events, and what open proposals would change about them."""
    house = house_of(request, person)
    household = house.household
    now = context_of(request).clock.now()
    viewer = viewer_of(person, now=now)
    begin = first or now.astimezone(household.zone).date()
    span, end = _span(begin, last, household)
    if member is not None and household.member(member) is None:
        raise InputError(f"{member!r} is not a member of this household")
    found = await house.store.read(
        lambda conn: expected_between(
            conn, viewer, span, now=now, member=member, with_busy=viewer.sees_busy
        )
    )
    records = [
        OccurrenceRecord.of(each, household, viewer)
        for each in found
        if waiting or each.is_confirmed
    ]
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
    """Add an event at once; the returned action can be undone.

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
    scope = person_scope(person.member.id) if wish.private else HOUSEHOLD_SCOPE
    if wish.private is None:
        scope = audience_of(
            event.summary,
            house.household,
            person.member.id,
            is_title=True,
            is_theirs={*event.who, *event.responsible} <= {person.member.id},
        )
    event = private_to(event, person.member.id) if person_of(scope) else replace(event, scope=scope)
    proposal = _proposal(event, key)
    receipt: Receipt = await house.store.write(
        lambda conn: approvals.request(
            conn, proposal, member=person.member, household=house.household, now=now
        )
    )
    if not receipt.is_change:
        response.status_code = HTTPStatus.OK
    return Told.of(receipt)


def _span(begin: date, last: date | None, household: Household) -> tuple[Interval, date]:
    """Return the span of local days, and its last one."""
    if begin.year not in _YEARS:
        raise InputError(f"the year {begin.year} is not between {_YEARS[0]} and {_YEARS[-1]}")
    end = last or begin + _AHEAD
    if not begin <= end <= begin + _LONGEST_SPAN:
        raise InputError(
            f"choose an end after {begin} and at most {_LONGEST_SPAN.days} days later, not {end}"
        )
    return local_days(begin, end, household.zone), end


def _proposal(event: Event, key: str) -> Proposal:
    extraction: dict[str, Any] = {
        "assigned_to": list(event.responsible),
        "child": list(event.who),
        "dates": [event.start.date().isoformat()],
        "times": [] if event.all_day else [f"{event.start:%H:%M}"],
    }
    return Proposal(
        household=event.household,
        type=ActionType.EVENT_CREATE,
        source_type=_SOURCE,
        source_id=key,
        slot="0",
        chat_id=None,
        extraction=extraction,
        extraction_confidence=1.0,
        summary=f"Add {event.summary}",
        effects=(AddEvent(event=event).frozen(),),
        choices=(),
        merge_key=None,
        origin=Origin.SAID,
    )


_SEEN_EVERY = timedelta(hours=1)
_SECOND = timedelta(seconds=1)
_NOWHERE = "there is no calendar at this address; ask for a new one"
_ICS = {"text/calendar": {"schema": {"type": "string"}}}


class FeedWish(BaseModel):
    """A feed to create: for the whole calendar, or only your own events."""

    is_own: bool = False
    label: Annotated[str, Field(max_length=80)] = ""


class Feed(BaseModel):
    """The secret address of a calendar feed; it is shown only once, and can be revoked like any other key."""

    id: str
    address: str
    is_own: bool
    label: str


class Editions:
    """Since when each household's calendar reads as it does, as far as this process saw.

    A calendar program asks "changed since?", which neither the household file nor a person's undo
    leaves a time for; the content itself tells.
    """

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], tuple[str, datetime]] = {}

    def since(self, house: str, scope: str, tag: str, now: datetime) -> datetime:
        """Return since when a calendar has this tag: whole seconds, later than any other tag's."""
        current = as_utc(now).replace(microsecond=0)
        known = self._since.get((house, scope))
        if known is not None:
            if known[0] == tag:
                return known[1]
            current = max(current, known[1] + _SECOND)
        self._since[house, scope] = (tag, current)
        return current


@router.post("/api/feeds", status_code=HTTPStatus.CREATED)
async def make_feed(request: Request, wish: FeedWish, person: Decider) -> Feed:
    """Create a feed address for a calendar app; anyone who has it can read the calendar until it is revoked."""
    context = context_of(request)
    now = context.clock.now()
    issued = await context.store.locking(person.household.id).write(
        lambda conn: logins.create_feed(
            conn,
            person.household.id,
            person.member.id,
            is_own=wish.is_own,
            label=wish.label,
            now=now,
        )
    )
    return Feed(
        id=issued.key.id,
        address=feed_address(context.address, issued.secret),
        is_own=wish.is_own,
        label=issued.key.label,
    )


@router.head("/calendar.ics", dependencies=[Depends(anyone)], include_in_schema=False)
@router.get(
    "/calendar.ics",
    dependencies=[Depends(anyone)],
    response_class=Response,
    responses={200: {"content": _ICS}, 304: {"description": "It has not changed."}},
)
async def calendar(
    request: Request, secret: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Return the calendar behind a feed address."""
    context = context_of(request)
    now = context.clock.now()
    key = await context.store.read(lambda conn: logins.find_feed(conn, secret)) if secret else None
    house = context.houses.get(key.household) if key else None
    holder = house.household.member(key.member) if key and house else None
    # Who may have no such address any more has none that opens anything.
    if key is None or house is None or holder is None or not holder.is_adult:
        raise NotFoundError(_NOWHERE)
    if now >= key.seen_at + _SEEN_EVERY:
        await house.store.write(lambda conn: logins.mark_seen(conn, key, now=now))
    member = key.member if key.kind is KeyKind.OWN_FEED else None
    content = await house.store.read(lambda conn: calendar_file(conn, house, member))
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    editions: Editions = request.app.state.editions
    since = editions.since(key.household, member or "", tag, now)
    headers = {
        "ETag": tag,
        "Last-Modified": format_datetime(since, usegmt=True),
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{key.household}.ics"',
    }
    if _is_known(request, tag, since):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, media_type="text/calendar; charset=utf-8", headers=headers)


def calendar_file(conn: Connection, house: House, member: str | None) -> bytes:
    """Return the calendar as iCalendar.

    Args:
        member: Only series in which this member takes part or is ever in charge, what is private to them too;
            None has all that is the household's.
    """
    household = house.household.id
    events = repository.list_events(conn, viewers.Viewer.of(household, member))
    overrides = list_all_overrides(conn, household)
    if member is not None:
        events = [
            event
            for event in events
            if member in {*event.who, *event.responsible}
            or any(member in (each.responsible or ()) for each in overrides.get(event.id, ()))
        ]
    from kinkeeper.calendar.ics import export_ics  # noqa: PLC0415 - loads a library that few need

    name = house.household.title if member is None else house.participants.name(member)
    return export_ics(events, overrides, name=name, places=house.household.place_names)


def _is_known(request: Request, tag: str, since: datetime) -> bool:
    """Whether the asker has this edition already; a tag is surer than a time."""
    tags = request.headers.get("if-none-match")
    if tags is not None:
        return tags.strip() == "*" or tag in {
            each.strip().removeprefix("W/") for each in tags.split(",")
        }
    try:
        asked = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
    except ValueError:
        return False
    # An unknown zone is written as -0000, and read as none.
    return asked.replace(tzinfo=asked.tzinfo or UTC) >= since
