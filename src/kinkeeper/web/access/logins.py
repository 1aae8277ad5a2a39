"""How people come in and leave: invites are redeemed for sessions, tokens are handed to programs; all kept by digest only."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Index,
    Row,
    String,
    Table,
    UniqueConstraint,
    bindparam,
    false,
    insert,
    select,
    update,
)

from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.model import Household, Member
from kinkeeper.store.schema import Instant, metadata
from kinkeeper.web.access.model import (
    DECIDERS,
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

# Table of what opens a household: invites, sessions and API tokens, by digest only.

access_keys = Table(
    "access_keys",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("member", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("label", String(80), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("seen_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("is_program", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("digest"),
    Index("ix_access_keys_kind", "household", "kind", "ended_at"),
)


_COLUMNS = [column for column in access_keys.c if column.name not in {"digest", "ended_at"}]
_BY_DIGEST = select(*_COLUMNS).where(
    access_keys.c.digest == bindparam("digest"),
    access_keys.c.kind == bindparam("kind"),
    access_keys.c.ended_at.is_(None),
)


def insert_key(conn: Connection, key: Key, digest: str) -> None:
    """Insert a key of which only the digest is known here."""
    conn.execute(
        insert(access_keys).values(
            household=key.household,
            id=key.id,
            kind=key.kind.value,
            digest=digest,
            member=key.member,
            role=key.role.value,
            label=key.label,
            created_at=key.created_at,
            expires_at=key.expires_at,
            seen_at=key.seen_at,
            is_program=key.is_program,
        )
    )


def find_by_digest(conn: Connection, kind: KeyKind, digest: str) -> Key | None:
    """Return the key of a secret's digest, of whatever household, unless it was ended."""
    row = conn.execute(_BY_DIGEST, {"kind": kind.value, "digest": digest}).first()
    return _key(row) if row else None


def list_keys(conn: Connection, household: str, *, member: str | None = None) -> Sequence[Key]:
    """Return a household's keys that were not ended, newest first; of one member where named."""
    where = [access_keys.c.household == household, access_keys.c.ended_at.is_(None)]
    if member is not None:
        where.append(access_keys.c.member == member)
    rows = conn.execute(
        select(*_COLUMNS).where(*where).order_by(access_keys.c.created_at.desc(), access_keys.c.id)
    )
    return [_key(row) for row in rows]


def somebody_decides(conn: Connection, household: str, *, now: datetime) -> bool:
    """Whether somebody who may decide holds a key, or a link to get one."""
    return any(key.role in DECIDERS and is_alive(key, now) for key in list_keys(conn, household))


def end_key(
    conn: Connection,
    household: str,
    key_id: str,
    *,
    now: datetime,
    member: str | None = None,
    roles: Collection[AccessRole] = tuple(AccessRole),
) -> bool:
    """End one key; returns whether it was open until now.

    Args:
        member: Only if this member holds it; None whoever does.
        roles: Only if it was granted with one of these.
    """
    where = [
        access_keys.c.household == household,
        access_keys.c.id == key_id,
        access_keys.c.ended_at.is_(None),
        access_keys.c.role.in_(roles),
    ]
    if member is not None:
        where.append(access_keys.c.member == member)
    return conn.execute(update(access_keys).where(*where).values(ended_at=now)).rowcount == 1


def end_sessions(
    conn: Connection, household: str, member: str, *, now: datetime, roles: Collection[AccessRole]
) -> int:
    """End the sessions of a member that were granted with one of these roles; returns how many were open."""
    return conn.execute(
        update(access_keys)
        .where(
            access_keys.c.household == household,
            access_keys.c.member == member,
            access_keys.c.kind == KeyKind.SESSION.value,
            access_keys.c.role.in_(roles),
            access_keys.c.ended_at.is_(None),
        )
        .values(ended_at=now)
    ).rowcount


def end_keys_of_others(
    conn: Connection, household: str, members: Collection[str], *, now: datetime
) -> int:
    """End all that opened something to who left the household: it must not open it to the next one of that id.

    Returns:
        How many keys were open.
    """
    return conn.execute(
        update(access_keys)
        .where(
            access_keys.c.household == household,
            access_keys.c.member.not_in(members),
            access_keys.c.ended_at.is_(None),
        )
        .values(ended_at=now)
    ).rowcount


def mark_seen(conn: Connection, key: Key, *, now: datetime) -> None:
    """Write down that a key was used."""
    conn.execute(
        update(access_keys)
        .where(access_keys.c.household == key.household, access_keys.c.id == key.id)
        .values(seen_at=now)
    )


def mark_program(conn: Connection, key: Key) -> None:
    """Note that a program holds a token; it stays one."""
    conn.execute(
        update(access_keys)
        .where(access_keys.c.household == key.household, access_keys.c.id == key.id)
        .values(is_program=True)
    )


def _key(row: Row[tuple[object, ...]]) -> Key:
    return Key(
        id=row.id,
        household=row.household,
        kind=KeyKind(row.kind),
        member=row.member,
        role=AccessRole(row.role),
        label=row.label,
        created_at=row.created_at,
        expires_at=row.expires_at,
        seen_at=row.seen_at,
        is_program=row.is_program,
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
        role: Of the sessions it makes.
        hours: How long it can be used, > 0.
    """
    return _issue(
        conn,
        household,
        KeyKind.INVITE,
        member,
        role=role,
        label="",
        now=now,
        expires_at=now + timedelta(hours=hours),
    )


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
    key = find_by_digest(conn, KeyKind.INVITE, digest_of(secret))
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
    if not end_key(conn, key.household, key.id, now=now):
        raise NotFoundError("this link has just been used; ask for a new one")
    return _issue(
        conn,
        key.household,
        KeyKind.SESSION,
        key.member,
        role=key.role,
        label=label,
        now=now,
        expires_at=now + _LONGEST_SESSION,
    )


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
        expires_at: Aware; None lasts until it is ended.
        is_program: Whether it is for a program that answers by itself: it reads and proposes, no more.
    """
    return _issue(
        conn,
        household,
        KeyKind.TOKEN,
        member,
        role=role,
        label=label,
        now=now,
        expires_at=expires_at,
        is_program=is_program,
    )


def create_feed(
    conn: Connection, household: str, member: str, *, is_own: bool, label: str, now: datetime
) -> Issued:
    """Make an address under which a calendar program reads the calendar, until it is taken back.

    Args:
        is_own: Only what this member takes part in or is in charge of.
    """
    kind = KeyKind.OWN_FEED if is_own else KeyKind.FEED
    return _issue(
        conn, household, kind, member, role=AccessRole.SCREEN, label=label, now=now, expires_at=None
    )


def find_feed(conn: Connection, secret: str) -> Key | None:
    """Return the key of a calendar's address, unless it was taken back.

    What is compared is a digest: how long that takes tells nothing about any secret.
    """
    digest = digest_of(secret)
    found = (find_by_digest(conn, kind, digest) for kind in FEEDS)
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
        id=new_id(),
        household=household,
        kind=kind,
        member=member,
        role=role,
        label=label[:_LONGEST_LABEL],
        created_at=now,
        expires_at=expires_at,
        seen_at=now,
        is_program=is_program,
    )
    insert_key(conn, key, digest_of(secret))
    return Issued(key=key, secret=secret)
