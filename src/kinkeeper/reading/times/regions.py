"""How a region writes days and times: the clock, the order of day and month, the week's first day. Pure.

A locale is a language and a region, "en-US"; one without a region is taken for American.
"""

import re
from datetime import date, time

_SUNDAY_FIRST = frozenset({
    "US", "CA", "MX", "BR", "JP", "IN", "IL", "ZA", "KR", "TW", "HK", "PH", "SG", "TH", "SA", "CO",
    "PE", "VE", "KE",
})  # fmt: skip
_SATURDAY_FIRST = frozenset({
    "EG", "AE", "DZ", "IQ", "JO", "KW", "QA", "BH", "OM", "SY", "LY", "AF", "IR",
})  # fmt: skip
_MONTH_FIRST = frozenset({"US", "PH", "PR", "GU", "FM"})
_TWELVE_HOUR = frozenset({"US", "CA", "AU", "NZ", "IN", "PH", "SG", "MY", "ZA", "EG", "PK", "BD"})
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
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


def short_day(day: date, locale: str) -> str:
    """Return a day as the region writes it: "Thu 5 Mar" or "Thu Mar 5"."""
    number, month = str(day.day), _MONTHS[day.month - 1]
    ordered = f"{number} {month}" if is_day_first(locale) else f"{month} {number}"
    return f"{_DAYS[day.weekday()]} {ordered}"


def _region(locale: str) -> str:
    parts = re.split("[-_]", locale)
    return parts[-1].upper() if len(parts) > 1 else "US"
