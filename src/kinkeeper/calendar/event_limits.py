"""What an event must be like before it is written, and how much one file or server may hold."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kinkeeper.calendar.model import Event
from kinkeeper.calendar.occurrences import horizon_around
from kinkeeper.calendar.recurrence import check_rule, local_start, original_starts, parse_rule
from kinkeeper.core.errors import InputError, UnavailableError

# What an event must be like before it is written. Pure.

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
    """Make sure that a start is aware, in whole seconds and of a plausible year."""
    if start.tzinfo is None:
        raise InputError(f"event {event_id!r}: start {start} has no time zone; add one")
    if start.microsecond:
        raise InputError(f"event {event_id!r}: start {start} must be in whole seconds")
    if not _FIRST_YEAR <= start.year <= _LAST_YEAR:
        raise InputError(
            f"event {event_id!r}: year {start.year} is not in {_FIRST_YEAR}..{_LAST_YEAR}"
        )


def check_duration(event_id: str, duration: timedelta) -> None:
    """Make sure that a duration is in whole seconds, not negative and of plausible length."""
    if duration % timedelta(seconds=1):
        raise InputError(f"event {event_id!r}: duration {duration} must be in whole seconds")
    if not timedelta() <= duration <= _LONGEST:
        raise InputError(
            f"event {event_id!r}: duration {duration} must be 0 to {_LONGEST.days} days"
        )


# How much one calendar file, or one look at a calendar server, may hold, and how long reading it
# may take.
#
# What costs time later is not the size of the file but the number of occurrences: one line of text
# can stand for one a day for ever.

MOST_EVENTS: Final = 10_000
MOST_SERIES: Final = 1_000
MOST_OCCURRENCES: Final = 30_000
_CPU_SECONDS: Final = 30.0


class ImportLimit:
    """Counts what is read, on one thread, and stops where it is too much.

    Attributes:
        occurrences: How many rows each event takes up to the calendar's horizon, by event id.

    Args:
        now: Aware; the horizon lies around it.
        is_stopped: Whether nobody waits for the result any more.
        outcome: What becomes of it where it is too much, as a sentence.
    """

    def __init__(
        self,
        now: datetime,
        *,
        is_stopped: Callable[[], bool] = lambda: False,
        outcome: str = "Nothing was imported.",
    ) -> None:
        self.occurrences: dict[str, int] = {}
        self._horizon = horizon_around(now)
        self._is_stopped = is_stopped
        self._outcome = outcome
        self._events = self._series = self._total = 0
        self._until = time.thread_time() + _CPU_SECONDS

    def check(self, place: str) -> None:
        """Stop where reading takes too long, or nobody waits for it.

        Args:
            place: What is read next, for people: "line 12".

        Raises:
            InputError: It took too long.
            UnavailableError: Nobody waits.
        """
        if self._is_stopped():
            raise UnavailableError("the import was stopped; nothing was imported, try again later")
        if time.thread_time() > self._until:
            raise InputError(
                f"{place}: reading this takes too long. {self._outcome} "
                "Split it into smaller files and import them one after another"
            )

    def add(self, event: Event, place: str) -> None:
        """Count an event.

        Args:
            place: Where it stands, for people: "line 12".

        Raises:
            InputError: The file holds too much; the message says where, and what to do.
        """
        self._events += 1
        self._series += event.rrule is not None
        count = _occurrences(event, sum(1 for _ in original_starts(event, self._horizon)))
        self.occurrences[event.id] = count
        self._total += count
        for number, most, what in (
            (self._events, MOST_EVENTS, "events"),
            (self._series, MOST_SERIES, "repeating events"),
            (self._total, MOST_OCCURRENCES, "occurrences in the coming 13 months"),
        ):
            if number > most:
                raise InputError(
                    f"{place}: there are more than {most:,} {what} up to this point. {self._outcome} Remove events that repeat daily without an end, or import fewer at once"
                )


def _occurrences(event: Event, ahead: int) -> int:
    """Return what an event costs: all that a rule with COUNT gives are counted out each time it is read."""
    if event.rrule is None:
        return ahead
    return max(ahead, int(parse_rule(event.rrule).parts.get("COUNT", "0")))
