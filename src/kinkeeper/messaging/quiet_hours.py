"""Hours in which messages come without a sound. Pure."""

from dataclasses import dataclass
from datetime import datetime, time
from typing import Self
from zoneinfo import ZoneInfo

from kinkeeper.core.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """A span of every day, possibly over midnight.

    Attributes:
        start: First local moment of it.
        end: First local moment after it; the same as `start` means never.
        zone: Whose local time.
    """

    start: time
    end: time
    zone: ZoneInfo

    @classmethod
    def parse(cls, text: str, zone: ZoneInfo) -> Self:
        """Return the hours written as "22:00-07:00".

        Raises:
            InputError: It is written otherwise.
        """
        try:
            start, end = (time.fromisoformat(part.strip()) for part in text.split("-"))
        except ValueError as error:
            raise InputError(f"{text!r} is not a range of hours; write e.g. 22:00-07:00") from error
        if start.tzinfo or end.tzinfo:
            raise InputError(f"{text!r} has a UTC offset; write the household's local time")
        return cls(start=start, end=end, zone=zone)

    def hold(self, instant: datetime) -> bool:
        """Whether an instant (aware) lies within."""
        local = instant.astimezone(self.zone).time()
        if self.start <= self.end:
            return self.start <= local < self.end
        return local >= self.start or local < self.end
