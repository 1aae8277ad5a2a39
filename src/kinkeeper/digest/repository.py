"""Digest times and sent digests in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Integer,
    String,
    Table,
    delete,
    insert,
    select,
    update,
)

from kinkeeper.digest.model import Digest
from kinkeeper.household.model import Household
from kinkeeper.store.schema import Instant, metadata

# Tables of the digest: the time each person wants it at, and a row for each person and day it was
# due.

digest_times = Table(
    "digest_times",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    # Local time as HH:MM; none: this person wants no digest.
    Column("at", String(5)),
    Column("set_at", Instant, nullable=False),
)

digests = Table(
    "digests",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    # The local day it was due on.
    Column("day", String(10), primary_key=True),
    Column("sent_at", Instant, nullable=False),
    # How many lines it had; 0: there was nothing to tell, and nothing was sent.
    Column("lines", Integer, nullable=False),
    Column("actions", JSON, nullable=False),
)


_times, _sent = digest_times.c, digests.c


@dataclass(frozen=True, slots=True, kw_only=True)
class SentDigest:
    """A digest that was sent.

    Attributes:
        action_ids: The actions it told of.
    """

    member: str
    sent_at: datetime
    action_ids: Sequence[str]


def digest_time(conn: Connection, household: Household, member_id: str) -> time | None:
    """Return the local time at which a member gets their digest; None where they want none."""
    row = conn.execute(
        select(_times.at).where(_times.household == household.id, _times.member == member_id)
    ).first()
    if row is None:
        return household.digest_at
    return None if row.at is None else time.fromisoformat(row.at)


def time_set_at(conn: Connection, household: str, member_id: str) -> datetime | None:
    """Return when a member chose their time, if they ever did."""
    instant: datetime | None = conn.execute(
        select(_times.set_at).where(_times.household == household, _times.member == member_id)
    ).scalar()
    return instant


def set_digest_time(
    conn: Connection, household: str, member_id: str, at: time | None, *, now: datetime
) -> None:
    """Let a member get their digest at another local time, or none.

    Args:
        at: Local time of day; None for no digest.
    """
    key = {"household": household, "member": member_id}
    values = {"at": None if at is None else f"{at:%H:%M}", "set_at": now}
    mine = (_times.household == household, _times.member == member_id)
    if not conn.execute(update(digest_times).where(*mine).values(values)).rowcount:
        conn.execute(insert(digest_times).values(key | values))


def was_due(conn: Connection, household: str, member_id: str, day: date) -> bool:
    """Whether the digest of a day was dealt with: sent, or left out because there was nothing to tell."""
    query = select(_sent.day).where(
        _sent.household == household, _sent.member == member_id, _sent.day == day.isoformat()
    )
    return conn.execute(query).first() is not None


def last_digest(conn: Connection, household: str, member_id: str) -> datetime | None:
    """Return when a member's last digest was put together, sent or not."""
    query = select(_sent.sent_at).where(_sent.household == household, _sent.member == member_id)
    instant: datetime | None = conn.execute(query.order_by(_sent.sent_at.desc()).limit(1)).scalar()
    return instant


def note_digest(conn: Connection, household: str, digest: Digest) -> None:
    """Note a digest as dealt with, so that the day brings no other.

    Args:
        conn: In the write transaction that sends it.
    """
    lines = len(digest.waiting) + len(digest.unassigned) + len(digest.expired)
    conn.execute(
        insert(digests).values(
            household=household, member=digest.member, day=digest.day.isoformat(),
            sent_at=digest.at, lines=lines, actions=digest.action_ids,
        )
    )  # fmt: skip


def sent_digests(conn: Connection, household: str, *, since: datetime) -> list[SentDigest]:
    """Return the digests that were sent since an instant, oldest first."""
    query = select(digests).where(
        _sent.household == household, _sent.sent_at >= since, _sent.lines > 0
    )
    return [
        SentDigest(member=row.member, sent_at=row.sent_at, action_ids=row.actions)
        for row in conn.execute(query.order_by(_sent.sent_at))
    ]


def has_digest_after(conn: Connection, household: str, instant: datetime) -> bool:
    """Whether a digest is noted as sent after an instant."""
    query = select(_sent.day).where(_sent.household == household, _sent.sent_at > instant)
    return conn.execute(query.limit(1)).first() is not None


def forget_digests_after(conn: Connection, household: str, instant: datetime) -> None:
    """Delete the rows of digests that are noted as sent after an instant: their days get another one."""
    conn.execute(delete(digests).where(_sent.household == household, _sent.sent_at > instant))


def forget_digests(conn: Connection, household: str, *, before: datetime) -> int:
    """Delete the rows of digests before then; returns how many."""
    old = (_sent.household == household, _sent.sent_at < before)
    return conn.execute(delete(digests).where(*old)).rowcount
