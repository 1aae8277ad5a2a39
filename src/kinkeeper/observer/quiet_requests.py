"""Quiet on request: until a moment, nothing is said in the household's groups that nobody asked for."""

import re
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select

from kinkeeper.core.errors import InputError
from kinkeeper.messaging import outbox
from kinkeeper.observer.tables import quiet_periods

REASON = "quiet"
LONGEST = timedelta(days=31)

_columns = quiet_periods.c
_PART = re.compile(r"(\d{1,5})\s*(d|days?|h|hours?|hrs?|m|mins?|minutes?)(?![a-z])\s*")
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}


def parse_duration(text: str) -> timedelta | None:
    """Return how long somebody wants quiet: "2h", "30m", "1h30m", "2 hours"; None of "off".

    Raises:
        InputError: It is written otherwise, is nothing, or is longer than a month.
    """
    rest = text.strip().lower()
    if rest == "off":
        return None
    total = timedelta(0)
    while match := _PART.match(rest):
        total += int(match[1]) * _UNITS[match[2][0]]
        rest = rest[match.end() :]
    if rest or not timedelta(0) < total <= LONGEST:
        raise InputError(
            f"{text!r} is not a length of time; write 2h, 30m, 1h30m, 1d (at most 31d) or off"
        )
    return total


def be_quiet(conn: Connection, household: str, *, until: datetime, by: str, now: datetime) -> None:
    """Say nothing unprompted from now on; what waits to be said is dropped and stays in the pending list.

    Args:
        until: Aware; replaces an earlier end.
        by: Member id of who wants it.
    """
    end_quiet(conn, household)
    conn.execute(
        insert(quiet_periods).values(household=household, until=until, by_member=by, set_at=now)
    )
    outbox.drop_unprompted(conn, household, reason=REASON)


def end_quiet(conn: Connection, household: str) -> None:
    """Let the assistant speak again."""
    conn.execute(delete(quiet_periods).where(_columns.household == household))


def quiet_until(conn: Connection, household: str, *, now: datetime) -> datetime | None:
    """Return until when a household wants quiet, if it does at `now`."""
    until: datetime | None = conn.execute(
        select(_columns.until).where(_columns.household == household, _columns.until > now)
    ).scalar()
    return until
