"""Times of a message as parameters of requests, and the window that a question is about. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from dateutil.rrule import rrulestr

from kinkeeper.conversation.planning.case import Case
from kinkeeper.conversation.planning.message import BARE_WEEKDAY, TIME_MARK
from kinkeeper.core.time import midnight
from kinkeeper.reading.times import read
from kinkeeper.reading.times.calendar_days import month_of, week_of, weekend_of
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan
from kinkeeper.reading.times.partial import WEEKDAY_CODES, Period
from kinkeeper.reading.times.time_text import week_start

_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)
_MORNING = 9
_MONTHS: Final = 12
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
    again = _one_recurrence([span for span in spans if span.recurrence])
    timed = next((span for span in spans if span.has_time and span.part_of_day is None), None)
    timed = timed or next((span for span in spans if span.has_time), None)
    dated = [span for span in spans if span.has_date and not span.recurrence]
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
    return Moment(day=day, start=start, end=end, rule=None, days=days, is_part=_is_part(timed))


def _one_recurrence(spans: Sequence[TimeSpan]) -> TimeSpan | None:
    """Return what recurs: "every other week" and "on Mondays" say together how often it does and when."""
    if not spans:
        return None
    days = next((each for each in spans if _BY_DAY.match(each.recurrence or "")), None)
    weeks = [each for each in spans if (each.recurrence or "").startswith("FREQ=WEEKLY")]
    often = next((each for each in weeks if "BY" not in (each.recurrence or "")), None)
    if often is None or days is None:
        return spans[0]
    rule = f"{often.recurrence};{(days.recurrence or '').removeprefix('FREQ=WEEKLY;')}"
    return replace(days, recurrence=rule, begin=max(often.begin, days.begin))


def shifted_rule(rule: str, days: int) -> str | None:
    """Return the rule of what recurs some days away from each time of something else; None where none says that.

    Args:
        rule: RFC 5545, of the other.
        days: Negative where it is before.
    """
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    if not days:
        return rule
    if parts["FREQ"] not in {"DAILY", "WEEKLY"} or parts.keys() & {"BYMONTH", "BYSETPOS"}:
        return None
    named = parts.get("BYDAY", "")
    if named:
        at = [WEEKDAY_CODES[(WEEKDAY_CODES.index(each) + days) % 7] for each in named.split(",")]
        parts["BYDAY"] = ",".join(at)
    return ";".join(f"{name}={value}" for name, value in parts.items())


def from_today(moment: Moment, spans: Sequence[TimeSpan], now: datetime) -> Moment:
    """Return what is told to last "until Friday" as beginning today; anything else as it is.

    Args:
        moment: What the spans say together.
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
        is_day_of_week = span.bound is None and NAMES_WEEKDAY.search(span.surface) is not None
        if is_day_of_week and rule.startswith("FREQ=WEEKLY") and "BYDAY" not in rule:
            rule = f"{rule};BYDAY={WEEKDAY_CODES[span.begin.weekday()]}"
        if _days(span) > 1 and span.bound != "from" and not _OPENS.match(span.surface):
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
    """Return the first day of a rule that does not lie before another; that one where the rule has none.

    Every other Monday begins on the next Monday, not on the one of the other week.
    """
    rule = ";".join(part for part in rule.split(";") if not part.startswith("INTERVAL="))
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
    elif _is_wide(timed) and timed.begin <= now < timed.until:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is left of a recurrence without some of its times.

    Attributes:
        rule: RFC 5545.
        first: The first day on which it is so.
        left_out: Single days of the rule on which it is not so.
    """

    rule: str
    first: date
    left_out: tuple[date, ...] = ()


def without(rule: str, first: date, left_out: Sequence[TimeSpan]) -> Kept | None:
    """Return what recurs without what was named as an exception; None where that cannot be said, or is nothing of it.

    Args:
        rule: RFC 5545, without the exception.
        first: Its first day.
        left_out: "Sundays", "the weekend", "December", "the 14th", "from the 20th to the 5th".
    """
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    dates = list[TimeSpan]()
    for span in left_out:
        if days := _days_of_week(span):
            kept = [each for each in _weekdays(rule) if each not in days]
            if not kept:
                return None
            rule = _with_part(rule.replace("FREQ=DAILY", "FREQ=WEEKLY"), "BYDAY", kept)
        elif span.recurrence:
            return None
        elif months := _whole_months(span):
            known = parts.get("BYMONTH", ",".join(map(str, range(1, _MONTHS + 1)))).split(",")
            parts["BYMONTH"] = ",".join(each for each in known if int(each) not in months)
            if not parts["BYMONTH"] or parts.get("FREQ") == "YEARLY":
                return None
            rule = _with_part(rule, "BYMONTH", [parts["BYMONTH"]])
        else:
            dates.append(span)
    times = rrulestr(rule, dtstart=datetime.combine(first, time()))
    gone = {
        each.date()
        for span in dates
        for each in times.between(
            datetime.combine(span.begin.date(), time()),
            datetime.combine(_last_day(span), time()),
            inc=True,
        )
    }
    begins = next((each.date() for each in times if each.date() not in gone), None)
    if begins is None or (dates and not gone):
        return None
    return Kept(
        rule=rule, first=begins, left_out=tuple(sorted(each for each in gone if each > begins))
    )


def _with_part(rule: str, name: str, values: Sequence[str]) -> str:
    kept = [each for each in rule.split(";") if not each.startswith(f"{name}=")]
    return ";".join([*kept, f"{name}={','.join(values)}"])


def _days_of_week(span: TimeSpan) -> Sequence[str]:
    """Return the days of the week that a time names, whenever that is; none where it is a day of the calendar."""
    if span.recurrence:
        return () if "INTERVAL" in span.recurrence else _weekdays(span.recurrence)
    words = _OPENS.sub("", span.surface).strip()
    is_weekend = words.lower().removeprefix("the ").rstrip("s") == "weekend"
    if not is_weekend and not BARE_WEEKDAY.match(words):
        return ()
    return [
        WEEKDAY_CODES[(span.begin + timedelta(days=past)).weekday()] for past in range(_days(span))
    ]


def _whole_months(span: TimeSpan) -> Sequence[int]:
    """Return the months that a time names, of whatever year; none where it begins or ends within one."""
    begin, after = span.begin.date(), span.until.date()
    length = (after.year - begin.year) * _MONTHS + after.month - begin.month
    if (begin.day, after.day) != (1, 1) or not 1 <= length < _MONTHS:
        return ()
    return [(begin.month + past - 1) % _MONTHS + 1 for past in range(length)]


def _weekdays(rule: str) -> Sequence[str]:
    """Return the days of the week of a rule that names them, or means all of them; none for another."""
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    if parts.get("FREQ") == "DAILY" and parts.keys() <= {"FREQ", "UNTIL"}:
        return WEEKDAY_CODES
    days = parts.get("BYDAY", "").split(",")
    return days if parts.get("FREQ") == "WEEKLY" and {*days} <= {*WEEKDAY_CODES} else ()


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
    if any(span.has_date and span.bound != _UNTIL for each in days for span in each):
        return ()
    again = [span for span in said if span.recurrence]
    return [each if any(span.recurrence for span in each) else [*each, *again] for each in days]


def daily_until(
    spans: Sequence[TimeSpan],
    listed: Sequence[Sequence[TimeSpan]],
    lengths: Sequence[TimeSpan],
    now: datetime,
) -> Sequence[TimeSpan]:
    """Return times of which the days recur at the hours beside them: "at 8 and 8 until Friday", "for the next 5 days at 7".

    Args:
        listed: Several hours, of which an end says that they are of each day until then.
        lengths: "A week", which is an end, too.
        now: Aware, in the household's zone.
    """
    if any(each.recurrence for each in spans) or not any(each.has_time for each in spans):
        return spans
    for each in [*spans, *lengths] if listed else spans:
        is_days = each.kind is SpanKind.RANGE and each.has_date and not each.has_time
        is_until = each.has_date and each.bound == _UNTIL
        is_end = bool(listed) and (is_until or each in lengths)
        if (is_days or is_end) and (_days(each) > 1 or each.bound == _UNTIL):
            last = each.begin.date() if each.bound == _UNTIL else _last_day(each)
            daily = replace(
                each,
                kind=SpanKind.RECURRING,
                recurrence=f"FREQ=DAILY;UNTIL={last:%Y%m%d}",
                has_date=False,
                bound=None,
                begin=now if is_end else each.begin,
            )
            return [*(span for span in spans if span is not each), daily]
    return spans


# The time that a question is about, as a window with a beginning and an end. Pure.

_DAY, _ONE_HOUR, _WEEK = timedelta(days=1), timedelta(hours=1), timedelta(days=7)
_MOMENT = timedelta(microseconds=1)
_EARLIER: Final = (timedelta(days=7), timedelta(days=31), timedelta(days=366))
"""How long before now a day is looked for that somebody speaks of in the past: "on the 4th", "in June"."""

_SAME_TIME = re.compile(
    rf"\b(?:this|the same) time,? (?:the )?(?P<mark>{TIME_MARK})", re.IGNORECASE
)
_COMING = re.compile(
    r"(?:in |over |for |during )*(?:the )?(?:next|coming) (?:\d|few|couple|two|three|four|five|six|seven|ten)|(?:in |over |within |during )?the (?:next|coming) (?:week|month|year)\b",
    re.IGNORECASE,
)
"""Days from now on, today among them."""

_NOW = re.compile(r"\b(?:now|at the moment|currently)\b", re.IGNORECASE)
_AFTER = re.compile(
    rf"(?P<mark>{TIME_MARK}) after (?P<which>next|this(?: one)?|that(?: one)?|the next)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time that a question names.

    Attributes:
        begin: Aware, in the household's zone.
        until: Exclusive, aware.
        is_days: Whether whole days are meant.
        is_point: Whether a time of day without an end was named: "at 5".
        is_from_now: Whether it begins now, and ends with a day: "before Friday".
    """

    begin: datetime
    until: datetime
    is_days: bool
    is_point: bool = False
    is_from_now: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """What a list of events takes of it."""
        first, last = self.begin.date(), (self.until - _MOMENT).date()
        days: dict[str, Any] = {"from": first.isoformat(), "days_ahead": (last - first).days + 1}
        if self.is_days:
            return days
        if self.is_from_now:
            return {"days_ahead": (last - first).days}
        since, until = (f"{each:%H:%M}" for each in (self.begin, self.until))
        return days | {
            name: hour
            for name, hour in (("since", since), ("until", until))
            if hour != "00:00" and (name == "since" or first == last)
        }


def window_of(part: str, case: Case, *, is_past: bool = False) -> Window | None:
    """Return the time that a part of a message names, if it names any.

    Args:
        part: With marks.
        is_past: Whether it is asked about what has been.
    """
    spans = [each for each in case.message.times(part) if each.kind is not SpanKind.DURATION]
    if is_past:
        spans = [_earlier(each, case) for each in spans]
    spans = [_moved(each, part, case) for each in spans]
    dated = next((each for each in spans if each.has_date), None)
    timed = next((each for each in spans if each.has_time), None)
    if dated is None and timed is None:
        return _now(case) or _recurring(spans, case)
    if dated is not None and is_past:
        dated = _over(dated, case)
    if dated is not None and timed is None:
        dated = _with_next_days(dated, spans)
    if timed is None or (dated is not None and dated is not timed and _is_long(dated)):
        return _days_window(dated or spans[0], case)
    if dated is not None and dated is not timed:
        timed = _on_day(timed, dated)
        if not is_past and timed.until <= case.now and NAMES_WEEKDAY.search(dated.surface):
            timed = replace(timed, begin=timed.begin + _WEEK, until=timed.until + _WEEK)
    elif timed.recurrence == "FREQ=DAILY":
        return None
    return _hours(timed, case)


def _with_next_days(dated: TimeSpan, spans: Sequence[TimeSpan]) -> TimeSpan:
    """Return days with those that are named beside them and follow at once: "Saturday and Sunday"."""
    for each in spans:
        if each.has_date and each.begin == dated.until and not each.recurrence:
            dated = replace(dated, until=each.until)
    return dated


def window_with(day: date, unit: str, case: Case) -> Window | None:
    """Return the weekend, week, month or day that a day lies in; None for other words.

    Args:
        day: Local.
        unit: "weekend", "week", "month" or "day".
    """
    match unit.lower():
        case "weekend":
            period = weekend_of(day)
        case "week":
            period = week_of(day, week_start(case.household.locale))
        case "month":
            period = month_of(day.year, day.month)
        case "day":
            period = Period(day, day + _DAY, "day")
        case _:
            return None
    zone = case.household.zone
    return Window(
        begin=midnight(period.first, zone), until=midnight(period.after, zone), is_days=True
    )


def _is_long(span: TimeSpan) -> bool:
    return span.until - span.begin > 2 * _DAY


def _days_window(span: TimeSpan, case: Case) -> Window:
    zone, now = case.household.zone, case.now
    if _COMING.match(span.surface):
        begin = midnight(now.date(), zone)
        span = replace(span, begin=begin, until=begin + (span.until - span.begin))
    match span.bound:
        case "before":
            return Window(
                begin=now, until=max(span.begin, now + _ONE_HOUR), is_days=False, is_from_now=True
            )
        case "by" | "until":
            return Window(
                begin=now, until=max(span.until, now + _ONE_HOUR), is_days=False, is_from_now=True
            )
        case "after":
            return Window(begin=span.until, until=span.until + _WEEK, is_days=True)
        case "since":
            begin = span.begin if span.begin < now else span.begin - _WEEK
            return Window(begin=begin, until=now, is_days=True)
        case _:
            last = (span.until - _MOMENT).date()
            until = midnight(last + _DAY, zone)
            return Window(begin=midnight(span.begin.date(), zone), until=until, is_days=True)


def _hours(span: TimeSpan, case: Case) -> Window:
    end_of_day = midnight(span.begin.date() + _DAY, case.household.zone)
    match span.bound:
        case "before" | "by" | "until":
            day = midnight(span.begin.date(), case.household.zone)
            begin = max(day, case.now) if day <= case.now < span.begin else day
            return Window(begin=begin, until=span.begin, is_days=False)
        case "after" | "from":
            return Window(begin=span.begin, until=end_of_day, is_days=False)
        case _ if span.named is not None:
            return Window(begin=span.begin, until=end_of_day, is_days=False)
        case _:
            is_point = span.until - span.begin <= _ONE_HOUR and span.kind is not SpanKind.RANGE
            until = span.begin + _ONE_HOUR if is_point else span.until
            return Window(begin=span.begin, until=until, is_days=False, is_point=is_point)


def _now(case: Case) -> Window | None:
    if _NOW.search(case.message.text) is None:
        return None
    return Window(
        begin=case.now, until=case.now + timedelta(minutes=1), is_days=False, is_point=True
    )


def _recurring(spans: Sequence[TimeSpan], case: Case) -> Window | None:
    again = next((each for each in spans if each.recurrence and not each.has_time), None)
    return None if again is None else _days_window(again, case)


def _on_day(timed: TimeSpan, dated: TimeSpan) -> TimeSpan:
    begin = datetime.combine(dated.begin.date(), timed.begin.timetz())
    return replace(timed, begin=begin, until=begin + (timed.until - timed.begin))


def _earlier(span: TimeSpan, case: Case) -> TimeSpan:
    """Return the time that was last called so, where the words could also mean one to come."""
    if span.begin <= case.now or not span.has_date:
        return span
    for reach in _EARLIER:
        found = read(span.surface, case.now - reach, locale=case.household.locale)
        past = next((each for each in found if each.has_date and each.begin <= case.now), None)
        if past is not None:
            return past
    return span


def _over(span: TimeSpan, case: Case) -> TimeSpan:
    """Return the part of some days that is over, where it is asked about what has been."""
    today = midnight(case.now.date(), case.household.zone)
    return replace(span, until=today) if span.begin < today < span.until else span


def _moved(span: TimeSpan, part: str, case: Case) -> TimeSpan:
    """Return what "this time next week" and "the weekend after next" make of a time."""
    same, after = _SAME_TIME.search(part), _AFTER.search(part)
    if same is not None and _surface(same["mark"], case) == span.surface:
        return _whole_day(span, case) if span.grain is Grain.WEEK else span
    if after is not None and _surface(after["mark"], case) == span.surface:
        by = 2 * _WEEK if "next" in after["which"].lower() else _WEEK
        return replace(span, begin=span.begin + by, until=span.until + by)
    return span


def _surface(mark: str, case: Case) -> str:
    return span.surface if (span := case.message.spans.get(mark)) is not None else ""


def _whole_day(week: TimeSpan, case: Case) -> TimeSpan:
    """Return the day of another week that today is of this one."""
    days = (week.begin.date() - case.now.date()).days
    away = timedelta(days=-(-days // _WEEK.days) * _WEEK.days)
    begin = datetime.combine(case.now.date() + away, time(), tzinfo=case.household.zone)
    return replace(week, begin=begin, until=begin + _DAY, grain=Grain.DAY)
