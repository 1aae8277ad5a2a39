"""Times that a model names: what the time rules make of the quoted words, counted from the day of the quoted message. Pure.

A model's own sum stands only where it equals what the rules read, or a known time with what was said added.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from enum import Enum
from typing import Final

from kinkeeper.reading.times import NamedTimeWords, read
from kinkeeper.reading.times.model import TimeSpan

_HALF_A_DAY: Final = timedelta(hours=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Quoted words for a time.

    Attributes:
        text: The message they stand in.
        start: Offset of their first character.
        end: Offset past their last character.
        sent_at: When it was sent, aware, in the household's zone.
    """

    text: str
    start: int
    end: int
    sent_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """All that was said of when something is.

    Attributes:
        day: Words for the day, or a day that is known; None where nothing was said.
        hour: Words for the time of day, or a time that is known.
        known: When the thing is that it is about, as far as that is known.
        days: Days that were named in the talk before.
    """

    day: Words | date | time | None
    hour: Words | date | time | None
    known: datetime | date | None
    days: Collection[date] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRules:
    """How times are read in a household.

    Attributes:
        locale: Decides the order of numeric dates and the week's first day.
    """

    zone: tzinfo | None
    locale: str
    named_times: Sequence[NamedTimeWords]

    def spans(self, words: Words, reference: datetime | None = None) -> Sequence[TimeSpan]:
        """Return the times that quoted words name: read in their message, else by themselves.

        Args:
            reference: Count from here instead of from when they were sent.
        """
        at = reference or words.sent_at
        around = [
            each
            for each in self._read(words.text, at)
            if each.start_char < words.end and words.start < each.end_char
        ]
        return around or self._read(words.text[words.start : words.end], at)

    def _read(self, text: str, at: datetime) -> Sequence[TimeSpan]:
        return read(text, at, locale=self.locale, named_times=self.named_times)


class Standing(Enum):
    """What a model's sum stands on."""

    SAID = "said"  # on the words that it quotes, or on a known time
    BEFORE = "before"  # on a day that was named in the talk before
    NOTHING = "nothing"


def settled_time(
    spoken: Spoken, claimed: datetime | date | None, rules: TimeRules
) -> tuple[datetime | date | None, Standing]:
    """Return when something is, and what a model's sum stands on; one that stands on nothing is no time.

    Args:
        spoken: What was said of it.
        claimed: The model's sum, local where it has a time of day; None where it gives none.
    """
    read_so = _read_so(spoken, rules)
    is_its_day = isinstance(read_so, datetime) and claimed == read_so.date()
    if claimed is None or is_its_day:
        return read_so, Standing.SAID
    alone = replace(spoken, day=_alone(spoken.day), hour=_alone(spoken.hour))
    for each in (spoken, alone):
        if claimed in {*_possible(each, _read_so(each, rules), rules)}:
            return claimed, Standing.SAID
    if spoken.day is None and claimed in {*_on_days_before(spoken, read_so)}:
        return claimed, Standing.BEFORE
    return read_so, Standing.NOTHING


def _alone(words: Words | date | time | None) -> Words | date | time | None:
    """Return quoted words out of their message: "the red one tonight" is nothing at one o'clock."""
    if not isinstance(words, Words):
        return words
    quote = words.text[words.start : words.end]
    return Words(text=quote, start=0, end=len(quote), sent_at=words.sent_at)


def _on_days_before(spoken: Spoken, read_so: datetime | date | None) -> Iterator[datetime | date]:
    """Yield what was said, on each day that was named before."""
    if spoken.hour is None:
        yield from spoken.days
    elif isinstance(read_so, datetime):
        yield from (replace_day(read_so, day) for day in spoken.days)


def claimed_time(text: str | None, like: datetime) -> datetime | date | None:
    """Return the moment or day that a model writes, in the zone of another; None where it is none.

    Args:
        text: "2026-03-12" or "2026-03-12T17:30".
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (
            found.replace(tzinfo=like.tzinfo, second=0, microsecond=0)
            if "T" in text or ":" in text
            else found.date()
        )
    except ValueError:
        return None


def _read_so(spoken: Spoken, rules: TimeRules) -> datetime | date | None:
    """Return what the rules make of the words alone; a day that only the thing has counts where an hour was said."""
    hour, hour_day = _hour(spoken.hour, rules)
    if hour is None:
        hour, _ = _hour(spoken.day, rules, is_exact=True)
    day = _day(spoken.day, rules) or _day(spoken.hour, rules)
    if day is None and hour is not None:
        day = _known_day(spoken.known) or hour_day
    if day is None or hour is None:
        return day
    return datetime.combine(day, hour, tzinfo=rules.zone)


def _possible(
    spoken: Spoken, read_so: datetime | date | None, rules: TimeRules
) -> Iterator[datetime | date]:
    """Yield each time that the words, and the words with what is known, may come to."""
    if read_so is not None:
        yield read_so
    if isinstance(read_so, datetime):
        yield from _other_half(spoken.hour, read_so, rules)
        if spoken.day is None and (hour_day := _hour(spoken.hour, rules)[1]):
            yield replace_day(read_so, hour_day)
    known = spoken.known
    if spoken.day is None and spoken.hour is None and known is not None:
        yield known
        yield _known_day(known) or known
    if not isinstance(known, datetime):
        return
    if read_so is not None and not isinstance(read_so, datetime):
        yield replace_day(known, read_so)
    for words in (spoken.day, spoken.hour):
        if isinstance(words, Words):
            yield from _shifted(words, known, rules)


def replace_day(at: datetime, day: date) -> datetime:
    """Return the same time of day on another day."""
    return datetime.combine(day, at.timetz())


def _other_half(
    hour: Words | date | time | None, at: datetime, rules: TimeRules
) -> Iterator[datetime]:
    """Yield the other half of the day, where a bare hour leaves it open."""
    if isinstance(hour, Words) and any(
        each.has_time and not each.is_meridiem_known for each in rules.spans(hour)
    ):
        yield from (
            other for other in (at - _HALF_A_DAY, at + _HALF_A_DAY) if other.date() == at.date()
        )


def _shifted(words: Words, known: datetime, rules: TimeRules) -> Iterator[datetime]:
    """Yield a known time moved by what was said, where the words count from wherever they are read ("later")."""
    from_known, from_sent = rules.spans(words, known), rules.spans(words)
    for moved, read_so in zip(from_known, from_sent, strict=False):
        if moved.begin - known == read_so.begin - words.sent_at != timedelta():
            yield moved.begin


def _day(words: Words | date | time | None, rules: TimeRules) -> date | None:
    if not isinstance(words, Words):
        return words if isinstance(words, date) else None
    return next((each.begin.date() for each in rules.spans(words) if each.has_date), None)


def _hour(
    words: Words | date | time | None, rules: TimeRules, *, is_exact: bool = False
) -> tuple[time | None, date | None]:
    """Return a time of day, and the day on which the rules alone would put it; of exact ones alone, no part of a day."""
    if not isinstance(words, Words):
        return words if isinstance(words, time) else None, None
    for each in rules.spans(words):
        if each.has_time and not (is_exact and each.part_of_day):
            return each.begin.time(), each.begin.date()
    return None, None


def days_named(text: str, sent_at: datetime, rules: TimeRules) -> frozenset[date]:
    """Return the days that a message names.

    Args:
        sent_at: When it was sent, aware, in the household's zone.
    """
    words = Words(text=text, start=0, end=len(text), sent_at=sent_at)
    return frozenset(each.begin.date() for each in rules.spans(words) if each.has_date)


def _known_day(known: datetime | date | None) -> date | None:
    return known.date() if isinstance(known, datetime) else known
