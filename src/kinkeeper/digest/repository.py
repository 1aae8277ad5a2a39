"""Digests: their times, and those that were sent, as values and rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

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

from kinkeeper.actions.model import PendingAction
from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.store.schema import Instant, metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Unassigned:
    """Something on one day that nobody has taken on.

    Attributes:
        task: What is to be done: "pickup", "dropoff", ...; None where only the event is known.
        children: Member ids of whom it is for.
        what: The activity or title, in words; empty where it is not known.
        start: Local time of day; None where it has no time.
        action_id: The open action that asks who does it; None where it is in the calendar already.
    """

    task: str | None
    children: tuple[str, ...]
    what: str
    start: time | None
    action_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What one person is told at one moment.

    Attributes:
        member: Member id of the person.
        at: When it was put together, aware.
        day: The local day it is for; tomorrow is the day after.
        waiting: Open actions that they can decide, those that expire first at the front.
        unassigned: What nobody has taken on for tomorrow, in order of time.
        expired: What expired unconfirmed since the last digest and can be brought back, the latest first.
    """

    member: str
    at: datetime
    day: date
    waiting: Sequence[PendingAction]
    unassigned: Sequence[Unassigned]
    expired: Sequence[PendingAction]

    @property
    def others_waiting(self) -> Sequence[PendingAction]:
        """What waits besides the questions that are told as unassigned already."""
        told = {each.action_id for each in self.unassigned}
        return [action for action in self.waiting if action.id not in told]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.waiting or self.unassigned or self.expired)

    @property
    def action_ids(self) -> list[str]:
        """Ids of the actions it tells of."""
        return [action.id for action in (*self.waiting, *self.expired)]


# When a digest is due. Pure: local wall times are kept across clock changes.

_DAY = timedelta(days=1)
_CLOCK = re.compile(
    r"(?P<hour>0?[1-9]|1[0-2])(?:[:.](?P<minute>[0-5]\d))?\s*(?P<half>[ap]m)"
    r"|(?P<hour24>[01]?\d|2[0-3])(?:[:.](?P<minute24>[0-5]\d))?"
)


def parse_time(text: str) -> time | None:
    """Return the local time somebody wants the digest at: "18:00", "7", "7:30pm"; None of "off"."""
    wanted = text.strip().casefold()
    if wanted == "off":
        return None
    read = _CLOCK.fullmatch(wanted)
    if read is None:
        raise InputError(f"{text!r} is not a time of day; write 18:00, 6pm or off")
    if read["half"] is None:
        return time(int(read["hour24"]), int(read["minute24"] or 0))
    hour = int(read["hour"]) % 12 + (12 if read["half"] == "pm" else 0)
    return time(hour, int(read["minute"] or 0))


def release(day: date, at: time, quiet: QuietHours) -> datetime:
    """Return the UTC instant at which the digest of a day goes out: never during quiet hours, but at their end.

    Args:
        at: The time the person chose.
    """
    return quiet.end_after(datetime.combine(day, at, tzinfo=quiet.zone))


def due_day(now: datetime, at: time, quiet: QuietHours) -> date | None:
    """Return the local day whose digest is due by now, the latest if several are; None during quiet hours.

    Args:
        at: The time the person chose.
    """
    if quiet.hold(now):
        return None
    today = now.astimezone(quiet.zone).date()
    days = (today - number * _DAY for number in range(3))
    return next((day for day in days if release(day, at, quiet) <= now), None)


def next_release(now: datetime, at: time, quiet: QuietHours) -> datetime:
    """Return the UTC instant of the next digest after now.

    Args:
        at: The time the person chose.
    """
    day = now.astimezone(quiet.zone).date() - _DAY
    while (instant := release(day, at, quiet)) <= now:
        day += _DAY
    return instant


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
            household=household,
            member=digest.member,
            day=digest.day.isoformat(),
            sent_at=digest.at,
            lines=lines,
            actions=digest.action_ids,
        )
    )


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
