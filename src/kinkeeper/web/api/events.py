"""The household's calendar as JSON: read it, and add to it."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Self

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import AddEvent
from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.actions.receipts import Receipt
from kinkeeper.calendar.event_records import event_of_record, occurrence_record
from kinkeeper.calendar.model import Change, Event, EventKind, Occurrence, SourceType
from kinkeeper.calendar.search import private_to
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_of, person_scope
from kinkeeper.household.viewers import Viewer as Viewing
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.web.access.door import Decider, Viewer, house_of
from kinkeeper.web.access.login_viewer import viewer_of
from kinkeeper.web.access.model import new_secret
from kinkeeper.web.api.pending import Told
from kinkeeper.web.context import context_of

router = APIRouter(tags=["calendar"])

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
    moved_to: datetime | None
    moved_from: datetime | None


class OccurrenceRecord(BaseModel):
    """One occurrence of an event, in the household's time.

    `confirmed` is false if the event is only proposed. `waiting` lists the open
    proposals about it: what they would change, who would be in charge or claims it, and who was asked.
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
            conn,
            viewer,
            span,
            now=now,
            member=member,
            with_busy=viewer.sees_busy,
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
            event.summary, house.household, person.member.id, is_title=True,
            is_theirs={*event.who, *event.responsible} <= {person.member.id},
        )  # fmt: skip
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
    """Return the span of local days, and its last one.

    Raises:
        InputError: It ends before it begins, is too long, or lies where no calendar reaches.
    """
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
        "assigned_to": list(event.responsible), "child": list(event.who),
        "dates": [event.start.date().isoformat()],
        "times": [] if event.all_day else [f"{event.start:%H:%M}"],
    }  # fmt: skip
    return Proposal(
        household=event.household, type=ActionType.EVENT_CREATE, source_type=_SOURCE,
        source_id=key, slot="0", chat_id=None, extraction=extraction, extraction_confidence=1.0,
        summary=f"Add {event.summary}", effects=(AddEvent(event=event).frozen(),), choices=(),
        merge_key=None, origin=Origin.SAID,
    )  # fmt: skip
