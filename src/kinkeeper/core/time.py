"""Clocks, instants and half-open intervals. The only module that reads the wall clock."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from kinkeeper.core.errors import InputError, InvariantError

A_DAY = timedelta(days=1)

_FIRST_YEAR, _LAST_YEAR = 1900, 2199


class Clock(Protocol):
    """Tells what time it is."""

    def now(self) -> datetime:
        """Return the current instant, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the wall clock's instant, aware, in UTC."""
        return datetime.now(UTC)


class VirtualClock:
    """A clock that only moves when told to, and never backwards.

    Replays and tests run on it.
    """

    def __init__(self, start: datetime) -> None:
        self._now = as_utc(start)

    def now(self) -> datetime:
        """Return the instant last moved to, aware, in UTC."""
        return self._now

    def advance_to(self, instant: datetime) -> None:
        """Move to `instant` if it lies ahead; an earlier instant changes nothing."""
        self._now = max(self._now, as_utc(instant))


def is_of_wrong_clock(noted: datetime, now: datetime) -> bool:
    """Whether something was noted as past by a clock that was wrong: it lies more than a day ahead.

    What a clock did that was wrong by less has only come too early, and is not done again.
    """
    return noted > now + A_DAY


def is_held_until(until: datetime, now: datetime, longest: timedelta) -> bool:
    """Whether something still waits: a clock that was set back does not make it wait for longer than it ever does.

    Args:
        until: When the wait is over, aware.
        longest: The longest time it can have been made to wait, > 0.
    """
    return until - longest <= now < until


class ForwardJumps:
    """Notices a clock that jumps ahead by more than a day, for work that deletes what is old.

    Nothing is old for a day after: until then a clock that was wrong can be set right. A machine that slept for as
    long looks the same; there the work waits a day.
    """

    def __init__(self) -> None:
        self._seen: datetime | None = None
        self._jumped_at: datetime | None = None

    def is_recent(self, now: datetime) -> bool:
        """Whether the clock has jumped within the last day; to be asked more often than once a day."""
        if self._seen is not None and now > self._seen + A_DAY:
            self._jumped_at = now
        self._seen = now
        return self._jumped_at is not None and is_held_until(self._jumped_at + A_DAY, now, A_DAY)


def as_utc(instant: datetime) -> datetime:
    """Return the same instant in UTC.

    Raises:
        InvariantError: `instant` has no timezone.
    """
    if instant.tzinfo is None:
        raise InvariantError("a datetime has no time zone; attach one first")
    return instant if instant.tzinfo is UTC else instant.astimezone(UTC)


def check_told(instant: datetime) -> datetime:
    """Return an instant that somebody tells, if it can be shown and reckoned with in every zone.

    Args:
        instant: With or without a zone.

    Raises:
        InputError: Its year is far from any that people speak of.
    """
    if not _FIRST_YEAR <= instant.year <= _LAST_YEAR:
        raise InputError(f"a time must lie between the years {_FIRST_YEAR} and {_LAST_YEAR}")
    return instant


def to_text(instant: datetime) -> str:
    """Return the storage form of an instant: fixed-width UTC ISO 8601, so text order is time order."""
    # Several times faster than strftime, and a message has a dozen instants.
    return as_utc(instant).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def from_text(text: str) -> datetime:
    """Return the instant of a storage form.

    Raises:
        InputError: `text` is not an aware ISO 8601 instant.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not an ISO 8601 date-time") from error
    if instant.tzinfo is None:
        raise InputError(f"{text!r} has no UTC offset; write e.g. 2026-03-03T16:30:00-06:00")
    return as_utc(instant)


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A span of time, start included, end excluded.

    Attributes:
        end: Aware, never before `start`; equal means an instant without extent.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        """Refuse naive or reversed bounds.

        Raises:
            InvariantError: A bound has no timezone, or `end` lies before `start`.
        """
        if as_utc(self.end) < as_utc(self.start):
            raise InvariantError(f"an interval ends before it starts: {self.start} .. {self.end}")

    def overlaps(self, other: "Interval") -> bool:
        """Whether the two share time; touching ends do not."""
        return self.start < other.end and other.start < self.end

    def widened(self, margin: timedelta) -> "Interval":
        """Return the interval longer by `margin` (>= 0) on both sides."""
        return Interval(self.start - margin, self.end + margin)

    @property
    def duration(self) -> timedelta:
        """Length, >= 0."""
        return self.end - self.start


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return when a local day begins."""
    return datetime.combine(day, time(), tzinfo=zone)


def last_of(day: date, zone: ZoneInfo) -> datetime:
    """Return the last instant of a local day."""
    return midnight(day + timedelta(days=1), zone) - datetime.resolution


def instant_told(text: str, zone: ZoneInfo) -> datetime:
    """Return the instant of a date or date-time in ISO 8601; of a date, its first.

    Args:
        text: As somebody wrote it; without an offset it is local.
    """
    try:
        instant = check_told(datetime.fromisoformat(text.strip()))
    except ValueError as error:
        raise InputError(
            f"{text!r} is not a date or time; write e.g. 2026-03-05 or 2026-03-05T16:30"
        ) from error
    return instant if instant.tzinfo else instant.replace(tzinfo=zone)


def latest_told(text: str, zone: ZoneInfo) -> datetime:
    """Return what `instant_told` does, but of a date its last instant."""
    instant = instant_told(text, zone)
    is_day = len(text.strip()) <= len("2026-03-05")
    return last_of(instant.date(), zone) if is_day else instant


def day_over(day: date, zone: ZoneInfo) -> datetime:
    """Return the UTC instant at which a local day ends."""
    return as_utc(midnight(day + timedelta(days=1), zone))


def day_ending_at(instant: datetime, zone: ZoneInfo) -> date | None:
    """Return the local day that ends at an instant; None where the instant is no local midnight."""
    local = instant.astimezone(zone)
    return local.date() - timedelta(days=1) if local.time() == time() else None


def local_days(first: date, last: date, zone: ZoneInfo) -> Interval:
    """Return the span of local days, of 23 to 25 hours each where clocks change.

    Args:
        first: First day.
        last: Last day, included; never before `first`.
    """
    return Interval(midnight(first, zone), midnight(last + timedelta(days=1), zone))
