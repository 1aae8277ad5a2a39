"""Finding occurrences: from the occurrence table, or expanded here where it does not reach.

So an answer never misses anything, whatever span is asked for; only its cost differs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, and_, bindparam

from kinkeeper.calendar.model import Event, EventKind, EventState, Occurrence
from kinkeeper.calendar.occurrences import load_horizon, near_parameters, near_query
from kinkeeper.calendar.recurrence import expand
from kinkeeper.calendar.rows import read_events, read_overrides
from kinkeeper.calendar.spans import in_utc, share_time
from kinkeeper.calendar.tables import events, occurrences
from kinkeeper.core.time import Interval
from kinkeeper.store.prepared import Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What to look for; None stands for any. Care around an activity is not the activity."""

    member: str | None = None
    activity: str | None = None
    kind: EventKind | None = None
    include_cancelled: bool = False

    def admits_event(self, event: Event) -> bool:
        """Whether occurrences of the event can be wanted, going by its own fields."""
        is_activity = self.activity is None or (
            event.activity == self.activity and event.kind is not EventKind.CARE
        )
        return is_activity and self.kind in {None, event.kind}

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
    household: str,
    interval: Interval,
    *,
    member: str | None = None,
    include_cancelled: bool = False,
) -> list[Occurrence]:
    """Return the occurrences that share time with an interval, ordered by start.

    Args:
        conn: Open connection.
        household: Tenant key.
        interval: Span of interest; what only touches it is not returned.
        member: Only those this member takes part in or is in charge of.
        include_cancelled: Whether cancelled ones are wanted, too.
    """
    wanted = _Wanted(member=member, include_cancelled=include_cancelled)
    return _find(conn, household, interval, wanted)


def activity_occurrences(
    conn: Connection,
    household: str,
    activity: str,
    interval: Interval,
    *,
    member: str | None = None,
) -> list[Occurrence]:
    """Return an activity's confirmed occurrences that share time with an interval, by start.

    Care around it (a pickup) is not the activity and is left out.

    Args:
        conn: Open connection.
        household: Tenant key.
        activity: Activity id or canonical word, as events carry it.
        interval: Span of interest.
        member: Only those this member takes part in or is in charge of.
    """
    return _find(conn, household, interval, _Wanted(activity=activity, member=member))


def care_between(
    conn: Connection, household: str, interval: Interval, *, responsible: str | None = None
) -> list[Occurrence]:
    """Return confirmed care that shares time with an interval, ordered by start.

    Args:
        conn: Open connection.
        household: Tenant key.
        interval: Span of interest.
        responsible: Only care this member is in charge of.
    """
    found = _find(conn, household, interval, _Wanted(kind=EventKind.CARE, member=responsible))
    return [each for each in found if responsible is None or responsible in each.responsible]


def is_covered(conn: Connection, household: str, interval: Interval) -> bool:
    """Whether the occurrence table holds all that shares time with an interval."""
    horizon = load_horizon(conn, household)
    return horizon is not None and horizon.start <= interval.start and interval.end < horizon.end


def expand_all(conn: Connection, household: str, interval: Interval) -> list[Occurrence]:
    """Return all occurrences that share time with an interval, without the occurrence table.

    Costs time in the number of the household's events.
    """
    return _expanded(conn, household, interval, _Wanted(include_cancelled=True))


def stored_occurrences(
    conn: Connection, household: str, rows: Sequence[Mapping[str, Any]]
) -> list[Occurrence]:
    """Return the occurrences of rows of the occurrence table, ordered by start."""
    of_id = read_events(conn, household, {row["event_id"] for row in rows}) if rows else {}
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
    ]
    return sorted(found, key=_by_start)


def _find(
    conn: Connection, household: str, interval: Interval, wanted: _Wanted
) -> list[Occurrence]:
    interval = in_utc(interval)
    if not is_covered(conn, household, interval):
        return _expanded(conn, household, interval, wanted)
    parameters = near_parameters(household, interval, wanted.member)
    query = _query(
        by_member=wanted.member is not None,
        by_activity=wanted.activity is not None,
        by_kind=wanted.kind is not None,
        include_cancelled=wanted.include_cancelled,
    )
    rows = query.mappings(conn, parameters | {"activity": wanted.activity, "kind": wanted.kind})
    touching = stored_occurrences(conn, household, rows)
    return [each for each in touching if share_time(each.interval, interval)]


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
    conn: Connection, household: str, interval: Interval, wanted: _Wanted
) -> list[Occurrence]:
    changed = read_overrides(conn, household)
    found = [
        each
        for event in read_events(conn, household).values()
        if wanted.admits_event(event)
        for each in expand(event, changed.get(event.id, ()), interval)
        if wanted.admits(each)
    ]
    return sorted(found, key=_by_start)


def _by_start(occurrence: Occurrence) -> tuple[datetime, str, datetime]:
    return occurrence.interval.start, occurrence.event.id, occurrence.original_start
