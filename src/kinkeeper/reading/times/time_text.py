"""Days and times in few words, as a region writes them: the clock, the order, the first day of a week."""

import re
from datetime import date, datetime, time, timedelta

# How a region writes days and times: the clock, the order of day and month, the week's first day.
# Pure.
#
# A locale is a language and a region, "en-US"; one without a region is taken for American.

_SUNDAY_FIRST = frozenset(
    {
        "US",
        "CA",
        "MX",
        "BR",
        "JP",
        "IN",
        "IL",
        "ZA",
        "KR",
        "TW",
        "HK",
        "PH",
        "SG",
        "TH",
        "SA",
        "CO",
        "PE",
        "VE",
        "KE",
    }
)
_SATURDAY_FIRST = frozenset(
    {"EG", "AE", "DZ", "IQ", "JO", "KW", "QA", "BH", "OM", "SY", "LY", "AF", "IR"}
)
_MONTH_FIRST = frozenset({"US", "PH", "PR", "GU", "FM"})
_TWELVE_HOUR = frozenset({"US", "CA", "AU", "NZ", "IN", "PH", "SG", "MY", "ZA", "EG", "PK", "BD"})
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONDAY, _SATURDAY, _SUNDAY = 0, 5, 6
_NOON = 12


def week_start(locale: str) -> int:
    """Return the first day of the calendar's week; 0 is Monday."""
    region = _region(locale)
    return (
        _SUNDAY if region in _SUNDAY_FIRST else _SATURDAY if region in _SATURDAY_FIRST else _MONDAY
    )


def is_day_first(locale: str) -> bool:
    """Whether 3/4 is the third of April."""
    return _region(locale) not in _MONTH_FIRST


def clock(moment: time, locale: str) -> str:
    """Return a time of day as the region writes it: "4:30pm" or "16:30"."""
    if _region(locale) not in _TWELVE_HOUR:
        return moment.strftime("%H:%M")
    minutes = f":{moment.minute:02d}" if moment.minute else ""
    return f"{moment.hour % _NOON or _NOON}{minutes}{'am' if moment.hour < _NOON else 'pm'}"


def day_with_weekday(day: date, locale: str) -> str:
    """Return a day as the region writes it: "Thu 5 Mar" or "Thu Mar 5"."""
    number, month = str(day.day), MONTHS[day.month - 1][:3]
    ordered = f"{number} {month}" if is_day_first(locale) else f"{month} {number}"
    return f"{WEEKDAYS[day.weekday()][:3]} {ordered}"


def _region(locale: str) -> str:
    parts = re.split("[-_]", locale)
    return parts[-1].upper() if len(parts) > 1 else "US"


_DAY = timedelta(days=1)


def day(said: date, *, today: date, locale: str) -> str:
    """Return a day: "today", "tomorrow", "Thu 5 Mar" or "Thu Mar 5", with the year where it is another.

    Args:
        locale: Whose way of writing counts.
    """
    near = {today: "today", today + _DAY: "tomorrow", today - _DAY: "yesterday"}
    if said in near:
        return near[said]
    return f"{WEEKDAYS[said.weekday()][:3]} {short_day(said, today=today, locale=locale)}"


def short_day(said: date, *, today: date, locale: str) -> str:
    """Return a day without its weekday: "5 Mar" or "Mar 5", with the year where it is another.

    Args:
        locale: Whose way of writing counts.
    """
    year = "" if said.year == today.year else f" {said.year}"
    number, month = str(said.day), MONTHS[said.month - 1][:3]
    return f"{f'{number} {month}' if is_day_first(locale) else f'{month} {number}'}{year}"


def moment(said: datetime, *, now: datetime, locale: str) -> str:
    """Return an instant: "today 4:30pm", "Thu 5 Mar 16:30".

    Args:
        said: Aware, in the zone in which it is told.
        locale: Whose way of writing counts.
    """
    today = now.astimezone(said.tzinfo).date()
    return f"{day(said.date(), today=today, locale=locale)} {clock(said.time(), locale)}"


def span(start: datetime, end: datetime, *, now: datetime, locale: str) -> str:
    """Return a span of time: "today 4:30pm – 5:30pm", with the day of an end that is on another.

    Args:
        start: Aware, in the zone in which it is told.
        end: Aware, in the same zone.
        locale: Whose way of writing counts.
    """
    begin = moment(start, now=now, locale=locale)
    if start == end:
        return begin
    if start.date() == end.date():
        return f"{begin} – {clock(end.time(), locale)}"
    return f"{begin} – {moment(end, now=now, locale=locale)}"
