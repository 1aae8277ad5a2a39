"""Bare figures as times of day: "5", "4.15", in the half of the day that fits. Pure."""

import re
from collections.abc import Iterator, Sequence
from datetime import time

from kinkeeper.language.text import Token, TokenKind, words_before
from kinkeeper.observer.wording.clauses import clause_around
from kinkeeper.observer.wording.message_view import Reading

_FIGURES = frozenset({TokenKind.NUMBER, TokenKind.TIME})
_HALF_DAY = 12
_MINUTES = 60
_CLOCK = re.compile(r"(?P<hour>\d{1,2}?)(?:[.:]?(?P<minute>\d\d))?")
_GIVEN_UP = re.compile(
    r"(?:\bnot|\bisn'?t|instead of|rather than|used to be|no longer|usually|normally|[,(;] was)"
    r"(?: (?:at|on|the|usual|from))*\s+$",
    re.IGNORECASE,
)


_DOTTED = re.compile(
    r"(?<![\w.£$€₹#])(?P<hour>\d{1,2})\.(?P<minute>[0-5][05])(?!\.?\w|%)(?! ?(?:off|each|quid|kg|km|bucks|pounds|euro|dollars|per|%|percent|for))"
)
_COMING_OUT = re.compile(
    r"(?<!\w)(?:they|he|she|school|<child>|<kids>) (?:(?:will|is|are|be|all|both|only) )*"
    r"(?:leave|leaves|finish|finishes|finishing|done|out|over|closes?|ends?|come|comes|get|gets|dismissed)(?!\w)"
)
_MINE = re.compile(r"(?<!\w)(?:my|our)(?!\w)")
_HOURS = 24
_FIRST_SCHOOL_HOUR = 6
AFTERNOON = time(14)
"""Of a bare figure the half of the day in which families meet: 8 to 12 before noon, 1 to 7 after."""

_COUNTED = re.compile(
    r"\s*(?:min|minute|hour|hr|day|week|month|year|time|more|of|kid|people|mile|km|quid|percent|%|st\b|nd\b|rd\b|th\b)",
    re.IGNORECASE,
)


def is_given_up(before: str) -> bool:
    """Whether the words before a time or day say that it does not hold any more ("not", "instead of").

    Args:
        before: The text up to it.
    """
    return _GIVEN_UP.search(before) is not None


def gives_up_an_hour(text: str, tokens: Sequence[Token]) -> bool:
    """Tell whether a message has a figure that is said not to hold any more ("it's 9.15, not 9.30").

    Args:
        text: The message.
        tokens: The same, cut.
    """
    return any(
        each.kind in _FIGURES and is_given_up(words_before(text, each.start)) for each in tokens
    )


def figures(reading: Reading) -> Iterator[tuple[int, time]]:
    """Yield (offset, reading of a clock before noon) of each figure of a message that can be a time of day."""
    for token in reading.tokens:
        if token.kind not in _FIGURES:
            continue
        match = _CLOCK.fullmatch(token.text)
        if match is None:
            continue
        hour, minute = int(match["hour"]), int(match["minute"] or 0)
        is_counted = _COUNTED.match(reading.text, token.end) is not None
        if 0 < hour <= _HALF_DAY and minute < _MINUTES and not is_counted:
            yield token.start, time(hour % _HALF_DAY, minute)


def nearer(clock: time, near: time) -> time:
    """Of the two halves of the day the one in which a clock reading is nearer to another."""
    wanted = near.hour * _MINUTES + near.minute
    hours = (clock.hour % _HALF_DAY, clock.hour % _HALF_DAY + _HALF_DAY)
    return time(
        min(hours, key=lambda hour: abs(hour * _MINUTES + clock.minute - wanted)), clock.minute
    )


def dotted_time(reading: Reading, at: int | None, *, is_in_school_hours: bool) -> list[time]:
    """Return the time of a job that is written with a point and nothing before it ("fetch her 12.30"), no sum of money.

    Args:
        reading: The message, or a part of it.
        at: Skeleton offset of the job, if it is named.
        is_in_school_hours: Whether it is one for which a morning hour is meant as such.

    Returns:
        The time, or nothing where none is written so.
    """
    match = next(
        (
            m
            for m in _DOTTED.finditer(reading.text)
            if not _is_read(reading, m.start()) and _is_of_the_job(reading, m.start(), at)
        ),
        None,
    )
    if match is None or not 0 < int(match["hour"]) < _HOURS:
        return []
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > _HALF_DAY or (is_in_school_hours and hour >= _FIRST_SCHOOL_HOUR):
        return [time(hour, minute)]
    return [nearer(time(hour % _HALF_DAY, minute), AFTERNOON)]


def has_dotted_hour(reading: Reading) -> bool:
    """Whether a time is written with a point and not read yet ("kick-off is 9.15"), no sum of money."""
    return any(
        not _is_read(reading, match.start()) and 0 < int(match["hour"]) < _HOURS
        for match in _DOTTED.finditer(reading.text)
    )


def _is_of_the_job(reading: Reading, start: int, at: int | None) -> bool:
    """Whether a figure stands in the clause of the job, or in one that tells when the children come out."""
    place = next(
        (symbol.at for symbol in reading.symbols if symbol.start <= start < symbol.end), None
    )
    if place is None:
        return False
    first, last = clause_around(reading, place)
    beside = reading.skeleton[first:place].rpartition(",")[2]
    is_own = at is not None and first <= at < last and _MINE.search(beside) is None
    if at is not None and at < first and not beside.strip():
        # "Can you bring her today? 4.30."
        return True
    return is_own or _COMING_OUT.search(reading.skeleton[first:last]) is not None


def _is_read(reading: Reading, at: int) -> bool:
    return any(span.start_char <= at < span.end_char for span in reading.spans)
