"""Sign-ins and links: who can get in, inviting, and the calendar's address for calendar programs."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.core.errors import NotFoundError
from kinkeeper.web.access import logins, repository
from kinkeeper.web.access.access_list import keys_page
from kinkeeper.web.access.door import Decider, Owner, Reader, door_of
from kinkeeper.web.access.logins import Issued
from kinkeeper.web.access.model import AccessRole, Person
from kinkeeper.web.context import context_of
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.views.addresses import feed_address, invite_address

router = APIRouter(include_in_schema=False)

_HOURS = 48


@router.get("/people")
async def show_keys(request: Request, person: Reader) -> HTMLResponse:
    """Show who can get in: everybody to the owner, themselves to the others."""
    return await _page(request, person, lambda _desk: {})


@router.post("/people/invite")
async def invite(
    request: Request,
    person: Owner,
    *,
    member: Annotated[str, Form(max_length=64)],
    role: Annotated[AccessRole | None, Form()] = None,
) -> HTMLResponse:
    """Make a link, and show it this once."""
    context = context_of(request)
    now = context.clock.now()
    issued = await context.store.locking(person.household.id).write(
        lambda conn: logins.invite_member(
            conn, person.household, member, role=role, now=now, hours=_HOURS
        )
    )
    return await _page(
        request, person,
        lambda desk: {
            "link": invite_address(context.address, issued.secret),
            "invited": desk.people.of(issued.key.member), "until": _until(desk, issued),
        },
    )  # fmt: skip


@router.post("/people/calendar")
async def share_calendar(
    request: Request,
    person: Decider,
    *,
    events: Annotated[str, Form(max_length=20)] = "all",
    label: Annotated[str, Form(max_length=80)] = "",
) -> HTMLResponse:
    """Make an address for a calendar program, and show it this once."""
    context = context_of(request)
    now = context.clock.now()
    issued = await context.store.locking(person.household.id).write(
        lambda conn: logins.create_feed(
            conn, person.household.id, person.member.id, is_own=events == "own",
            label=label.strip(), now=now,
        )
    )  # fmt: skip
    address = feed_address(context.address, issued.secret)
    return await _page(request, person, lambda _desk: {"address": address})


@router.post("/people/keys/{key_id}/end")
async def end_key(request: Request, person: Reader, key_id: str) -> RedirectResponse:
    """End a login, a token, an invite or an address: one's own, or as owner anybody's."""
    context = context_of(request)
    now = context.clock.now()
    whose = _whose(person)
    is_own = key_id == person.key.id
    roles = frozenset(AccessRole) if is_own else person.ends
    was_open = await context.store.locking(person.household.id).write(
        lambda conn: repository.end_key(
            conn, person.household.id, key_id, now=now, member=whose, roles=roles
        )
    )
    if not was_open:
        raise NotFoundError("this has already been ended")
    door_of(request).forget()
    return RedirectResponse("/people", HTTPStatus.SEE_OTHER)


async def _page(
    request: Request, person: Person, made: Callable[[Desk], Mapping[str, Any]]
) -> HTMLResponse:
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        found = repository.list_keys(conn, desk.household, member=_whose(person))
        page = keys_page(
            found, person.key, role=person.role, household=desk.house.household,
            people=desk.people, wording=desk.wording,
        )  # fmt: skip
        return {"keys": page, **_NOTHING_MADE, **made(desk)}

    return await show("keys.html", desk, "people", read)


_NOTHING_MADE: Mapping[str, Any] = {"link": "", "invited": None, "until": "", "address": ""}


def _whose(person: Person) -> str | None:
    return None if person.role is AccessRole.OWNER else person.member.id


def _until(desk: Desk, issued: Issued) -> str:
    expires = issued.key.expires_at
    return desk.wording.moment(expires) if expires else ""
