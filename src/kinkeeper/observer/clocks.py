"""Bare figures as times of day: "5", "4.15", in the half of the day that fits. Pure."""

import re
from collections.abc import Iterator
from datetime import time

from kinkeeper.language.text import TokenKind
from kinkeeper.observer.reading import Reading

_HALF_DAY = 12
_MINUTES = 60
_CLOCK = re.compile(r"(?P<hour>\d{1,2}?)(?:[.:]?(?P<minute>\d\d))?")
_GIVEN_UP = re.compile(
    r"(?:\bnot|\bisn'?t|instead of|rather than|used to be|no longer|usually|normally|[,(;] was)"
    r"(?: (?:at|on|the|usual|from))*\s+$",
    re.IGNORECASE,
)


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


def figures(reading: Reading) -> Iterator[tuple[int, time]]:
    """Yield (offset, reading of a clock before noon) of each figure of a message that can be a time of day."""
    for token in reading.tokens:
        if token.kind not in {TokenKind.NUMBER, TokenKind.TIME}:
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
