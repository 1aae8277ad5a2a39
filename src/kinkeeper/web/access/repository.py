"""Keys in the database, by digest only: their table, and functions over the caller's transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime

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

from kinkeeper.store.schema import Instant, metadata
from kinkeeper.web.access.model import DECIDERS, AccessRole, Key, KeyKind, is_alive

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
            household=key.household, id=key.id, kind=key.kind.value, digest=digest,
            member=key.member, role=key.role.value, label=key.label, created_at=key.created_at,
            expires_at=key.expires_at, seen_at=key.seen_at, is_program=key.is_program,
        )
    )  # fmt: skip


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
        id=row.id, household=row.household, kind=KeyKind(row.kind), member=row.member,
        role=AccessRole(row.role), label=row.label, created_at=row.created_at,
        expires_at=row.expires_at, seen_at=row.seen_at, is_program=row.is_program,
    )  # fmt: skip
