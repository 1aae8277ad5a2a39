"""Coming in by a link and leaving; who can get in, inviting, and the calendar's address for programs."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.core.errors import NotFoundError
from kinkeeper.web.access import logins
from kinkeeper.web.access.access_list import keys_page
from kinkeeper.web.access.door import (
    Decider,
    Owner,
    Reader,
    Viewer,
    anyone,
    clear_cookie,
    door_of,
    set_cookie,
)
from kinkeeper.web.access.logins import Issued
from kinkeeper.web.access.model import AccessRole, Key, Person
from kinkeeper.web.context import context_of
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.responses import page
from kinkeeper.web.security import browser_protection
from kinkeeper.web.views.addresses import feed_address, invite_address

# A browser's name for the list of sessions: enough to recognise one's own. Pure.

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrome", "Chrome"),
    ("CriOS", "Chrome"),
    ("FxiOS", "Firefox"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("CrOS", "Chromebook"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str) -> str:
    """Return e.g. "Firefox on Android"; what cannot be told is left out."""
    browser = next((name for sign, name in _BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), "")
    return " on ".join(filter(None, (browser, system))) or "a browser"


# Coming in by a link, and leaving.

router = APIRouter(include_in_schema=False)

_NEXT = "kinkeeper-next"
_NEXT_SECONDS = 24 * 3600
Code = Annotated[str, Path(min_length=20, max_length=100)]


@router.get("/login", dependencies=[Depends(anyone)])
async def login(
    request: Request, next_: Annotated[str, Query(alias="next", max_length=1000)] = ""
) -> HTMLResponse:
    """Tell how to come in; the browser keeps where that shall lead, until a link is opened in it."""
    response = page("login.html", None)
    wanted = browser_protection.own_page(next_)
    if wanted != browser_protection.START:
        response.set_cookie(
            _NEXT,
            browser_protection.kept(wanted),
            max_age=_NEXT_SECONDS,
            path="/invite",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
    return response


@router.get("/invite/{code}", dependencies=[Depends(anyone)])
async def show_invite(request: Request, code: Code) -> HTMLResponse:
    """Show whom the link logs in. Uses nothing up: link previews open it, too."""
    context = context_of(request)
    now = context.clock.now()
    key = await context.store.read(lambda conn: logins.find_invite(conn, code, now=now))
    return page("invite.html", None, name=_name(request, key), code=code)


@router.post("/invite/{code}", dependencies=[Depends(anyone)])
async def use_invite(request: Request, code: Code) -> RedirectResponse:
    """Log in: the link is used up, the browser gets a session."""
    context = context_of(request)
    now = context.clock.now()
    label = browser_name(request.headers.get("user-agent", ""))
    key = await context.store.read(lambda conn: logins.find_invite(conn, code, now=now))
    issued = await context.store.locking(key.household).write(
        lambda conn: logins.redeem(conn, code, label=label, now=now)
    )
    wanted = request.cookies.get(_NEXT)
    response = RedirectResponse(browser_protection.found(wanted or ""), HTTPStatus.SEE_OTHER)
    set_cookie(response, issued.secret, is_https=request.url.scheme == "https")
    if wanted is not None:
        response.delete_cookie(_NEXT, path="/invite")
    return response


@router.post("/logout")
async def logout(request: Request, person: Viewer) -> RedirectResponse:
    """End this browser's session."""
    context = context_of(request)
    now = context.clock.now()
    await context.store.locking(person.household.id).write(
        lambda conn: logins.end_key(conn, person.household.id, person.key.id, now=now)
    )
    return _left(request)


@router.post("/logout/everywhere")
async def logout_everywhere(request: Request, person: Viewer) -> RedirectResponse:
    """End this browser's session, and those of this member that open no more than it does."""
    context = context_of(request)
    now = context.clock.now()
    here = person.household.id

    def end(conn: Connection) -> None:
        logins.end_key(conn, here, person.key.id, now=now)
        logins.end_sessions(conn, here, person.member.id, now=now, roles=person.ends)

    await context.store.locking(here).write(end)
    return _left(request)


def _left(request: Request) -> RedirectResponse:
    door_of(request).forget()
    response = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
    clear_cookie(response, is_https=request.url.scheme == "https")
    return response


def _name(request: Request, key: Key) -> str:
    house = context_of(request).houses.get(key.household)
    member = house.household.member(key.member) if house else None
    if member is None:
        raise NotFoundError("this link is for somebody who is no longer a member")
    return member.name


# Sign-ins and links: who can get in, inviting, and the calendar's address for calendar programs.

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
        request,
        person,
        lambda desk: {
            "link": invite_address(context.address, issued.secret),
            "invited": desk.people.of(issued.key.member),
            "until": _until(desk, issued),
        },
    )


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
            conn,
            person.household.id,
            person.member.id,
            is_own=events == "own",
            label=label.strip(),
            now=now,
        )
    )
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
        lambda conn: logins.end_key(
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
        found = logins.list_keys(conn, desk.household, member=_whose(person))
        page = keys_page(
            found,
            person.key,
            role=person.role,
            household=desk.house.household,
            people=desk.people,
            wording=desk.wording,
        )
        return {"keys": page, **_NOTHING_MADE, **made(desk)}

    return await show("keys.html", desk, "people", read)


_NOTHING_MADE: Mapping[str, Any] = {"link": "", "invited": None, "until": "", "address": ""}


def _whose(person: Person) -> str | None:
    return None if person.role is AccessRole.OWNER else person.member.id


def _until(desk: Desk, issued: Issued) -> str:
    expires = issued.key.expires_at
    return desk.wording.moment(expires) if expires else ""
