"""The times of a message to the assistant, with what planning ahead makes of some of them. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from kinkeeper.core.time import midnight
from kinkeeper.household.model import Household
from kinkeeper.reading.times import NamedTimeWords, read
from kinkeeper.reading.times.model import Grain, TimeSpan
from kinkeeper.reading.times.spans import first_of_week

_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_TILL: Final = re.compile(r"\b(?:un)?till?\s+$", re.IGNORECASE)
_MONTHS: Final = frozenset(
    [
        "january",
        "jan",
        "february",
        "feb",
        "march",
        "mar",
        "april",
        "apr",
        "may",
        "june",
        "jun",
        "july",
        "jul",
        "august",
        "aug",
        "september",
        "sept",
        "sep",
        "october",
        "oct",
        "november",
        "nov",
        "december",
        "dec",
        "spring",
        "summer",
        "autumn",
        "winter",
    ]
)
_MOVED: Final = re.compile(
    r"(?P<old>\b(?:mov|push|postpon|shift|reschedul|chang|switch|swap|brought|bring)\w*\b[^.!?;]*?\bfrom (?:the |next |this )?(?:[a-z]*day|tomorrow|tonight|\d[\w]*(?: of)? [a-z]+)\b[^.!?;,]{0,12}?)(?P<to> to )",
    re.IGNORECASE,
)
_BARE_WEEKDAY: Final = re.compile(
    r"^(?:(?:on|the)\s+)*(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*(?:\s+at\b.*)?$", re.IGNORECASE
)


def times_in(text: str, now: datetime, household: Household) -> Sequence[TimeSpan]:
    """Return the times of a text as somebody means them who plans ahead.

    The old day and the new one of what is moved are two, and no range; "till after Easter" ends with Easter; and on the
    last day of a week "this week" goes on through the one that begins tomorrow, for of the other nothing is left to plan.

    Args:
        text: Plain.
        now: When it is said, aware, in the household's zone.
        household: Whose words and zone are meant.
    """
    return [
        _with_week_ahead(_until_over(each, text), now, household.zone)
        for each in _spans(text, now, household)
    ]


def _until_over(span: TimeSpan, text: str) -> TimeSpan:
    if span.bound != "after" or _TILL.search(text[: span.start_char]) is None:
        return span
    return replace(span, bound="until", begin=span.until, until=span.until + _DAY)


def _with_week_ahead(span: TimeSpan, now: datetime, zone: ZoneInfo) -> TimeSpan:
    is_last_day = span.begin <= now and (span.until.date() - now.date()) == _DAY
    if span.grain is not Grain.WEEK or not is_last_day or span.recurrence:
        return span
    return replace(span, begin=midnight(now.date(), zone), until=span.until + _WEEK)


def _without_names(text: str, household: Household) -> str:
    """Return a text of the same length in which people who are called like a month or season are no time.

    "A haircut for Dec on Thursday", "June can't come"; but "in June", "6 Dec" and "Dec 6" are what they are for all.
    """
    names = {each for member in household.members for each in (member.name, *member.aliases)}
    timely = [re.escape(each) for each in names if each.lower() in _MONTHS]
    if not timely:
        return text
    named = re.compile(
        rf"(?<!\bin )(?<!\bof )(?<!\blate )(?<!\bmid )(?<!\bearly )(?<!\bnext )(?<!\blast )(?<!\bthis )(?<![\dhtd] )"
        rf"(?<!\buntil )(?<!\btill )(?<!\bsince )(?<!\bfrom )(?<!\bevery )\b(?:{'|'.join(timely)})\b(?!\.? ?\d)",
        re.IGNORECASE,
    )
    return named.sub(lambda found: "x" * len(found[0]), text)


def _spans(text: str, now: datetime, household: Household) -> Sequence[TimeSpan]:
    text = _without_names(text, household)
    parted = _MOVED.sub(lambda found: f"{found['old']} ;{' ' * (len(found['to']) - 2)}", text)
    named = [
        NamedTimeWords(id=each.id, words=each.aliases, start=each.start) for each in household.times
    ]
    spans: Sequence[TimeSpan] = read(parted, now, locale=household.locale, named_times=named)
    for place, (old, new) in enumerate(pairwise(spans), start=1):
        if ";" in parted[old.end_char : new.start_char] and parted != text:
            first = first_of_week(old.begin.date(), 0)
            left = replace(old, bound=None)  # it is not so from then on, but no longer then
            spans = [*spans[: place - 1], left, _in_week(new, first, now), *spans[place + 1 :]]
    return spans


def _in_week(span: TimeSpan, first: date, now: datetime) -> TimeSpan:
    """Return a day of the week as the one of the week that begins with a day, unless that is over."""
    if not (span.has_date and _BARE_WEEKDAY.match(span.surface)):
        return span
    ahead = (span.begin.date() - first).days
    by = timedelta(days=ahead % 7 - ahead)
    begin = span.begin + by
    return replace(span, begin=begin, until=span.until + by) if begin > now else span
