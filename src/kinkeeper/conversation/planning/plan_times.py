"""Times of a message as parameters of requests: ISO 8601 in the household's zone. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final

from dateutil.rrule import rrulestr

from kinkeeper.reading.times.model import SpanKind, TimeSpan
from kinkeeper.reading.times.partial import WEEKDAY_CODES

_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)
_MORNING = 9
_UNTIL = "until"
NAMES_WEEKDAY: Final = re.compile(
    r"^(?:(?:on|by|until|from|the|coming)\s+)*(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b",
    re.IGNORECASE,
)
_END_OF = re.compile(r"\bend of\b", re.IGNORECASE)
"""What is due then is due on its last day."""

_OPENS = re.compile(r"^(?:starting|beginning|from|as of|as from)\b", re.IGNORECASE)
_BY_DAY = re.compile(r"FREQ=WEEKLY;BYDAY=(?P<days>[A-Z,]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When something is, as far as it was said.

    Attributes:
        day: The day that was named, if any.
        start: Day and time, aware, where a time was named.
        end: Exclusive, where the words give one.
        rule: RFC 5545 rule, where it recurs.
        days: How many days the words span, >= 1; 0 where no day was named.
        is_part: Whether the time is only a part of the day ("this evening").
    """

    day: date | None
    start: datetime | None
    end: datetime | None
    rule: str | None
    days: int
    is_part: bool

    @property
    def text(self) -> str | None:
        """The moment as ISO 8601: a date-time where a time was said, else a date, else nothing."""
        if self.start is not None:
            return self.start.isoformat()
        return self.day.isoformat() if self.day is not None else None

    @property
    def partial(self) -> str | None:
        """Only what was said: "HH:MM" without a day, a date without a time, or both."""
        if self.start is not None and self.day is None:
            return f"{self.start:%H:%M}"
        return self.text


def moment_of(spans: Sequence[TimeSpan], now: datetime) -> Moment | None:
    """Return what several times of one request say together, if there are any.

    Args:
        spans: Times of the request; lengths are left out.
        now: Aware, in the household's zone.
    """
    spans = [span for span in spans if span.kind is not SpanKind.DURATION]
    if not spans:
        return None
    again = next((span for span in spans if span.recurrence), None)
    timed = next((span for span in spans if span.has_time and span.part_of_day is None), None)
    timed = timed or next((span for span in spans if span.has_time), None)
    dated = [span for span in spans if span.has_date and span is not again]
    if again is not None:
        return _repeated(again, timed, dated, now)
    opens = next((span for span in dated if span.bound != _UNTIL), None)
    closes = next((span for span in dated if span.bound == _UNTIL), None)
    base = opens or closes
    day = base.begin.date() if base is not None else None
    days = _days(base, closes) if base is not None else 0
    if base is not None and _END_OF.search(base.surface):
        day, days = _last_day(base), 1
    if (
        base is not None
        and day == now.date()
        and NAMES_WEEKDAY.search(base.surface)
        and timed is not None
    ):
        begins = datetime.combine(day, timed.begin.timetz())
        # "On Sunday at one", said on a Sunday afternoon, is the next one.
        day += timedelta(days=7) if begins <= now else timedelta()
    start, end = _start_and_end(timed, day, now)
    return Moment(
        day=day, start=start, end=end, rule=None, days=days,
        is_part=_is_part(timed),
    )  # fmt: skip


def from_today(moment: Moment, spans: Sequence[TimeSpan], now: datetime) -> Moment:
    """Return what is told to last "until Friday" as beginning today; anything else as it is.

    Args:
        moment: What the spans say together.
        spans: As they were said.
        now: Aware, in the household's zone.
    """
    dated = [span for span in spans if span.has_date]
    if moment.rule or moment.start or not dated or any(span.bound != _UNTIL for span in dated):
        return moment
    days = (dated[0].begin.date() - now.date()).days + 1
    return replace(moment, day=now.date(), days=max(days, 1))


def on_each_day(moment: Moment, spans: Sequence[TimeSpan]) -> Moment:
    """Return what lasts several days at the same hours ("14th to 18th, 9 to 3") as recurring daily; else as it is.

    Args:
        moment: What the spans say together.
        spans: As they were said.
    """
    has_hours = any(
        span.kind is SpanKind.RANGE and span.has_time and not span.has_date for span in spans
    )
    if moment.rule or moment.day is None or moment.end is None or moment.days <= 1 or not has_hours:
        return moment
    last = moment.day + timedelta(days=moment.days - 1)
    return replace(moment, rule=f"FREQ=DAILY;UNTIL={last:%Y%m%d}", days=1)


def _is_part(timed: TimeSpan | None) -> bool:
    if timed is None or timed.kind is SpanKind.RANGE:
        return False
    return timed.part_of_day is not None and _is_wide(timed)


def _repeated(
    again: TimeSpan, timed: TimeSpan | None, dated: Sequence[TimeSpan], now: datetime
) -> Moment:
    """Return what recurs, from the first time of it on to the day that was named as the last."""
    rule = again.recurrence or ""
    first, last = again.begin.date(), None
    for span in dated:
        if span.bound == _UNTIL:
            last = span.begin.date()
            continue
        first = max(first, span.begin.date())
        if _days(span) > 1 and not _OPENS.match(span.surface):
            last = _last_day(span)
    if last is not None and "UNTIL=" not in rule:
        rule = f"{rule};UNTIL={last:%Y%m%d}"
    day = _first_of(rule, first)
    start, end = _start_and_end(timed, day, now)
    if start is not None and start <= now:
        day = _first_of(rule, now.date() + timedelta(days=1))
        start, end = _start_and_end(timed, day, now)
    return Moment(day=day, start=start, end=end, rule=rule, days=1, is_part=_is_part(timed))


def _first_of(rule: str, earliest: date) -> date:
    """Return the first day of a rule that does not lie before another; that one where the rule has none."""
    found = next(iter(rrulestr(rule, dtstart=datetime.combine(earliest, time()))), None)
    return earliest if found is None else found.date()


def _start_and_end(
    timed: TimeSpan | None, day: date | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    if timed is None:
        return None, None
    start = timed.begin
    if day is not None:
        start = datetime.combine(day, start.timetz())
    elif _is_wide(timed) and timed.begin < now < timed.until:
        if timed.part_of_day == "morning" and "this" not in timed.surface.lower():
            # "In the morning" said in the morning is the next one.
            return timed.begin + timedelta(days=1), timed.until + timedelta(days=1)
        # "This afternoon" said in the afternoon: what is left of it.
        start = (now + _HOUR).replace(minute=0, second=0, microsecond=0)
    end = start + (timed.until - timed.begin) if _has_end(timed) else None
    return start, end


def _has_end(timed: TimeSpan) -> bool:
    """Whether the words say until when; of what recurs, a minute or hour alone is only its precision."""
    length = timed.until - timed.begin
    if timed.kind is SpanKind.RECURRING:
        return length > _MINUTE and length != _HOUR
    return timed.kind is SpanKind.RANGE or length > _HOUR


def _is_wide(span: TimeSpan) -> bool:
    return span.until - span.begin > _HOUR


def _days(span: TimeSpan, closes: TimeSpan | None = None) -> int:
    last = _last_day(span) if closes is None else closes.begin.date()
    return max(1, (last - span.begin.date()).days + 1)


def _last_day(span: TimeSpan) -> date:
    return (span.until - timedelta(microseconds=1)).date()


def without_days(
    moment: Moment | None, left_out: Sequence[TimeSpan], now: datetime
) -> Moment | None:
    """Return what recurs on days of the week without some of them; None where that cannot be said.

    Args:
        moment: As it was said without the exception.
        left_out: Days that were named as exceptions: "Sunday", "the weekend".
        now: Aware, in the household's zone.
    """
    days = _weekdays(moment.rule) if moment is not None and moment.rule is not None else ()
    gone = {
        code
        for span in left_out
        for code in _weekdays(span.recurrence or "")
        or [
            WEEKDAY_CODES[(span.begin + timedelta(days=past)).weekday()]
            for past in range(_days(span))
        ]
    }
    kept = [code for code in days if code not in gone]
    if moment is None or moment.day is None or not kept:
        return None
    # "Every day except Sunday at 7" names the time with the exception.
    clock = moment.start or next((span.begin for span in left_out if span.has_time), None)
    coming = [moment.day + timedelta(days=past) for past in range(len(WEEKDAY_CODES) + 1)]
    day = next(
        each for each in coming
        if WEEKDAY_CODES[each.weekday()] in kept
        and (clock is None or datetime.combine(each, clock.timetz()) > now)
    )  # fmt: skip
    return replace(
        moment, day=day, rule=f"FREQ=WEEKLY;BYDAY={','.join(kept)}", end=None,
        start=datetime.combine(day, clock.timetz()) if clock is not None else None,
    )  # fmt: skip


def _weekdays(rule: str) -> Sequence[str]:
    if rule == "FREQ=DAILY":
        return WEEKDAY_CODES
    found = _BY_DAY.fullmatch(rule)
    return found["days"].split(",") if found is not None else ()


def reminded_at(moment: Moment | None, now: datetime) -> str | None:
    """Return when to remind of something of which only the day was said: in the morning, at once if that has passed."""
    if moment is None or moment.start is not None or moment.day is None:
        return None
    morning = datetime(
        moment.day.year, moment.day.month, moment.day.day, _MORNING, tzinfo=now.tzinfo
    )
    if morning <= now:
        morning = (now + _HOUR).replace(minute=0, second=0, microsecond=0)
    return morning.isoformat()


def each_of(
    days: Sequence[Sequence[TimeSpan]], said: Sequence[TimeSpan], moment: Moment
) -> Sequence[Sequence[TimeSpan]]:
    """Return what is said of each of several times; of what recurs ("8am and 8pm every day") each recurs.

    Args:
        days: The times that are listed, one by one.
        said: All times of the part.
        moment: What they come to together.
    """
    if moment.rule is None:
        return days
    if any(span.has_date for each in days for span in each):
        return ()
    again = [span for span in said if span.recurrence]
    return [
        each if any(span.recurrence for span in each) else [*each, *again] for each in days
    ]  # fmt: skip
