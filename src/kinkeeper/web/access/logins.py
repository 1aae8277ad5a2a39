"""How people come in and leave: invites are redeemed for sessions, tokens are handed to programs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.model import Household, Member
from kinkeeper.web.access import repository
from kinkeeper.web.access.model import (
    FEEDS,
    AccessRole,
    Key,
    KeyKind,
    digest_of,
    is_alive,
    new_id,
    new_secret,
    role_now,
    usual_role,
)

_LONGEST_SESSION = timedelta(days=365)
_LONGEST_LABEL = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A key that was just made, with the secret that is shown or set this once.

    Attributes:
        secret: Opens it; nowhere stored.
    """

    key: Key
    secret: str


def require_fitting(household: Household, member: Member, role: AccessRole) -> None:
    """Refuse a role that the household file does not allow a member.

    Raises:
        InputError: Only parents, guardians and helpers may decide, and the owner is who the file says.
    """
    if role_now(household, member, role) is not role:
        raise InputError(
            f"{member.id!r} cannot have the role {role.value}: only parents, guardians and helpers can decide things,"
            " and the household file names the owner"
        )


def invite(
    conn: Connection, household: str, member: str, *, role: AccessRole, now: datetime, hours: int
) -> Issued:
    """Make an invite: a link that logs its holder in once, as that member.

    Args:
        member: Id of the invited member.
        role: Of the sessions it makes.
        hours: How long it can be used, > 0.
    """
    return _issue(
        conn, household, KeyKind.INVITE, member, role=role, label="", now=now, expires_at=now + timedelta(hours=hours),
    )  # fmt: skip


def invite_member(
    conn: Connection,
    household: Household,
    member_id: str,
    *,
    role: AccessRole | None,
    now: datetime,
    hours: int,
) -> Issued:
    """Make an invite for a member of the household file.

    Args:
        role: Of the sessions it makes; the usual one of the member where None.
        hours: How long it can be used, > 0.

    Raises:
        InputError: There is no such member, or they may not have that role.
    """
    member = household.member(member_id)
    if member is None:
        raise InputError(f"{member_id!r} is not a member of this household")
    wanted = role or usual_role(household, member)
    if wanted is AccessRole.BRIDGE:
        raise InputError("a bridge is a program; create a token for it in the server's terminal")
    require_fitting(household, member, wanted)
    return invite(conn, household.id, member.id, role=wanted, now=now, hours=hours)


def find_invite(conn: Connection, secret: str, *, now: datetime) -> Key:
    """Return an invite that can still be used.

    Raises:
        NotFoundError: It never was one, was used, taken back, or is too old.
    """
    key = repository.find_by_digest(conn, KeyKind.INVITE, digest_of(secret))
    if key is None or not is_alive(key, now):
        raise NotFoundError(
            "this link has been used, has expired or has been revoked; ask for a new one"
        )
    return key


def redeem(conn: Connection, secret: str, *, label: str, now: datetime) -> Issued:
    """Use up an invite and begin a session.

    Args:
        label: What the browser is, for the list of sessions.

    Raises:
        NotFoundError: The invite cannot be used (any more).
    """
    key = find_invite(conn, secret, now=now)
    if not repository.end_key(conn, key.household, key.id, now=now):
        raise NotFoundError("this link has just been used; ask for a new one")
    return _issue(
        conn, key.household, KeyKind.SESSION, key.member, role=key.role, label=label, now=now, expires_at=now + _LONGEST_SESSION,
    )  # fmt: skip


def create_token(
    conn: Connection,
    household: str,
    member: str,
    *,
    role: AccessRole,
    label: str,
    now: datetime,
    expires_at: datetime | None = None,
    is_program: bool = False,
) -> Issued:
    """Make an API token that acts for a member.

    Args:
        member: Id of the member it acts for.
        expires_at: Aware; None lasts until it is ended.
        is_program: Whether it is for a program that answers by itself: it reads and proposes, no more.
    """
    return _issue(
        conn, household, KeyKind.TOKEN, member, role=role, label=label, now=now,
        expires_at=expires_at, is_program=is_program,
    )  # fmt: skip


def create_feed(
    conn: Connection, household: str, member: str, *, is_own: bool, label: str, now: datetime
) -> Issued:
    """Make an address under which a calendar program reads the calendar, until it is taken back.

    Args:
        member: Id of who hands it to their program.
        is_own: Only what this member takes part in or is in charge of.
    """
    kind = KeyKind.OWN_FEED if is_own else KeyKind.FEED
    return _issue(
        conn, household, kind, member, role=AccessRole.SCREEN, label=label, now=now, expires_at=None,
    )  # fmt: skip


def find_feed(conn: Connection, secret: str) -> Key | None:
    """Return the key of a calendar's address, unless it was taken back.

    What is compared is a digest: how long that takes tells nothing about any secret.
    """
    digest = digest_of(secret)
    found = (repository.find_by_digest(conn, kind, digest) for kind in FEEDS)
    return next((key for key in found if key is not None), None)


def _issue(
    conn: Connection,
    household: str,
    kind: KeyKind,
    member: str,
    *,
    role: AccessRole,
    label: str,
    now: datetime,
    expires_at: datetime | None,
    is_program: bool = False,
) -> Issued:
    secret = new_secret()
    key = Key(
        id=new_id(), household=household, kind=kind, member=member, role=role,
        label=label[:_LONGEST_LABEL], created_at=now, expires_at=expires_at, seen_at=now,
        is_program=is_program,
    )  # fmt: skip
    repository.insert_key(conn, key, digest_of(secret))
    return Issued(key=key, secret=secret)
