"""Which hour of the day a bare number means."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from typing import Final

from kinkeeper.reading.times.partial import Clock

# Hours at which a part of the day begins and ends.
PARTS: Final[Mapping[str, tuple[float, float]]] = {
    "dawn": (6, 8),
    "breakfast": (7, 9),
    "morning": (8, 12),
    "noon": (12, 13),
    "lunch": (12, 14),
    "day": (8, 18),
    "business": (8, 18),
    "afternoon": (12, 18),
    "dinner": (18, 20),
    "evening": (18, 22),
    "tonight": (18, 24),
    "bedtime": (20, 21),
    "night": (20, 24),
}


OFFICES_OPEN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What decides the half of the day where nobody said it.

    Attributes:
        morning_begins: Hour from which a bare one is of the morning, where the words around speak of that.
        day_begins: Hour from which a bare one is of the morning, where the words around speak of working days or offices.
        usual_hour: Usual start of the activity talked about.
    """

    morning_begins: int | None = None
    day_begins: int | None = None
    usual_hour: time | None = None


def hour_of(clock: Clock, part: str | None, habits: Habits) -> int:
    """Return the hour (0 to 24) that a clock means.

    A half that was said wins, then a part of the day, then the words around, then the usual hour, then
    family life: 1 to 8 lie in the afternoon and evening, 9 to 12 are what they say. Offices open at 8, and what
    recurs on all working days at 6 to 8 does before they do.
    """
    hour = clock.hour
    if clock.half == "am":
        return hour % 12
    if clock.half == "pm":
        return hour % 12 + 12
    if clock.is_sure or hour > 12:
        return hour
    if part is not None:
        return _hour_in_part(hour, part)
    if habits.morning_begins is not None and habits.morning_begins <= hour <= 11:
        return hour
    if habits.usual_hour is not None and hour < 12:
        usual = habits.usual_hour.hour + habits.usual_hour.minute / 60
        said = hour + clock.minute / 60
        return hour if abs(said - usual) < abs(said + 12 - usual) else hour + 12
    if habits.day_begins is not None and habits.day_begins <= hour <= OFFICES_OPEN:
        return hour
    return hour + 12 if 1 <= hour <= 8 else hour


def _hour_in_part(hour: int, part: str) -> int:
    if part in {"morning", "dawn", "breakfast"}:
        return hour % 12 if hour == 12 else hour
    if part in {"night", "tonight"}:
        return (24 if hour == 12 else hour) if hour == 12 or hour <= 3 else hour + 12
    if part in {"noon", "lunch", "day", "business"}:
        return hour if 8 <= hour <= 12 else hour + 12
    return 12 if hour == 12 else hour + 12


def is_certain(clock: Clock, part: str | None) -> bool:
    """Whether the half of the day was said, or follows from the form."""
    return clock.half is not None or clock.is_sure or clock.hour > 12 or part is not None
