"""The occurrence table over each household's rolling horizon, and until when an event matters.

The table holds exactly the occurrences that share time with the horizon. It is written together
with the event it comes from; whoever reads beyond the horizon expands for themselves (`search`).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import (
    BindParameter,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    insert,
    select,
    union_all,
    update,
)

from kinkeeper.calendar.event_rows import read_events, read_overrides
from kinkeeper.calendar.model import Event, EventKind, EventState, Occurrence, Override
from kinkeeper.calendar.recurrence import (
    expand,
    expand_one,
    occurrence_at,
    original_starts,
    parse_rule,
)
from kinkeeper.calendar.tables import horizons, occurrence_people, occurrences
from kinkeeper.core.time import Interval, as_utc, day_over
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.prepared import Prepared

AHEAD = timedelta(days=400)
BACK = timedelta(days=35)
SPANS_DAYS = (1, 32, 3700)  # length classes of occurrences, the last longer than any event
_SLACK = timedelta(days=30)  # a year ahead stays covered although only moved once a month
_ROWS_PER_STATEMENT = 2000
_HORIZON = Prepared(
    select(horizons.c.covers_from, horizons.c.covers_until).where(
        horizons.c.household == bindparam("household")
    )
)


def load_horizon(conn: Connection, household: str) -> Interval | None:
    """Return the span that the occurrence table covers; None before the first extension."""
    rows = _HORIZON.execute(conn, {"household": household})
    return Interval(*rows[0]) if rows else None


def horizon_around(now: datetime) -> Interval:
    """Return the span that the occurrence table covers when it is extended at this time."""
    now = as_utc(now)
    return Interval(now - BACK, now + AHEAD)


def extend_horizon(conn: Connection, household: str, now: datetime) -> bool:
    """Let the occurrence table cover 35 days back and 400 days ahead.

    Does one small read unless the horizon has fallen behind by 30 days. It never moves backwards.

    Returns:
        Whether anything had to be done.
    """
    now = as_utc(now)
    old = load_horizon(conn, household)
    if old is not None and old.end >= now + AHEAD - _SLACK:
        return False
    new = horizon_around(now)
    changed = read_overrides(conn, household)
    waiting: list[Occurrence] = []
    for event in read_events(conn, Viewer.whole(household)).values():
        found = expand(event, changed.get(event.id, ()), new)
        waiting += [each for each in found if old is None or each.interval.start >= old.end]
        if len(waiting) >= _ROWS_PER_STATEMENT:
            _write(conn, waiting)
            waiting = []
    _write(conn, waiting)
    if old is None:
        values = {"household": household, "covers_from": new.start, "covers_until": new.end}
        conn.execute(insert(horizons).values(values))
    else:
        _drop_before(conn, household, new.start)
        conn.execute(
            update(horizons)
            .where(horizons.c.household == household)
            .values(covers_from=new.start, covers_until=new.end)
        )
    return True


def rebuild(conn: Connection, event: Event, overrides: Iterable[Override]) -> None:
    """Expand a changed event anew over the household's horizon."""
    clear(conn, event.household, event.id)
    horizon = load_horizon(conn, event.household)
    if horizon is not None:
        _write(conn, expand(event, overrides, horizon))


def rebuild_one(
    conn: Connection, event: Event, override: Override | None, original_start: datetime
) -> None:
    """Expand one occurrence anew; the others of its event stay as they are.

    Args:
        conn: Open connection, in the transaction that changed the occurrence.
        override: What was changed for this occurrence, if anything.
        original_start: Aware start that the rule gives.
    """
    clear(conn, event.household, event.id, as_utc(original_start))
    horizon = load_horizon(conn, event.household)
    if horizon is not None:
        found = expand_one(event, override, original_start, horizon)
        _write(conn, [] if found is None else [found])


def clear(
    conn: Connection, household: str, event_id: str, original_start: datetime | None = None
) -> None:
    """Remove an event's rows from the occurrence table.

    Args:
        original_start: Only of this occurrence, where given.
    """
    for table in (occurrence_people, occurrences):
        mine = [table.c.household == household, table.c.event_id == event_id]
        if original_start is not None:
            mine.append(table.c.original_start == original_start)
        conn.execute(delete(table).where(*mine))


def booked_people(occurrence: Occurrence) -> tuple[str, ...]:
    """Return the members who are busy with an occurrence.

    A booking keeps those busy who take part; care keeps the adults in charge busy, not the child.
    Background (breaks, deadlines, anything all-day) and what is cancelled keep nobody busy.
    """
    event = occurrence.event
    if event.all_day or occurrence.state is EventState.CANCELLED:
        return ()
    match event.kind:
        case EventKind.BOOKING:
            return event.who
        case EventKind.CARE:
            return occurrence.responsible
        case EventKind.BREAK | EventKind.DEADLINE:
            return ()


@lru_cache
def near_query(*, by_member: bool, is_booked: bool = False) -> Select[Any]:
    """Return the query for stored occurrences that may share time with an interval.

    Occurrences that only touch it are found as well; the caller decides about them. Built once:
    putting it together costs more than answering it.

    Args:
        by_member: Only those one member takes part in or is in charge of.
        is_booked: Only those that keep that member busy.
    """
    table = occurrence_people if by_member else occurrences
    household: BindParameter[str] = bindparam("household")
    conditions = [table.c.household == household]
    if by_member:
        conditions.append(occurrence_people.c.person == bindparam("member"))
    if is_booked:
        conditions.append(occurrence_people.c.is_booked)
    # One search of the index for each length class: an OR over the classes would be answered by
    # reading all that the member ever did.
    keys = union_all(
        *[
            select(table.c.event_id, table.c.original_start).where(
                *conditions,
                table.c.span_days == days,
                table.c.start_at >= bindparam(f"since_{days}"),
                table.c.start_at <= bindparam("until"),
                table.c.end_at >= bindparam("since"),
            )
            for days in SPANS_DAYS
        ]
    ).subquery()
    return select(occurrences).join(
        keys,
        and_(
            occurrences.c.household == household,
            occurrences.c.event_id == keys.c.event_id,
            occurrences.c.original_start == keys.c.original_start,
        ),
    )


def near_parameters(
    household: str, interval: Interval, member: str | None = None
) -> dict[str, Any]:
    """Return the parameters of `near_query`."""
    earliest = {f"since_{days}": _earlier(interval.start, days) for days in SPANS_DAYS}
    return earliest | {
        "household": household,
        "member": member,
        "since": interval.start,
        "until": interval.end,
    }


def _earlier(start: datetime, days: int) -> datetime:
    return start - min(timedelta(days=days), start - datetime.min.replace(tzinfo=start.tzinfo))


def _write(conn: Connection, found: Sequence[Occurrence]) -> None:
    rows = [_occurrence_row(each) for each in found]
    people = [row for each in found for row in _people_rows(each)]
    for table, values in ((occurrences, rows), (occurrence_people, people)):
        for at in range(0, len(values), _ROWS_PER_STATEMENT):
            conn.execute(insert(table), values[at : at + _ROWS_PER_STATEMENT])


def _occurrence_row(occurrence: Occurrence) -> dict[str, Any]:
    return _place_in_time(occurrence) | {
        "state": occurrence.state.value,
        "responsible": list(occurrence.responsible),
        "place": occurrence.place,
    }


def _people_rows(occurrence: Occurrence) -> list[dict[str, Any]]:
    shared = _place_in_time(occurrence)
    booked = booked_people(occurrence)
    people = dict.fromkeys((*occurrence.event.who, *occurrence.responsible))
    return [shared | {"person": person, "is_booked": person in booked} for person in people]


def _place_in_time(occurrence: Occurrence) -> dict[str, Any]:
    length = occurrence.interval.duration
    return {
        "household": occurrence.event.household,
        "event_id": occurrence.event.id,
        "original_start": occurrence.original_start,
        "span_days": next(days for days in SPANS_DAYS if length <= timedelta(days=days)),
        "start_at": occurrence.interval.start,
        "end_at": occurrence.interval.end,
    }


def _drop_before(conn: Connection, household: str, start: datetime) -> None:
    for table in (occurrence_people, occurrences):
        conn.execute(
            delete(table).where(
                table.c.household == household, table.c.end_at <= start, table.c.start_at < start
            )
        )


# Until when an event matters: the end of the last day on which it takes place. Pure.

_INSTANT = timedelta(microseconds=1)


def over_at(
    event: Event, overrides: Iterable[Override], *, zone: ZoneInfo, after: datetime
) -> datetime:
    """Return the midnight after the last day of an event; of an open-ended series, after its next day.

    A series counts for as far ahead as the occurrence table reaches, but at least until its next occurrence.

    Args:
        after: Aware; the next occurrence of a series is the first that begins at or after it.
    """
    changes = {as_utc(each.original_start): each for each in overrides}
    starts = {_last_start(event, as_utc(after))}
    if not _is_open_ended(event):
        starts |= changes.keys()
    return max(
        end_of_day(event, occurrence_at(event, each, changes.get(each)).interval, zone)
        for each in starts
    )


def occurrence_over_at(
    event: Event, change: Override | None, original_start: datetime, *, zone: ZoneInfo
) -> datetime:
    """Return the midnight after one occurrence, where it takes place now.

    Args:
        change: What is changed for this occurrence, if anything.
        original_start: Aware start that the rule gives.
    """
    start = as_utc(original_start)
    return end_of_day(event, occurrence_at(event, start, change).interval, zone)


def end_of_day(event: Event, interval: Interval, zone: ZoneInfo) -> datetime:
    """Return the midnight after the last local day that an occurrence touches.

    Args:
        event: Whose dates count in its own zone where it has dates only.
    """
    last = max(interval.start, interval.end - _INSTANT)
    day = last.astimezone(ZoneInfo(event.tz) if event.all_day else zone).date()
    return max(as_utc(interval.end), day_over(day, zone))


def _last_start(event: Event, after: datetime) -> datetime:
    """Return the start of the last occurrence in reach; of an open-ended series, of the next one."""
    if event.rrule is None:
        return as_utc(event.start)
    window = Interval(after - event.duration, after + AHEAD)
    near = original_starts(event, window)
    starts = [each for each in near if each >= after or each + event.duration > after]
    starts = starts or [as_utc(event.start)]
    return starts[0] if _is_open_ended(event) else starts[-1]


def _is_open_ended(event: Event) -> bool:
    rule = parse_rule(event.rrule) if event.rrule else None
    return rule is not None and rule.until is None and "COUNT" not in rule.parts
