"""What a time expression says: frozen values."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class SpanKind(StrEnum):
    """What a span of text denotes."""

    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    RANGE = "range"
    DURATION = "duration"
    RECURRING = "recurring"


class Grain(StrEnum):
    """How precise it is."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    """One time expression found in a text.

    Attributes:
        surface: The words, verbatim.
        start_char: Offset of the first character in the text.
        end_char: Offset past the last character.
        begin: Aware, in the asked zone. A date begins at midnight; a time falls on the day it
            means; of a duration, the reference instant.
        until: Exclusive end, aware.
        grain: Precision of `begin`.
        recurrence: RFC 5545 rule without prefix, for recurring.
        often: How often it is on each of its days ("twice a day").
        has_date: Whether the words name a day (or a span of days).
        has_time: Whether the words name a time of day (a part of day such as "this evening" counts).
        part_of_day: "morning", "noon", "afternoon", "evening", "night" or None, where the words say it.
        is_meridiem_known: Whether am/pm was said, or is certain from 24-hour form, part of day or
            context words; False means a bare "4" or "4:30" whose half of the day was inferred.
        is_half_open: Whether a time to the minute is as likely one of the morning as of the evening: "7.15" of a meeting.
        is_away: Whether it is told by how long it is from now: "in an hour", "in 3 days".
        named: Id of the named time ("after-school") that gave the time, if any.
        bound: "by", "before", "until", "after", "since" or "from" where the words only bound the time by `begin`.
        other_day: Where the weekday and the date do not agree ("Friday the 12th", a Saturday): the day of that name
            which lies nearest. Nobody knows then which one is meant.
    """

    surface: str
    start_char: int
    end_char: int
    kind: SpanKind
    begin: datetime
    until: datetime
    grain: Grain
    recurrence: str | None = None
    often: int = 1
    has_date: bool = False
    has_time: bool = False
    part_of_day: str | None = None
    is_meridiem_known: bool = True
    is_half_open: bool = False
    is_away: bool = False
    named: str | None = None
    bound: str | None = None
    other_day: date | None = None


def without_spans(text: str, spans: Iterable[TimeSpan]) -> str:
    """Return a text with a space in the place of each of some times that were read in it."""
    for span in sorted(spans, key=lambda each: each.start_char, reverse=True):
        text = f"{text[: span.start_char]} {text[span.end_char :]}"
    return text
