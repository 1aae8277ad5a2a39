"""What an event must be like before it is written. Pure."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kinkeeper.calendar.model import Event
from kinkeeper.calendar.recurrence import local_start
from kinkeeper.calendar.recurrence_rules import check_rule
from kinkeeper.core.errors import InputError

_FIRST_YEAR, _LAST_YEAR = 1600, 2200
_LONGEST = timedelta(days=3660)
_MOST_EXDATES = 2000


def check_event(event: Event) -> None:
    """Make sure that an event can be stored and expanded.

    Raises:
        InputError: It cannot; the message names the field and what it must be.
    """
    try:
        ZoneInfo(event.tz)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(f"event {event.id!r}: {event.tz!r} is not an IANA time zone") from error
    if len(event.exdates) > _MOST_EXDATES:
        raise InputError(
            f"event {event.id!r} leaves out {len(event.exdates):,} dates; at most {_MOST_EXDATES:,} are allowed"
        )
    for start in (event.start, *event.exdates):
        check_start(event.id, start)
    check_duration(event.id, event.duration)
    if event.all_day and event.duration % timedelta(days=1):
        raise InputError(f"event {event.id!r} is all-day; its duration must be whole days")
    if event.rrule is not None:
        check_rule(event.rrule, local_start(event).replace(tzinfo=None, fold=0))


def check_start(event_id: str, start: datetime) -> None:
    """Make sure that a start is aware, in whole seconds and of a plausible year.

    Raises:
        InputError: It is not.
    """
    if start.tzinfo is None:
        raise InputError(f"event {event_id!r}: start {start} has no time zone; add one")
    if start.microsecond:
        raise InputError(f"event {event_id!r}: start {start} must be in whole seconds")
    if not _FIRST_YEAR <= start.year <= _LAST_YEAR:
        raise InputError(
            f"event {event_id!r}: year {start.year} is not in {_FIRST_YEAR}..{_LAST_YEAR}"
        )


def check_duration(event_id: str, duration: timedelta) -> None:
    """Make sure that a duration is in whole seconds, not negative and of plausible length.

    Raises:
        InputError: It is not.
    """
    if duration % timedelta(seconds=1):
        raise InputError(f"event {event_id!r}: duration {duration} must be in whole seconds")
    if not timedelta() <= duration <= _LONGEST:
        raise InputError(
            f"event {event_id!r}: duration {duration} must be 0 to {_LONGEST.days} days"
        )
