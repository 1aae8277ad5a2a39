"""Keeping events in step with the household file and its zone, never against a person's yes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.calendar.event_changes import events_changed_by_people
from kinkeeper.calendar.event_rows import event_row
from kinkeeper.calendar.model import Event, EventKind, EventState, Provenance, SourceType
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.calendar.recurrence import produces
from kinkeeper.calendar.repository import (
    delete_override,
    insert_event,
    list_all_overrides,
    list_events,
    list_overrides,
    put_override,
    replace_event,
)
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import midnight
from kinkeeper.household.model import Household, MaintenanceItem, SeedEvent
from kinkeeper.household.viewers import Viewer

# Whole days of a household that has moved to another zone: they stay the days that they were
# called.


def keep_whole_days(conn: Connection, found: Iterable[Event], zone: ZoneInfo) -> list[Event]:
    """Let every event of whole days begin at midnight of a household's zone, on the day that it had before.

    Events with an hour stay at their instant; a series stays at the wall time of the zone it was made in.

    Returns:
        The events that were changed, as they are now.
    """
    return [_kept(conn, event, zone) for event in found if is_elsewhere(event, zone)]


def is_elsewhere(event: Event, zone: ZoneInfo) -> bool:
    """Return whether an event is of whole days that begin at midnight of another zone."""
    return event.all_day and event.tz != zone.key


def same_day(event: Event, instant: datetime, zone: ZoneInfo) -> datetime:
    """Return when the day that an instant has in an event's zone begins, or its hour there comes, in another zone."""
    return instant.astimezone(ZoneInfo(event.tz)).replace(tzinfo=zone)


def on_same_days(event: Event, zone: ZoneInfo) -> Event:
    """Return an event of whole days on the same days of another zone.

    Args:
        event: Of whole days.
    """
    exdates = tuple(same_day(event, each, zone) for each in event.exdates)
    return replace(event, start=same_day(event, event.start, zone), exdates=exdates, tz=zone.key)


def _kept(conn: Connection, event: Event, zone: ZoneInfo) -> Event:
    changed = [*list_overrides(conn, event.household, event.id)]
    for each in changed:
        delete_override(conn, event.household, each)
    now = on_same_days(event, zone)
    replace_event(conn, now)
    for each in changed:
        start = None if each.start is None else same_day(event, each.start, zone)
        original = same_day(event, each.original_start, zone)
        put_override(conn, event.household, replace(each, original_start=original, start=start))
    return now


_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedReport:
    """What a reload did; every entry is the name of a seed: "events.<id>" or "maintenance.<id>".

    Attributes:
        added: New in the graph, or back again.
        updated: Changed in the file since.
        cancelled: Gone from the file.
        kept: Differ from the file because a person changed the whole event; left as they are.
        dormant: Have changes of single occurrences that the file's new rule no longer gives.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    dormant: tuple[str, ...] = ()


def sync_seeds(conn: Connection, household: Household, now: datetime) -> SeedReport:
    """Put the file's events and its zone into the graph, in step with what is there.

    Args:
        now: Aware; the occurrence table is extended to it.

    Returns:
        What was done, and what was left as a person has it.

    Raises:
        InputError: An event of the file cannot be expanded.
    """
    extend_horizon(conn, household.id, now)
    stored = {
        event.id: event
        for event in list_events(conn, Viewer.whole(household.id), include_cancelled=True)
    }
    moved = keep_whole_days(conn, stored.values(), household.zone)
    stored |= {event.id: event for event in moved}
    by_people = events_changed_by_people(conn, household.id)
    wanted = {event.id: event for event in seed_events(household)}
    gone = {
        event.id: replace(event, state=EventState.CANCELLED)
        for event in stored.values()
        if event.provenance.source_type is SourceType.SEED and event.id not in wanted
    }
    report: dict[str, list[str]] = {
        name: [] for name in ("added", "updated", "cancelled", "kept", "dormant")
    }
    for event in (*wanted.values(), *gone.values()):
        outcome = _sync(conn, event, stored.get(event.id), is_kept=event.id in by_people)
        if outcome is not None:
            report[outcome].append(event.provenance.source_id)
    report["dormant"] = list(_dormant(conn, household.id, wanted.values()))
    return SeedReport(**{name: tuple(seeds) for name, seeds in report.items()})


def seed_events(household: Household) -> Iterator[Event]:
    """Yield the events that the file describes.

    All-day events of several days are background, so are maintenance items on the day they are due.
    """
    for seed in household.events:
        yield _from_seed(household, seed)
    for item in household.maintenance:
        yield _from_maintenance(household, item)


def _from_seed(household: Household, seed: SeedEvent) -> Event:
    is_break = seed.all_day and seed.duration > _ONE_DAY
    return Event(
        id=stable_id(household.id, "events", seed.id),
        household=household.id,
        kind=EventKind.BREAK if is_break else EventKind.BOOKING,
        summary=seed.summary,
        activity=seed.activity,
        who=seed.who,
        responsible=seed.responsible,
        place=seed.place,
        start=seed.start.replace(tzinfo=household.zone),
        duration=seed.duration,
        all_day=seed.all_day,
        tz=household.zone.key,
        rrule=seed.rrule,
        exdates=tuple(start.replace(tzinfo=household.zone) for start in seed.exdates),
        provenance=Provenance(source_type=SourceType.SEED, source_id=f"events.{seed.id}"),
    )


def _from_maintenance(household: Household, item: MaintenanceItem) -> Event:
    return Event(
        id=stable_id(household.id, "maintenance", item.id),
        household=household.id,
        kind=EventKind.DEADLINE,
        summary=item.summary,
        start=midnight(item.due, household.zone),
        duration=_ONE_DAY,
        all_day=True,
        tz=household.zone.key,
        provenance=Provenance(source_type=SourceType.SEED, source_id=f"maintenance.{item.id}"),
    )


def _sync(conn: Connection, event: Event, stored: Event | None, *, is_kept: bool) -> str | None:
    """Bring one event in step and return the report's field it belongs to, if any."""
    if stored is None:
        insert_event(conn, event)
        return "added"
    if event_row(stored) == event_row(event):
        return None
    if is_kept:
        return "kept"
    replace_event(conn, event)
    if event.state is EventState.CANCELLED:
        return "cancelled"
    return "updated" if stored.state is EventState.CONFIRMED else "added"


def _dormant(conn: Connection, household: str, wanted: Iterable[Event]) -> Iterator[str]:
    changed = list_all_overrides(conn, household)
    for event in wanted:
        overrides = changed.get(event.id, ())
        if not all(produces(event, each.original_start) for each in overrides):
            yield event.provenance.source_id
