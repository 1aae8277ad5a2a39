"""A digest, and when somebody wants it: values and wall times. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from kinkeeper.actions.model import PendingAction
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc
from kinkeeper.messaging.outbound import QuietHours


@dataclass(frozen=True, slots=True, kw_only=True)
class Unassigned:
    """Something on one day that nobody has taken on.

    Attributes:
        task: What is to be done: "pickup", "dropoff", ...; None where only the event is known.
        children: Member ids of whom it is for.
        what: The activity or title, in words; empty where it is not known.
        start: Local time of day; None where it has no time.
        action_id: The open action that asks who does it; None where it is in the calendar already.
    """

    task: str | None
    children: tuple[str, ...]
    what: str
    start: time | None
    action_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What one person is told at one moment.

    Attributes:
        member: Member id of the person.
        at: When it was put together, aware.
        day: The local day it is for; tomorrow is the day after.
        waiting: Open actions that they can decide, those that expire first at the front.
        unassigned: What nobody has taken on for tomorrow, in order of time.
        expired: What expired unconfirmed since the last digest and can be brought back, the latest first.
    """

    member: str
    at: datetime
    day: date
    waiting: Sequence[PendingAction]
    unassigned: Sequence[Unassigned]
    expired: Sequence[PendingAction]

    @property
    def others_waiting(self) -> Sequence[PendingAction]:
        """What waits besides the questions that are told as unassigned already."""
        told = {each.action_id for each in self.unassigned}
        return [action for action in self.waiting if action.id not in told]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.waiting or self.unassigned or self.expired)

    @property
    def action_ids(self) -> list[str]:
        """Ids of the actions it tells of."""
        return [action.id for action in (*self.waiting, *self.expired)]


# When a digest is due. Pure: local wall times are kept across clock changes.

_DAY = timedelta(days=1)
_CLOCK = re.compile(
    r"(?P<hour>0?[1-9]|1[0-2])(?:[:.](?P<minute>[0-5]\d))?\s*(?P<half>[ap]m)"
    r"|(?P<hour24>[01]?\d|2[0-3])(?:[:.](?P<minute24>[0-5]\d))?"
)


def parse_time(text: str) -> time | None:
    """Return the local time somebody wants the digest at: "18:00", "7", "7:30pm"; None of "off"."""
    wanted = text.strip().casefold()
    if wanted == "off":
        return None
    read = _CLOCK.fullmatch(wanted)
    if read is None:
        raise InputError(f"{text!r} is not a time of day; write 18:00, 6pm or off")
    if read["half"] is None:
        return time(int(read["hour24"]), int(read["minute24"] or 0))
    hour = int(read["hour"]) % 12 + (12 if read["half"] == "pm" else 0)
    return time(hour, int(read["minute"] or 0))


def release(day: date, at: time, quiet: QuietHours) -> datetime:
    """Return the UTC instant at which the digest of a day goes out: never during quiet hours, but at their end.

    Args:
        at: The time the person chose.
        quiet: The household's quiet hours and zone.
    """
    wanted = as_utc(datetime.combine(day, at, tzinfo=quiet.zone))
    if not quiet.hold(wanted):
        return wanted
    local = wanted.astimezone(quiet.zone)
    end = local.date() if local.time() < quiet.end else local.date() + _DAY
    return as_utc(datetime.combine(end, quiet.end, tzinfo=quiet.zone))


def due_day(now: datetime, at: time, quiet: QuietHours) -> date | None:
    """Return the local day whose digest is due by now, the latest if several are; None during quiet hours.

    Args:
        at: The time the person chose.
        quiet: The household's quiet hours and zone.
    """
    if quiet.hold(now):
        return None
    today = now.astimezone(quiet.zone).date()
    days = (today - number * _DAY for number in range(3))
    return next((day for day in days if release(day, at, quiet) <= now), None)


def next_release(now: datetime, at: time, quiet: QuietHours) -> datetime:
    """Return the UTC instant of the next digest after now.

    Args:
        at: The time the person chose.
        quiet: The household's quiet hours and zone.
    """
    day = now.astimezone(quiet.zone).date() - _DAY
    while (instant := release(day, at, quiet)) <= now:
        day += _DAY
    return instant
