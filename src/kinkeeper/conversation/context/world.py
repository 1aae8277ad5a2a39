"""What the present moment is like, as a few lines: the time, quiet hours, what comes next. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.waiting_words import occurrence_waiting
from kinkeeper.household.model import Household
from kinkeeper.messaging.quiet_hours import QuietHours
from kinkeeper.reading.times.regions import clock

AHEAD = timedelta(hours=24)
"""How far ahead what comes next is looked for."""

_MOST = 3
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PARTS = ((5, "night"), (12, "morning"), (17, "afternoon"), (22, "evening"), (24, "night"))


@dataclass(frozen=True, slots=True)
class World:
    """The moment.

    Attributes:
        lines: What there is to say of it.
        has_content: Whether there is more than the time.
    """

    lines: Sequence[str]
    has_content: bool


def world_at(
    now: datetime,
    coming: Sequence[Occurrence],
    household: Household,
    quiet: QuietHours | None = None,
) -> World:
    """Return what a moment is like.

    Args:
        now: Aware, in the household's zone.
        coming: What takes place from now on, by start.
        household: Whose zone and locale count.
        quiet: When messages come without a sound.
    """
    part = next(name for until, name in _PARTS if now.hour < until)
    told = [
        f"It is {_DAYS[now.weekday()]} {now.date().isoformat()}, {clock(now.time(), household.locale)}, {part}."
    ]
    is_quiet = quiet is not None and quiet.hold(now)
    if is_quiet:
        told.append("These are quiet hours.")
    told += [_line(each, now, household) for each in coming[:_MOST]]
    return World(told, has_content=is_quiet or bool(coming))


def _line(occurrence: Occurrence, now: datetime, household: Household) -> str:
    start = occurrence.interval.start.astimezone(household.zone)
    day = "" if start.date() == now.date() else f"{_DAYS[start.weekday()]} "
    when = (
        "all day"
        if occurrence.event.all_day
        else f"{day}at {clock(start.time(), household.locale)}"
    )
    waits = occurrence_waiting(
        occurrence, household.zone, name=lambda each: getattr(household.member(each), "name", each),
        moment=lambda at: f"{_DAYS[at.weekday()]} at {clock(at.time(), household.locale)}",
    )  # fmt: skip
    told = f"{' '.join(occurrence.event.summary.split())}, {when}"
    return f"Coming up: {told} ({waits})." if waits else f"Coming up: {told}."
