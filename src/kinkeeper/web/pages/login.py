"""Coming in by a link, and leaving."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.core.errors import NotFoundError
from kinkeeper.web.access import logins, repository
from kinkeeper.web.access.door import Viewer, anyone, clear_cookie, door_of, set_cookie
from kinkeeper.web.access.model import Key
from kinkeeper.web.context import context_of
from kinkeeper.web.pages.browsers import browser_name
from kinkeeper.web.pages.responses import page
from kinkeeper.web.security import ways

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
    wanted = ways.own_page(next_)
    if wanted != ways.START:
        response.set_cookie(
            _NEXT, ways.kept(wanted), max_age=_NEXT_SECONDS, path="/invite", httponly=True,
            samesite="lax", secure=request.url.scheme == "https",
        )  # fmt: skip
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
    response = RedirectResponse(ways.found(wanted or ""), HTTPStatus.SEE_OTHER)
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
        lambda conn: repository.end_key(conn, person.household.id, person.key.id, now=now)
    )
    return _left(request)


@router.post("/logout/everywhere")
async def logout_everywhere(request: Request, person: Viewer) -> RedirectResponse:
    """End this browser's session, and those of this member that open no more than it does."""
    context = context_of(request)
    now = context.clock.now()
    here = person.household.id

    def end(conn: Connection) -> None:
        repository.end_key(conn, here, person.key.id, now=now)
        repository.end_sessions(conn, here, person.member.id, now=now, roles=person.ends)

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
