"""Whole days of a household that has moved to another zone: they stay the days that they were called."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.calendar.model import Event
from kinkeeper.calendar.repository import (
    delete_override,
    list_overrides,
    put_override,
    replace_event,
)


def keep_whole_days(conn: Connection, found: Iterable[Event], zone: ZoneInfo) -> list[Event]:
    """Let every event of whole days begin at midnight of a household's zone, on the day that it had before.

    Events with an hour stay at their instant; a series stays at the wall time of the zone it was made in.

    Args:
        conn: In a write transaction.
        found: All events of the household.
        zone: Of the household, as its file has it now.

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
        zone: At whose midnight they are to begin.
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
