"""Times in the parameters of requests, read and said in the household's zone. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from kinkeeper.actions.requests.model import Asked
from kinkeeper.core.errors import InputError, UnclearError
from kinkeeper.core.time import check_told, midnight
from kinkeeper.reading.times import time_text

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time as it was asked for.

    Attributes:
        at: Aware, in the household's zone; the beginning of the day where only that was named.
        is_day: Whether only a day was named.
    """

    at: datetime
    is_day: bool = False


def read_moment(text: str, asked: Asked, *, around: datetime | None = None) -> Moment:
    """Return the time that a text means.

    Args:
        text: A date-time, a date, or a time of day, in ISO 8601; without offset it is local.
        asked: Who asks; in whose zone.
        around: Of what is being changed: a bare time of day means one on its day, a bare date its time of
            day. Without it a bare time of day is not understood, and a date is a whole day.

    Raises:
        InputError: It is no such time.
    """
    zone, plain = asked.household.zone, text.strip()
    try:
        if _DATE.fullmatch(plain):
            day = check_told(datetime.fromisoformat(plain)).date()
            if around is None:
                return Moment(at=midnight(day, zone), is_day=True)
            return Moment(at=datetime.combine(day, around.astimezone(zone).time(), tzinfo=zone))
        if _CLOCK.fullmatch(plain) and around is not None:
            clock = time.fromisoformat(plain.rjust(5, "0"))
            return Moment(at=datetime.combine(around.astimezone(zone).date(), clock, tzinfo=zone))
        instant = check_told(datetime.fromisoformat(plain))
    except ValueError as error:
        raise InputError(f"{text!r} is not a date or time; write e.g. 2026-03-05T16:30") from error
    return Moment(at=instant.astimezone(zone) if instant.tzinfo else instant.replace(tzinfo=zone))


def read_day(text: str, asked: Asked) -> date:
    """Return the local day on which a time lies.

    Raises:
        InputError: It is no date or date-time.
    """
    return read_moment(text, asked).at.date()


def require_ahead(moment: Moment, asked: Asked, question: str) -> None:
    """Refuse a time that has passed; of a bare day, one that is over.

    Args:
        moment: As it was asked for.
        asked: Who asks, when.
        question: What to ask the person.

    Raises:
        UnclearError: It has passed; the person is asked for another.
    """
    now = asked.now.astimezone(asked.household.zone)
    is_over = moment.at.date() < now.date() if moment.is_day else moment.at <= now
    if is_over:
        raise UnclearError(f"{said(moment, asked).capitalize()} has already passed. {question}")


def said(moment: Moment, asked: Asked) -> str:
    """Return a time in few words: "today 4:30pm", of a bare day "Thu 5 Mar"."""
    household = asked.household
    if moment.is_day:
        today = asked.now.astimezone(household.zone).date()
        return time_text.day(moment.at.date(), today=today, locale=household.locale)
    local = moment.at.astimezone(household.zone)
    return time_text.moment(local, now=asked.now, locale=household.locale)


def said_span(start: datetime, end: datetime, asked: Asked) -> str:
    """Return a span of time in few words."""
    zone, locale = asked.household.zone, asked.household.locale
    return time_text.span(
        start.astimezone(zone), end.astimezone(zone), now=asked.now, locale=locale
    )


def shifted(instant: datetime, by: timedelta) -> datetime:
    """Return an instant moved by a length of real time, in the zone it is in."""
    return (instant.astimezone(UTC) + by).astimezone(instant.tzinfo)


def put_off(instant: datetime, by: timedelta) -> datetime:
    """Return an instant moved by as much as people say: by whole days it keeps its hour, whatever the clocks do.

    Args:
        instant: Aware, in the household's zone.
        by: How much later, negative for earlier.
    """
    return shifted(instant, by) if by % timedelta(days=1) else instant + by
