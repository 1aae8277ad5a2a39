"""What a query says beside its subject: whose words are meant, of when, and what kind of answer it wants."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.terms import words
from kinkeeper.reading.times import read
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W_]+")
_YEARS_BACK = 10
_TOLD_LATER = {
    Grain.WEEK: timedelta(days=3),
    Grain.MONTH: timedelta(days=3),
    Grain.YEAR: timedelta(days=3),
}
_TOLD_OF_A_DAY_WITHIN = timedelta(days=2)
_HALF_LIFE_DAYS = 30.0
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A time that a query asks for.

    Attributes:
        begin: In seconds.
        until: In seconds, excluded.
    """

    begin: float
    until: float


def periods_of(text: str, now: datetime, *, locale: str = "en-US") -> tuple[Period, ...]:
    """Return the times that a query names, as times of telling.

    What is remembered lies behind: a day or month without its year may be that of any year up to now,
    and what happened on a day is told on it or soon after.

    Args:
        now: When it is asked, aware, in the zone to read it in.
        locale: Decides the order of numeric dates.
    """
    spans = [span for span in read(text, now, locale=locale) if _names_days(span)]
    periods = [period for span in spans for period in _periods(span, now)]
    dated = {year for span in spans for year in _YEAR.findall(span.surface)}
    for year in sorted({*_YEAR.findall(text)} - dated):
        begin = datetime(int(year), 1, 1, tzinfo=now.tzinfo)
        periods.append(_told(begin, begin.replace(year=begin.year + 1), Grain.YEAR))
    return tuple(periods)


def with_names(text: str, called: Mapping[str, str]) -> str:
    """Return a query with the names of those whom it calls otherwise ("Mum"): what is remembered tells names.

    Args:
        called: Names by other words for whom they are, in lower case.
    """
    said = set(_WORD.findall(text.casefold()))
    names = {
        name
        for other, name in called.items()
        if said.issuperset(_WORD.findall(other))
        and not said.issuperset(_WORD.findall(name.casefold()))
    }
    return " ".join([text, *sorted(names)])


def without_names(text: str, names: frozenset[str]) -> str:
    """Return a query without names; as it is where nothing else would be left.

    Args:
        names: Words of names, as `terms.words` reads them.
    """
    told = [(part, {*words(part)}) for part in text.split()]
    rest = " ".join(part for part, own in told if not own or not own <= names)
    return text if next(words(rest), None) is None else rest


def is_within(said_at: NDArray[np.float64], periods: Sequence[Period]) -> NDArray[np.bool_]:
    """Return whether times lie in any period.

    Args:
        said_at: In seconds.
    """
    found = np.zeros(said_at.shape, np.bool_)
    for period in periods:
        found |= (said_at >= period.begin) & (said_at < period.until)
    return found


def recency(said_at: NDArray[np.float64], now: float) -> NDArray[np.float64]:
    """Return how recent times are: 1 now, a half a month ago.

    Args:
        said_at: In seconds; what lies ahead counts as now.
        now: In seconds.
    """
    days = np.maximum(0.0, now - said_at) / _SECONDS_A_DAY
    return np.asarray(0.5 ** (days / _HALF_LIFE_DAYS))


def _names_days(span: TimeSpan) -> bool:
    return span.has_date and span.kind in {SpanKind.DATE, SpanKind.DATETIME, SpanKind.RANGE}


def _periods(span: TimeSpan, now: datetime) -> list[Period]:
    begin, until = span.begin, span.until
    if span.kind is SpanKind.DATETIME:
        begin = begin.replace(hour=0, minute=0, second=0, microsecond=0)
        until = begin + timedelta(days=1)
    if begin <= now or _YEAR.search(span.surface):
        return [_told(begin, until, span.grain)]
    if until - begin <= timedelta(days=1) and begin - now <= timedelta(days=7):
        # "on Tuesday" is the last one just as well.
        week = timedelta(days=7)
        return [_told(begin, until, span.grain), _told(begin - week, until - week, span.grain)]
    return [
        _told(_years_before(begin, years), _years_before(until, years), span.grain)
        for years in range(_YEARS_BACK + 1)
    ]


def _told(begin: datetime, until: datetime, grain: Grain) -> Period:
    later = _TOLD_LATER.get(grain, _TOLD_OF_A_DAY_WITHIN)
    return Period(begin=begin.timestamp(), until=(until + later).timestamp())


def _years_before(instant: datetime, years: int) -> datetime:
    try:
        return instant.replace(year=instant.year - years)
    except ValueError:  # the 29th of February
        return instant.replace(year=instant.year - years, day=28)


# What kind of answer a question wants. Pure.


class Want(IntEnum):
    """One kind of answer; the value is its column."""

    WHEN = 0
    HOW_LONG = 1
    HOW_MANY = 2
    WHO = 3
    WHERE = 4
    WHY = 5
    HOW = 6
    YES_OR_NO = 7
    NAME = 8
    LIST = 9


_PLACES = "city|country|place|town|state|street"
_PATTERNS = {
    Want.WHEN: (
        r"^when|^(?:on |in )?(?:what|which) (?:day|days|date|time|month|year|week)\b"
        r"|(?:since|until|from) when|\bhow long ago\b"
    ),
    Want.HOW_LONG: r"\bhow (?:long|often|old)\b",
    Want.HOW_MANY: r"\bhow (?:many|much|big|far|high|heavy|tall)\b",
    Want.WHO: r"\b(?:who|whom|whose)\b",
    Want.WHERE: rf"\bwhere\b|\b(?:what|which) (?:{_PLACES})\b",
    Want.WHY: r"\bwhy\b|\bwhat (?:made|motivat|inspir|caused|prompted)|\breason\b",
    Want.HOW: r"^how (?!many|much|long|often|old|big|far)",
    Want.YES_OR_NO: r"^(?:would|could|is|are|does|do|did|was|were|has|have|can|might|will)\b",
    Want.NAME: r"\b(?:name|named|called|title)\b",
    Want.LIST: (
        r"\bwhat (?:are|kinds?|types?|activities|things|books|events|items|places|hobbies)\b"
        r"|\bwhich .*s\b have|\bin what ways\b"
    ),
}
_COMPILED = [re.compile(_PATTERNS[want], re.IGNORECASE) for want in Want]


def wants_of(text: str) -> NDArray[np.bool_]:
    """Return which kinds of answers a question wants: shape (kinds,).

    Args:
        text: A question, or any other words: most want nothing.
    """
    return np.array([pattern.search(text) is not None for pattern in _COMPILED])
