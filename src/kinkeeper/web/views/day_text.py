"""Days and times in words, as the household's region writes them. Pure."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.core.time import Interval, day_ending_at
from kinkeeper.observer.redline.phrase_templates import Phrasing
from kinkeeper.reading.times import time_text

_HOUR = timedelta(hours=1)
_SOON = timedelta(hours=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Says days and times for one household at one moment.

    Attributes:
        phrasing: The household's words.
    """

    phrasing: Phrasing
    now: datetime

    @property
    def zone(self) -> ZoneInfo:
        """The household's timezone."""
        return self.phrasing.participants.household.zone

    @property
    def today(self) -> date:
        """The household's local day."""
        return self.local(self.now).date()

    @property
    def week_start(self) -> int:
        """First weekday of the calendar week in the household's region; 0 is Monday."""
        return time_text.week_start(self._locale)

    def local(self, instant: datetime) -> datetime:
        """Return an instant in the household's zone."""
        return instant.astimezone(self.zone)

    def clock(self, instant: datetime) -> str:
        """Return a local time of day: "4:30pm" or "16:30"."""
        return self.phrasing.clock(self.local(instant).time())

    def span(self, interval: Interval) -> str:
        """Return a span of time: "4:30pm – 5:30pm", with the day of an end that is another's."""
        start, end = self.local(interval.start), self.local(interval.end)
        if start == end:
            return self.clock(start)
        far = (
            "" if start.date() == end.date() or end - start < _SOON else f"{self.day(end.date())} "
        )
        return f"{self.clock(start)} – {far}{self.clock(end)}"

    def day(self, day: date) -> str:
        """Return a day in few words: "today", "tomorrow", "Thu 5 Mar" or "Thu Mar 5"."""
        return time_text.day(day, today=self.today, locale=self._locale)

    def heading(self, day: date) -> str:
        """Return a day in few words, as a heading: "Today", "Thu 5 Mar"."""
        text = self.day(day)
        return text[:1].upper() + text[1:]

    def short_day(self, day: date) -> str:
        """Return a day without its weekday: "5 Mar" or "Mar 5"."""
        return time_text.short_day(day, today=self.today, locale=self._locale)

    def long_day(self, day: date) -> str:
        """Return a day in full: "Thursday 5 March" or "Thursday, March 5"."""
        year = "" if day.year == self.today.year else f" {day.year}"
        comma = "" if self._is_day_first else ","
        ordered = self._ordered(str(day.day), time_text.MONTHS[day.month - 1])
        return f"{time_text.WEEKDAYS[day.weekday()]}{comma} {ordered}{year}"

    def month(self, day: date) -> str:
        """Return a month: "March 2026"."""
        return f"{time_text.MONTHS[day.month - 1]} {day.year}"

    def weekday(self, day: date) -> str:
        """Return the weekday of a day, in full."""
        return time_text.WEEKDAYS[day.weekday()]

    def moment(self, instant: datetime) -> str:
        """Return an instant in few words: "today 4:30pm"."""
        return f"{self.day(self.local(instant).date())} {self.clock(instant)}"

    def long_moment(self, instant: datetime) -> str:
        """Return an instant in full, as it is read aloud: "Thursday 5 March, 4:30pm"."""
        return f"{self.long_day(self.local(instant).date())}, {self.clock(instant)}"

    def lapse(self, expires_at: datetime) -> str:
        """Return when a proposal expires."""
        left = expires_at - self.now
        if left <= timedelta(0):
            return "Expired; it wasn't added."
        if left < _HOUR:
            minutes = max(1, int(left.total_seconds() // 60))
            unit = "minute" if minutes == 1 else "minutes"
            return f"Expires in {minutes} {unit}."
        day = day_ending_at(expires_at, self.zone)
        when = self.moment(expires_at) if day is None else f"at the end of {self.day(day)}"
        return f"Expires {when}."

    @property
    def _is_day_first(self) -> bool:
        return time_text.is_day_first(self._locale)

    @property
    def _locale(self) -> str:
        return self.phrasing.participants.household.locale

    def _ordered(self, day: str, month: str) -> str:
        return f"{day} {month}" if self._is_day_first else f"{month} {day}"
