"""When people have time, read from the calendar: what keeps them busy, and what is free between."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.requests.bans import heard
from kinkeeper.actions.requests.event_search import find_around
from kinkeeper.actions.requests.event_views import FindFree, occurrence_json
from kinkeeper.actions.requests.model import Asked, Card, Found
from kinkeeper.actions.requests.parameters import read_who, said_span
from kinkeeper.actions.requests.told_days import told_of
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.calendar.occurrences import booked_people
from kinkeeper.calendar.search import find_conflicts
from kinkeeper.core.errors import DeniedError, NotFoundError
from kinkeeper.core.time import Interval, as_utc, midnight
from kinkeeper.household.viewers import GUEST_DAYS
from kinkeeper.memory.model import Episode
from kinkeeper.memory.statements.absences import times_told

_MOST = 10
_DAY = timedelta(days=1)
FROM, TO = time(8), time(21)
"""Nobody wants to be offered the small hours."""


def free_times(
    span: Interval,
    busy: Iterable[Interval],
    *,
    length: timedelta,
    now: datetime,
    zone: ZoneInfo,
    since: time = FROM,
    until: time = TO,
) -> list[Interval]:
    """Return the gaps of a span of time that are long enough, the first ten; nothing that has passed.

    Of whole days only some hours are looked at: those in which people are up, unless told.

    Args:
        length: How long a gap must be, > 0.
        until: To when on each day; later than `since`.
    """
    start = max(as_utc(span.start), as_utc(now))
    if start >= as_utc(span.end):
        return []
    whole = Interval(start, as_utc(span.end))
    is_part = whole.duration < _DAY and (since, until) == (FROM, TO)
    parts = [whole] if is_part else list(_by_day(whole, zone, since, until))
    taken = sorted(Interval(as_utc(each.start), as_utc(each.end)) for each in busy)
    gaps = [gap for part in parts for gap in _gaps(part, taken) if gap.duration >= length]
    return gaps[:_MOST]


def _by_day(span: Interval, zone: ZoneInfo, since: time, until: time) -> Iterator[Interval]:
    day = span.start.astimezone(zone).date()
    while midnight(day, zone) < span.end:
        first, last = (as_utc(datetime.combine(day, at, tzinfo=zone)) for at in (since, until))
        begin, end = max(first, span.start), min(last, span.end)
        if begin < end:
            yield Interval(begin, end)
        day += _DAY


def _gaps(part: Interval, taken: Iterable[Interval]) -> Iterator[Interval]:
    at = part.start
    for each in taken:
        if each.end <= at or each.start >= part.end:
            continue
        if each.start > at:
            yield Interval(at, each.start)
        at = max(at, each.end)
    if at < part.end:
        yield Interval(at, part.end)


# When people have time, read from the calendar: what keeps them busy, and what is free between.


def time_of(conn: Connection, wanted: FindFree, span: Interval, asked: Asked) -> Found:
    """Return when people have time within a span, or within that of an event in it.

    Args:
        wanted: Whose time, for how long, around what.

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
        span,
        [each.interval for each in busy],
        length=timedelta(minutes=wanted.duration),
        now=asked.now,
        zone=asked.household.zone,
        since=wanted.since or FROM,
        until=wanted.until or TO,
    )
    said = [*heard(conn, asked)]
    told = _told_away(said, members, span, asked)
    by_member = {
        member: [
            occurrence_json(each, asked)
            for each in (
                *_taken(conn, (member,), span, asked),
                *_all_day(conn, (member,), span, asked),
            )
        ]
        for member in members
        if wanted.is_any
    }
    result = {
        "is_free": not (busy or told),
        "told_away": told,
        "told": [] if told or busy or wanted.is_any else told_of(said, span, asked, who=members),
        "free": [_span_json(each, asked) for each in spans],
        "who": list(members),
        "busy": [occurrence_json(each, asked) for each in busy],
        "looked_at": _span_json(span, asked),
        "by_member": by_member,
        "all_day": [occurrence_json(each, asked) for each in _all_day(conn, members, span, asked)],
    }
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
    conn: Connection,
    members: Sequence[str],
    span: Interval,
    asked: Asked,
    *,
    ignore: Sequence[str] = (),
) -> Sequence[Occurrence]:
    """Return what leaves members no time: what they are booked for, and what they are in charge of."""
    booked = busy(conn, members, span, asked, ignore=ignore)
    in_charge = [
        each
        for each in expected_between(conn, asked.viewer, span, now=asked.now, with_busy=True)
        if not each.event.all_day
        and each.event.id not in ignore
        and not set(members).isdisjoint(_in_charge(each))
    ]
    found = {(each.event.id, each.original_start): each for each in (*booked, *in_charge)}
    return sorted(found.values(), key=_by_start)


def _told_away(
    said: Iterable[Episode], members: Sequence[str], span: Interval, asked: Asked
) -> dict[str, dict[str, str]]:
    """Return by member what was said last of their having no time then, where it was not taken back."""
    household, zone = asked.household, asked.household.zone
    known = dict[str, dict[str, str] | None]()
    for each in said:
        said_at = each.said_at.astimezone(zone)
        words = {"text": each.text, "said_at": said_at.isoformat(), "by": each.member or ""}
        for told in times_told(each.text, each.member, said_at, household):
            if told.member in members and told.days.overlaps(span):
                known.setdefault(told.member, None if told.is_free else words)
    return {member: words for member, words in known.items() if words is not None}


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
        members: Ids.
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

    Raises:
        DeniedError: A guest asks for days they may not see.
    """
    days = asked.viewer.days
    if days is not None and not (days.start <= span.start and span.end <= days.end):
        raise DeniedError(
            f"guests can only see the calendar for today and the next {GUEST_DAYS} days"
        )
