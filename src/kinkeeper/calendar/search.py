"""Finding occurrences: for whoever asks, as mere busy time where private, and who is double-booked.

So an answer never misses anything, whatever span is asked for; only its cost differs.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam

from kinkeeper.calendar.event_rows import read_events, read_overrides
from kinkeeper.calendar.model import (
    Event,
    EventKind,
    EventState,
    Occurrence,
    Override,
    Provenance,
    SourceType,
)
from kinkeeper.calendar.occurrences import booked_people, load_horizon, near_parameters, near_query
from kinkeeper.calendar.recurrence import expand, in_utc, share_time
from kinkeeper.calendar.tables import events, occurrences
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_of, person_scope
from kinkeeper.store.prepared import Prepared

# What others see of what is private to a member: that the member is busy, and when. Pure.

SUMMARY: Final = "something private"
"""What it is called where the household must do without its name."""


def as_busy(occurrence: Occurrence) -> Occurrence | None:
    """Return what others see of an occurrence that is private to one member; None where it keeps that one not busy.

    Nothing of the event is left but when it is: whoever else takes part is not named, and its id opens nothing.
    """
    event = occurrence.event
    member = person_of(event.scope)
    if member is None or not _keeps_busy(occurrence, member):
        return None
    mask = Event(
        id=stable_id(event.household, SUMMARY, event.id, occurrence.original_start.isoformat()),
        household=event.household,
        kind=EventKind.BOOKING,
        scope=HOUSEHOLD_SCOPE,
        summary=SUMMARY,
        start=occurrence.interval.start,
        duration=occurrence.interval.duration,
        tz=event.tz,
        who=(member,),
        provenance=Provenance(source_type=SourceType.CHAT, source_id=""),
    )
    return replace(occurrence, event=mask, responsible=(), place=None, waiting=())


def private_to(event: Event, member: str) -> Event:
    """Return an event as one that only a member may see, and that keeps them busy."""
    who = event.who if member in {*event.who, *event.responsible} else (member, *event.who)
    return replace(event, who=who, scope=person_scope(member))


def is_busy(event: Event) -> bool:
    """Whether an event is only what others see of a private one: it cannot be asked about, moved or cancelled."""
    return event.summary == SUMMARY and not event.provenance.source_id


def _keeps_busy(occurrence: Occurrence, member: str) -> bool:
    is_in_charge = not occurrence.event.all_day and member in occurrence.responsible
    is_on = occurrence.state is EventState.CONFIRMED
    return is_on and (is_in_charge or member in booked_people(occurrence))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What to look for; None stands for any. Care around an activity is not the activity."""

    member: str | None = None
    activity: str | None = None
    kind: EventKind | None = None
    include_cancelled: bool = False
    with_busy: bool = False
    ignored: Container[str] = ()

    def admits_event(self, event: Event) -> bool:
        """Whether occurrences of the event can be wanted, going by its own fields."""
        is_activity = self.activity is None or (
            event.activity == self.activity and event.kind is not EventKind.CARE
        )
        return is_activity and self.kind in {None, event.kind} and event.id not in self.ignored

    def admits(self, occurrence: Occurrence) -> bool:
        """Whether the occurrence is wanted."""
        people = (*occurrence.event.who, *occurrence.responsible)
        return (
            (self.include_cancelled or occurrence.state is EventState.CONFIRMED)
            and (self.member is None or self.member in people)
            and self.admits_event(occurrence.event)
        )


def occurrences_between(
    conn: Connection,
    viewer: Viewer,
    interval: Interval,
    *,
    member: str | None = None,
    include_cancelled: bool = False,
    with_busy: bool = False,
) -> list[Occurrence]:
    """Return the occurrences that share time with an interval, ordered by start.

    Args:
        viewer: On whose behalf; a guest is shown nothing beyond their days.
        interval: Span of interest; what only touches it is not returned.
        member: Only those this member takes part in or is in charge of.
        include_cancelled: Whether cancelled ones are wanted, too.
        with_busy: Whether others' private ones are wanted as times at which they are busy (`busy.as_busy`).
    """
    wanted = _Wanted(member=member, include_cancelled=include_cancelled, with_busy=with_busy)
    return _find(conn, viewer, interval, wanted)


def activity_occurrences(
    conn: Connection,
    viewer: Viewer,
    activity: str,
    interval: Interval,
    *,
    member: str | None = None,
) -> list[Occurrence]:
    """Return an activity's confirmed occurrences that share time with an interval, by start.

    Care around it (a pickup) is not the activity and is left out.

    Args:
        activity: Activity id or canonical word, as events carry it.
        member: Only those this member takes part in or is in charge of.
    """
    return _find(conn, viewer, interval, _Wanted(activity=activity, member=member))


def care_between(
    conn: Connection, viewer: Viewer, interval: Interval, *, responsible: str | None = None
) -> list[Occurrence]:
    """Return confirmed care that shares time with an interval, ordered by start.

    Args:
        responsible: Only care this member is in charge of.
    """
    found = _find(conn, viewer, interval, _Wanted(kind=EventKind.CARE, member=responsible))
    return [each for each in found if responsible is None or responsible in each.responsible]


def is_covered(conn: Connection, household: str, interval: Interval) -> bool:
    """Whether the occurrence table holds all that shares time with an interval."""
    horizon = load_horizon(conn, household)
    return horizon is not None and horizon.start <= interval.start and interval.end < horizon.end


def expand_all(
    conn: Connection, viewer: Viewer, interval: Interval, *, ignore_events: Container[str] = ()
) -> list[Occurrence]:
    """Return all occurrences that share time with an interval, without the occurrence table.

    Others' private ones are returned as times at which they are busy. Costs time in the number of the
    household's events.

    Args:
        ignore_events: Ids of events that do not count.
    """
    wanted = _Wanted(include_cancelled=True, with_busy=True, ignored=ignore_events)
    return _expanded(conn, viewer, interval, wanted)


def times_of(
    event: Event, overrides: Iterable[Override], interval: Interval, viewer: Viewer
) -> list[Occurrence]:
    """Return when an event takes place, ordered by start: a guest is told of nothing beyond their days.

    Args:
        event: As it was read for the viewer.
    """
    return [*_as_seen(expand(event, overrides, interval), viewer)]


def rule_seen(event: Event, viewer: Viewer) -> str | None:
    """Return the rule by which an event recurs; None where it would tell a guest of days that are not theirs.

    Args:
        event: As it was read for the viewer.
    """
    return event.rrule if viewer.days is None or viewer.sees(event.scope) else None


def stored_occurrences(
    conn: Connection, viewer: Viewer, rows: Sequence[Mapping[str, Any]], *, with_busy: bool = False
) -> list[Occurrence]:
    """Return the occurrences of rows of the occurrence table that may be seen, ordered by start.

    Args:
        rows: As `near_query` returns them.
        with_busy: Whether others' private ones are wanted as times at which they are busy.
    """
    ids = {row["event_id"] for row in rows}
    of_id = read_events(conn, _reader(viewer, with_busy=with_busy), ids) if rows else {}
    found = [
        Occurrence(
            event=of_id[row["event_id"]],
            original_start=row["original_start"],
            interval=Interval(row["start_at"], row["end_at"]),
            state=EventState(row["state"]),
            responsible=tuple(row["responsible"]),
            place=row["place"],
        )
        for row in rows
        if row["event_id"] in of_id
    ]
    return sorted(_as_seen(found, viewer), key=by_start)


def _reader(viewer: Viewer, *, with_busy: bool) -> Viewer:
    """Return on whose behalf events are read: who is told of others' busy times reads them first."""
    return Viewer.whole(viewer.household) if with_busy else viewer


def _as_seen(found: Iterable[Occurrence], viewer: Viewer) -> Iterator[Occurrence]:
    """Yield what was read as the viewer may see it, a guest only when it is a guest's to see.

    What is another's private comes as a time at which that one is busy.
    """
    days = None if viewer.days is None else in_utc(viewer.days)
    for each in found:
        seen = each if viewer.sees_event(each.event.scope) else as_busy(each)
        if seen is None:
            continue
        if days is None or viewer.sees(seen.event.scope) or share_time(seen.interval, days):
            yield seen


def _find(
    conn: Connection, viewer: Viewer, interval: Interval, wanted: _Wanted
) -> list[Occurrence]:
    interval, household = in_utc(interval), viewer.household
    if not is_covered(conn, household, interval):
        return _expanded(conn, viewer, interval, wanted)
    parameters = near_parameters(household, interval, wanted.member)
    query = _query(
        by_member=wanted.member is not None,
        by_activity=wanted.activity is not None,
        by_kind=wanted.kind is not None,
        include_cancelled=wanted.include_cancelled,
    )
    rows = query.mappings(conn, parameters | {"activity": wanted.activity, "kind": wanted.kind})
    touching = stored_occurrences(conn, viewer, rows, with_busy=wanted.with_busy)
    return [
        each for each in touching if share_time(each.interval, interval) and wanted.admits(each)
    ]


@lru_cache
def _query(
    *, by_member: bool, by_activity: bool, by_kind: bool, include_cancelled: bool
) -> Prepared:
    query = near_query(by_member=by_member)
    if not include_cancelled:
        query = query.where(occurrences.c.state == EventState.CONFIRMED.value)
    if by_activity or by_kind:
        mine = (
            events.c.household == occurrences.c.household,
            events.c.id == occurrences.c.event_id,
        )
        query = query.join(events, and_(*mine))
    if by_activity:
        query = query.where(
            events.c.activity == bindparam("activity"), events.c.kind != EventKind.CARE.value
        )
    if by_kind:
        query = query.where(events.c.kind == bindparam("kind"))
    return Prepared(query)


def _expanded(
    conn: Connection, viewer: Viewer, interval: Interval, wanted: _Wanted
) -> list[Occurrence]:
    changed = read_overrides(conn, viewer.household)
    found = [
        each
        for event in read_events(conn, _reader(viewer, with_busy=wanted.with_busy)).values()
        if wanted.admits_event(event)
        for each in expand(event, changed.get(event.id, ()), interval)
    ]
    return sorted(filter(wanted.admits, _as_seen(found, viewer)), key=by_start)


def by_start(occurrence: Occurrence) -> tuple[datetime, str, datetime]:
    """Return what occurrences are put in order by."""
    return occurrence.interval.start, occurrence.event.id, occurrence.original_start


# Who is double-booked: bookings of one person that collide with a span of time.

_NO_BUFFER = timedelta()
_BOOKED = Prepared(near_query(by_member=True, is_booked=True))


def overlaps(first: Occurrence, second: Occurrence, *, buffer: timedelta = _NO_BUFFER) -> bool:
    """Whether two occurrences share time or lie closer together than `buffer`.

    Touching ends do not count; the order of the two does not matter.

    Args:
        buffer: Time to be kept free between the two, >= 0.
    """
    return share_time(first.interval, second.interval, buffer)


def find_conflicts(
    conn: Connection,
    viewer: Viewer,
    *,
    member: str,
    interval: Interval,
    buffer: timedelta = _NO_BUFFER,
    ignore_events: Container[str] = (),
) -> list[Occurrence]:
    """Return what keeps a member busy within a span of time, ordered by start.

    That they are busy is no secret, with what may be: what is private to others comes as `busy.as_busy`.

    Args:
        buffer: Time to be kept free before and after, >= 0.
        ignore_events: Ids of events that do not count, such as those being talked about.
    """
    interval = in_utc(interval)
    reach = interval.widened(buffer)
    if not is_covered(conn, viewer.household, reach):
        return [
            each
            for each in expand_all(conn, viewer, reach, ignore_events=ignore_events)
            if member in booked_people(each) and share_time(each.interval, interval, buffer)
        ]
    colliding = [
        row
        for row in _BOOKED.mappings(conn, near_parameters(viewer.household, reach, member))
        if row["event_id"] not in ignore_events
        and share_time(Interval(row["start_at"], row["end_at"]), interval, buffer)
    ]
    found = stored_occurrences(conn, viewer, colliding, with_busy=True)
    return [each for each in found if member in booked_people(each)]
