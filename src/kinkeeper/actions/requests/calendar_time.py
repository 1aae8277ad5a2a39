"""When people have time, read from the calendar: what keeps them busy, and what is free between."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.requests.calendar_parameters import FindFree
from kinkeeper.actions.requests.event_lookup import find_around
from kinkeeper.actions.requests.event_views import occurrence_json
from kinkeeper.actions.requests.free_time import FROM, TO, free_times
from kinkeeper.actions.requests.model import Asked, Card, Found
from kinkeeper.actions.requests.people import read_who
from kinkeeper.actions.requests.request_times import said_span
from kinkeeper.calendar.conflicts import find_conflicts
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.calendar.occurrences import booked_people
from kinkeeper.core.errors import DeniedError, NotFoundError
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import GUEST_DAYS

_DAY = timedelta(days=1)


def time_of(conn: Connection, wanted: FindFree, span: Interval, asked: Asked) -> Found:
    """Return when people have time within a span, or within that of an event in it.

    Args:
        conn: Open connection.
        wanted: Whose time, for how long, around what.
        span: Where to look.
        asked: Who asks.

    Raises:
        NotFoundError: No event is meant, and no day is named.
        DeniedError: A guest asks for days they may not see.
    """
    require_seen(span, asked)
    members, ignored = read_who(wanted.who, asked), list[str]()
    meant = _around(conn, wanted, span, asked)
    if meant is not None:
        span = meant.interval
        if not members:
            members = tuple(dict.fromkeys((*meant.event.who, *meant.responsible)))
            ignored = [meant.event.id]
    members = members or (asked.member.id,)
    busy = _taken(conn, members, span, asked, ignore=ignored)
    spans = free_times(
        span, [each.interval for each in busy], length=timedelta(minutes=wanted.duration),
        now=asked.now, zone=asked.household.zone, since=wanted.since or FROM, until=wanted.until or TO,
    )  # fmt: skip
    by_member = {
        member: [occurrence_json(each, asked) for each in _taken(conn, (member,), span, asked)]
        for member in members
        if wanted.is_any
    }
    result = {
        "is_free": not busy, "free": [_span_json(each, asked) for each in spans],
        "who": list(members), "busy": [occurrence_json(each, asked) for each in busy],
        "looked_at": _span_json(span, asked), "by_member": by_member,
        "all_day": [occurrence_json(each, asked) for each in _all_day(conn, members, span, asked)],
    }  # fmt: skip
    items = tuple({"text": said_span(each.start, each.end, asked)} for each in spans)
    card = None if wanted.is_any or wanted.around else Card(kind="free", title="Free", items=items)
    return Found(result=result, card=card)


def _around(conn: Connection, wanted: FindFree, span: Interval, asked: Asked) -> Occurrence | None:
    """Return the event whose time is meant; None where a day is named and it is on none or another."""
    if wanted.around is None:
        return None
    try:
        meant = find_around(conn, wanted.around, span, asked)
    except NotFoundError:
        if span.duration > _DAY:
            raise
        return None
    return meant if span.duration > _DAY or meant.interval.overlaps(span) else None


def _taken(
    conn: Connection, members: Sequence[str], span: Interval, asked: Asked, *,
    ignore: Sequence[str] = (),
) -> Sequence[Occurrence]:  # fmt: skip
    """Return what leaves members no time: what they are booked for, and what they are in charge of."""
    booked = busy(conn, members, span, asked, ignore=ignore)
    in_charge = [
        each
        for each in expected_between(conn, asked.viewer, span, now=asked.now, with_busy=True)
        if not each.event.all_day and each.event.id not in ignore
        and not set(members).isdisjoint(_in_charge(each))
    ]  # fmt: skip
    found = {(each.event.id, each.original_start): each for each in (*booked, *in_charge)}
    return sorted(found.values(), key=_by_start)


def _in_charge(occurrence: Occurrence) -> set[str]:
    """Return who is in charge of an occurrence or claims it."""
    claims = (member for each in occurrence.waiting for member in each.claimed_by)
    return {*occurrence.responsible, *claims}


def _all_day(
    conn: Connection, members: Sequence[str], span: Interval, asked: Asked
) -> Sequence[Occurrence]:
    """Return what goes on for whole days with members, and leaves open whether they have time."""
    return [
        each
        for each in expected_between(conn, asked.viewer, span, now=asked.now)
        if each.event.all_day and not set(members).isdisjoint(each.event.who)
    ]


def _by_start(occurrence: Occurrence) -> datetime:
    return occurrence.interval.start


def _span_json(span: Interval, asked: Asked) -> dict[str, str]:
    zone = asked.household.zone
    return {
        "start": span.start.astimezone(zone).isoformat(),
        "end": span.end.astimezone(zone).isoformat(),
    }


def busy(
    conn: Connection,
    members: Sequence[str],
    span: Interval,
    asked: Asked,
    *,
    ignore: Sequence[str] = (),
) -> Sequence[Occurrence]:
    """Return what members are booked for in a span of time, confirmed or proposed, by start.

    Args:
        conn: Open connection.
        members: Ids.
        span: Where to look.
        asked: On whose behalf.
        ignore: Ids of events that do not count.
    """
    found = {
        (each.event.id, each.original_start): each
        for member in members
        for each in find_conflicts(
            conn, asked.viewer, member=member, interval=span, ignore_events=ignore
        )
    }
    expected = expected_between(conn, asked.viewer, span, now=asked.now)
    for each in expected:
        key = each.event.id, each.original_start
        is_proposed = not each.is_confirmed and each.event.id not in ignore
        claims = _in_charge(each) if each.event.kind is EventKind.CARE else set()
        if is_proposed and not set(members).isdisjoint({*booked_people(each), *claims}):
            found.setdefault(key, each)
        elif key in found and each.is_confirmed:
            found[key] = each
    return sorted(found.values(), key=_by_start)


def require_seen(span: Interval, asked: Asked) -> None:
    """Refuse to tell a guest that there is nothing at a time that they are not shown.

    Args:
        span: What was looked at.
        asked: Who asks.

    Raises:
        DeniedError: A guest asks for days they may not see.
    """
    days = asked.viewer.days
    if days is not None and not (days.start <= span.start and span.end <= days.end):
        raise DeniedError(
            f"guests can only see the calendar for today and the next {GUEST_DAYS} days"
        )
