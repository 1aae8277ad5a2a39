"""The calendar for calendar programs: addresses that hold a secret, and what is read under them."""

import hashlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import as_utc
from kinkeeper.household.viewers import Viewer
from kinkeeper.web.access import logins
from kinkeeper.web.access.door import Decider, anyone
from kinkeeper.web.access.model import KeyKind
from kinkeeper.web.context import House, context_of
from kinkeeper.web.views.addresses import feed_address

router = APIRouter(tags=["calendar"])

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
        """Return since when a calendar has this tag: whole seconds, later than any other tag's.

        Args:
            house: Household id.
        """
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
        id=issued.key.id, address=feed_address(context.address, issued.secret),
        is_own=wish.is_own, label=issued.key.label,
    )  # fmt: skip


@router.head("/calendar.ics", dependencies=[Depends(anyone)], include_in_schema=False)
@router.get(
    "/calendar.ics", dependencies=[Depends(anyone)], response_class=Response,
    responses={200: {"content": _ICS}, 304: {"description": "It has not changed."}},
)  # fmt: skip
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
        "ETag": tag, "Last-Modified": format_datetime(since, usegmt=True),
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{key.household}.ics"',
    }  # fmt: skip
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
    events = list_events(conn, Viewer.of(household, member))
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
