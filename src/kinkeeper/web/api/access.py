"""Who is logged in, invites, and the keys that open a household."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from kinkeeper.core.errors import NotFoundError
from kinkeeper.web.access import logins
from kinkeeper.web.access.door import Owner, Reader, Viewer, door_of
from kinkeeper.web.access.model import AccessRole, Key, KeyKind
from kinkeeper.web.context import context_of
from kinkeeper.web.views.addresses import invite_address

router = APIRouter(tags=["access"])


class Me(BaseModel):
    """Who is making the request."""

    member: str
    name: str
    role: AccessRole
    household: str


class InviteWish(BaseModel):
    """Whom to invite."""

    member: str
    role: AccessRole | None = None
    hours: Annotated[int, Field(ge=1, le=24 * 30)] = 48


class Invite(BaseModel):
    """A link that signs a person in, once."""

    id: str
    link: str
    member: str
    role: AccessRole
    expires_at: datetime | None


class KeyLine(BaseModel):
    """A sign-in, link or token in a list."""

    id: str
    kind: KeyKind
    member: str
    role: AccessRole
    label: str
    created_at: datetime
    expires_at: datetime | None
    seen_at: datetime
    is_this: bool


@router.get("/api/me")
async def me(person: Viewer) -> Me:
    """Return who is making the request."""
    return Me(
        member=person.member.id,
        name=person.member.name,
        role=person.role,
        household=person.household.id,
    )


@router.post("/api/invites", status_code=201)
async def invite(request: Request, wish: InviteWish, person: Owner) -> Invite:
    """Create a link that signs a member in, once."""
    context = context_of(request)
    now = context.clock.now()
    issued = await context.store.locking(person.household.id).write(
        lambda conn: logins.invite_member(
            conn, person.household, wish.member, role=wish.role, now=now, hours=wish.hours
        )
    )
    return Invite(
        id=issued.key.id,
        link=invite_address(context.address, issued.secret),
        member=issued.key.member,
        role=issued.key.role,
        expires_at=issued.key.expires_at,
    )


@router.get("/api/keys")
async def keys(request: Request, person: Reader) -> list[KeyLine]:
    """List your own invites, sessions and tokens; the owner sees everybody's."""
    store = context_of(request).store
    whose = None if person.role is AccessRole.OWNER else person.member.id
    found = await store.read(lambda conn: logins.list_keys(conn, person.household.id, member=whose))
    return [_line(key, person.key) for key in found]


@router.delete("/api/keys/{key_id}", status_code=204)
async def end_key(request: Request, key_id: str, person: Reader) -> None:
    """End an invite, a session or a token: your own, or anybody's if you are the owner."""
    context = context_of(request)
    whose = None if person.role is AccessRole.OWNER else person.member.id
    now = context.clock.now()
    is_own = key_id == person.key.id
    roles = frozenset(AccessRole) if is_own else person.ends
    was_open = await context.store.locking(person.household.id).write(
        lambda conn: logins.end_key(
            conn, person.household.id, key_id, now=now, member=whose, roles=roles
        )
    )
    if not was_open:
        raise NotFoundError(f"there is no active key with the id {key_id!r}")
    door_of(request).forget()


def _line(key: Key, own: Key) -> KeyLine:
    return KeyLine(
        id=key.id,
        kind=key.kind,
        member=key.member,
        role=key.role,
        label=key.label,
        created_at=key.created_at,
        expires_at=key.expires_at,
        seen_at=key.seen_at,
        is_this=key.id == own.id,
    )
