"""Recognises who makes a request, tells each route whom it lets in, and on whose behalf it reads."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Depends
from sqlalchemy import Connection
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from kinkeeper.actions import readers
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import read_action
from kinkeeper.core.errors import DeniedError, KinkeeperError, NotFoundError
from kinkeeper.household import viewers
from kinkeeper.household.viewers import viewer_for
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import (
    DECIDERS,
    FAMILY,
    LIMITS,
    OWNERS,
    READERS,
    VIEWERS,
    AccessRole,
    Key,
    KeyKind,
    Person,
    digest_of,
    is_alive,
    role_now,
)
from kinkeeper.web.context import House, WebContext, context_of
from kinkeeper.web.security.browser_protection import (
    csrf_token,
    is_write,
    require_own_origin,
    require_token,
)

# How long another process's ending of a key may go unnoticed here.
_BELIEVED = timedelta(seconds=5)
_MOST_BELIEVED = 1000
_MOST_LOGINS = 20_000
_SEEN_EVERY = timedelta(minutes=5)
_SESSION_DAYS = 365
_LONGEST_SECRET = 200


class LoginNeededError(KinkeeperError):
    """The request carries no login that opens anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Credential:
    """A secret as a request carries it."""

    kind: KeyKind
    secret: str


class Door:
    """Recognises the keys of one server."""

    def __init__(self, context: WebContext) -> None:
        self._context = context
        self._known: dict[str, tuple[Key, datetime]] = {}
        self._logins: OrderedDict[str, str] = OrderedDict()

    def login_of(self, request: HTTPConnection) -> str | None:
        """Return the id of the login that a request carries, if it was good when it came last; asks no database."""
        credential = _credential(request, is_https=request.scope["scheme"] == "https")
        return None if credential is None else self._logins.get(digest_of(credential.secret))

    async def person(self, request: HTTPConnection) -> Person:
        """Return who makes a request.

        Raises:
            LoginNeededError: It carries no key, or one that opens nothing here.
        """
        person = await self._person(request)
        self._context.visited.set()
        return person

    async def while_known(
        self, request: HTTPConnection, person: Person, pieces: AsyncGenerator[str]
    ) -> AsyncGenerator[str]:
        """Pass on what is streamed to a person, and end before the first piece that they may no longer have.

        Args:
            person: Who they were when the stream began.
            pieces: With a sign of life every few seconds, so that a stream of an ended key does not stay open.
        """
        async with aclosing(pieces):
            async for piece in pieces:
                if not await self._is_still(request, person):
                    return
                yield piece

    async def _is_still(self, request: HTTPConnection, person: Person) -> bool:
        """Whether a request's key still opens the same to the same member."""
        try:
            now = await self._person(request)
        except LoginNeededError:
            return False
        return (now.key.id, now.member, now.role, now.household.id) == (
            person.key.id,
            person.member,
            person.role,
            person.household.id,
        )

    async def _person(self, request: HTTPConnection) -> Person:
        credential = _credential(request, is_https=request.scope["scheme"] == "https")
        if credential is None:
            raise LoginNeededError("sign in, or send an API token: Authorization: Bearer TOKEN")
        now = self._context.clock.now()
        key = await self._key(credential, now)
        house = self._context.houses.get(key.household) if key else None
        member = house.household.member(key.member) if house and key else None
        digest = digest_of(credential.secret)
        if key is None or house is None or member is None or not is_alive(key, now):
            self._logins.pop(digest, None)
            raise LoginNeededError("this sign-in has ended; use a new link or another token")
        self._logins[digest] = key.id
        self._logins.move_to_end(digest)
        if len(self._logins) > _MOST_LOGINS:
            self._logins.popitem(last=False)
        csrf = csrf_token(credential.secret) if credential.kind is KeyKind.SESSION else ""
        role = role_now(house.household, member, key.role)
        return Person(
            member=member.limited_to(LIMITS.get(role)),
            role=role,
            household=house.household,
            key=key,
            csrf=csrf,
            secret=credential.secret,
        )

    def forget(self) -> None:
        """Look every key up anew; call it when one was ended."""
        # Who is looking a key up at this moment puts what they find into the old one.
        self._known = {}

    async def _key(self, credential: _Credential, now: datetime) -> Key | None:
        digest, believed = digest_of(credential.secret), self._known
        known = believed.get(digest)
        if known is not None and known[0].kind is credential.kind:
            recent, since = known
            # A clock that was set back must not keep a key believed that was ended meanwhile.
            if since <= now < since + _BELIEVED:
                return recent
        store = self._context.store
        key = await store.read(lambda conn: logins.find_by_digest(conn, credential.kind, digest))
        if key is None:
            return None
        if now >= key.seen_at + _SEEN_EVERY and is_alive(key, now):
            own = store.locking(key.household)
            await own.write(lambda conn: logins.mark_seen(conn, key, now=now))
        if len(believed) >= _MOST_BELIEVED:
            believed.clear()
        believed[digest] = (key, now)
        return key


class Allowed:
    """A route's rule: who may use it. Every route has one, or `anyone`.

    A write that comes with a cookie must also prove that it comes from our own pages. A program's token reads, and
    writes only where what it brings is proposed to people.

    Args:
        takes_programs: Whether a program's token may use it although it writes.
        only_shows: Whether it changes nothing although its method could: a phone shares with a form that is not ours.
    """

    def __init__(
        self,
        roles: frozenset[AccessRole],
        *,
        takes_programs: bool = False,
        only_shows: bool = False,
    ) -> None:
        self.roles = roles
        self.takes_programs = takes_programs
        self.only_shows = only_shows

    async def __call__(self, request: Request) -> Person:
        """Return who makes the request.

        Raises:
            LoginNeededError: Nobody who is known.
            DeniedError: Somebody who may not, or a forged form.
        """
        person = await door_of(request).person(request)
        if person.key.kind is KeyKind.SESSION and is_write(request) and not self.only_shows:
            require_own_origin(request)
            await require_token(request, person.secret)
        if person.role not in self.roles:
            raise DeniedError(f"people with the role {person.role.value} cannot do this")
        if person.key.is_program and is_write(request) and not self.takes_programs:
            raise DeniedError(
                "this token belongs to a program, which can only read and propose, while people decide on the pages; to act as a person, create another token"
            )
        return person


async def anyone(request: Request) -> None:
    """Rule of the few routes that need no login.

    Raises:
        DeniedError: Another site made the browser send a write.
    """
    if is_write(request):
        require_own_origin(request)


Owner = Annotated[Person, Depends(Allowed(OWNERS))]
Decider = Annotated[Person, Depends(Allowed(DECIDERS))]
Relative = Annotated[Person, Depends(Allowed(FAMILY))]
Reader = Annotated[Person, Depends(Allowed(READERS))]
Viewer = Annotated[Person, Depends(Allowed(VIEWERS))]
Proposer = Annotated[Person, Depends(Allowed(READERS, takes_programs=True))]
Searcher = Annotated[Person, Depends(Allowed(VIEWERS, takes_programs=True))]


def door_of(connection: HTTPConnection) -> Door:
    """Return the door of the server that a request reached."""
    door: Door = connection.app.state.door
    return door


def house_of(connection: HTTPConnection, person: Person) -> House:
    """Return the house that a person lives in."""
    return context_of(connection).houses[person.household.id]


def cookie_name(*, is_https: bool) -> str:
    """Return the name of the session's cookie; the prefix binds it to this host and to TLS."""
    return "__Host-kinkeeper" if is_https else "kinkeeper"


def set_cookie(response: Response, secret: str, *, is_https: bool) -> None:
    """Give the browser the secret of its session."""
    response.set_cookie(
        cookie_name(is_https=is_https),
        secret,
        max_age=_SESSION_DAYS * 24 * 3600,
        path="/",
        secure=is_https,
        httponly=True,
        samesite="lax",
    )


def clear_cookie(response: Response, *, is_https: bool) -> None:
    """Take the secret of its session from the browser."""
    response.delete_cookie(
        cookie_name(is_https=is_https), path="/", secure=is_https, httponly=True, samesite="lax"
    )


def _credential(request: HTTPConnection, *, is_https: bool) -> _Credential | None:
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, secret = header.partition(" ")
        is_usable = scheme.lower() == "bearer" and 0 < len(secret) <= _LONGEST_SECRET
        return _Credential(kind=KeyKind.TOKEN, secret=secret.strip()) if is_usable else None
    secret = request.cookies.get(cookie_name(is_https=is_https), "")
    if not 0 < len(secret) <= _LONGEST_SECRET:
        return None
    return _Credential(kind=KeyKind.SESSION, secret=secret)


def viewer_of(person: Person, *, now: datetime, projects: Collection[str] = ()) -> viewers.Viewer:
    """Return on whose behalf a request reads.

    A screen on the wall is everybody's, whoever's key it was set up with: it sees nothing that is anybody's own.

    Args:
        projects: Names of the projects that are asked for.

    Raises:
        DeniedError: Only the owner and adults see what belongs to projects.
    """
    if projects and person.role not in DECIDERS:
        raise DeniedError("only the owner and adults can see a project's memories")
    household = person.household.id
    if person.role is AccessRole.SCREEN:
        return replace(viewers.Viewer.of(household), sees_unconfirmed=False)
    if projects:
        return viewers.Viewer.of(household, person.member.id, projects=projects)
    return viewer_for(person.household, person.member, now=now)


# Which actions a person may read.


def may_read(person: Person, action: PendingAction) -> bool:
    """Whether somebody may read an action: what was said to the assistant only who may say yes to it, a child their own.

    The mail of another adult is theirs.
    """
    return reader_of(person, viewers.Viewer.of(person.household.id, person.member.id)).may_read(
        action
    )


def reader_of(person: Person, viewer: viewers.Viewer) -> readers.Reader:
    """Return who reads actions on a page or in the API: nobody reads along."""
    return readers.Reader(member=person.member, household=person.household, viewer=viewer)


def require_may_read(person: Person, action: PendingAction) -> None:
    """Refuse to show an action, as if there were none."""
    if not may_read(person, action):
        raise NotFoundError(f"there is no action {action.id!r}", action_id=action.id)


def action_shown_to(
    conn: Connection, person: Person, action_id: str, *, now: datetime
) -> PendingAction:
    """Return an action that a person may read."""
    action = read_action(conn, viewer_of(person, now=now), action_id)
    require_may_read(person, action)
    return action
