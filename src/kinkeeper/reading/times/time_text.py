"""Days and times in few words, as a region writes them. Pure."""

from datetime import date, datetime, timedelta

from kinkeeper.reading.times.regions import clock, is_day_first

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAY = timedelta(days=1)


def day(said: date, *, today: date, locale: str) -> str:
    """Return a day: "today", "tomorrow", "Thu 5 Mar" or "Thu Mar 5", with the year where it is another.

    Args:
        said: The day.
        today: The day it is.
        locale: Whose way of writing counts.
    """
    near = {today: "today", today + _DAY: "tomorrow", today - _DAY: "yesterday"}
    if said in near:
        return near[said]
    return f"{WEEKDAYS[said.weekday()][:3]} {short_day(said, today=today, locale=locale)}"


def short_day(said: date, *, today: date, locale: str) -> str:
    """Return a day without its weekday: "5 Mar" or "Mar 5", with the year where it is another.

    Args:
        said: The day.
        today: The day it is.
        locale: Whose way of writing counts.
    """
    year = "" if said.year == today.year else f" {said.year}"
    number, month = str(said.day), MONTHS[said.month - 1][:3]
    return f"{f'{number} {month}' if is_day_first(locale) else f'{month} {number}'}{year}"


def moment(said: datetime, *, now: datetime, locale: str) -> str:
    """Return an instant: "today 4:30pm", "Thu 5 Mar 16:30".

    Args:
        said: Aware, in the zone in which it is told.
        now: Aware.
        locale: Whose way of writing counts.
    """
    today = now.astimezone(said.tzinfo).date()
    return f"{day(said.date(), today=today, locale=locale)} {clock(said.time(), locale)}"


def span(start: datetime, end: datetime, *, now: datetime, locale: str) -> str:
    """Return a span of time: "today 4:30pm – 5:30pm", with the day of an end that is on another.

    Args:
        start: Aware, in the zone in which it is told.
        end: Aware, in the same zone.
        now: Aware.
        locale: Whose way of writing counts.
    """
    begin = moment(start, now=now, locale=locale)
    if start == end:
        return begin
    if start.date() == end.date():
        return f"{begin} – {clock(end.time(), locale)}"
    return f"{begin} – {moment(end, now=now, locale=locale)}"
