"""What a few words say about a time, and whether two such readings belong together."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Final


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as said.

    Attributes:
        hour: 0 to 24.
        minute: 0 to 59.
        second: 0 to 59, or None when not said.
        half: "am", "pm" or None.
        is_sure: The 24-hour form leaves no doubt.
        has_minute: Minutes were said.
    """

    hour: int
    minute: int = 0
    second: int | None = None
    half: str | None = None
    is_sure: bool = False
    has_minute: bool = False


@dataclass(frozen=True, slots=True)
class Period:
    """A span of days.

    Attributes:
        first: First day.
        after: Day after the last.
        grain: "day", "week", "month", "quarter", "season", "year" or "decade".
    """

    first: date
    after: date
    grain: str


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time: calendar months, days and exact seconds."""

    months: int = 0
    days: int = 0
    seconds: int = 0
    grain: str = "minute"

    def plus(self, other: "Length") -> "Length":
        """Return both lengths together; the finer grain counts."""
        return Length(
            self.months + other.months,
            self.days + other.days,
            self.seconds + other.seconds,
            other.grain,
        )

    def negated(self) -> "Length":
        """Return the length backwards."""
        return Length(-self.months, -self.days, -self.seconds, self.grain)


@dataclass(frozen=True, slots=True)
class Every:
    """A recurrence: RFC 5545 frequency with its parts, weekdays apart, and how often it is on each day."""

    rule: str
    weekdays: tuple[int, ...] = ()
    often: int = 1

    @property
    def is_weekly(self) -> bool:
        """Whether it counts weeks and says no day of them."""
        return self.rule.startswith("FREQ=WEEKLY") and not (self.weekdays or "BYDAY" in self.rule)

    def text(self, closes: date | None = None) -> str:
        """Return the RFC 5545 rule.

        Args:
            closes: Its last day, where it has one.
        """
        names = ",".join(WEEKDAY_CODES[day] for day in sorted(set(self.weekdays)))
        days = f";BYDAY={names}" if names else ""
        last = f";UNTIL={closes:%Y%m%d}" if closes is not None else ""
        return f"{self.rule}{days}{last}"


def sure_clock(hour: int, minute: int, second: int | None = None) -> Clock:
    """Return a clock that leaves no doubt about the half of the day."""
    return Clock(hour, minute, second, is_sure=True, has_minute=True)


WEEKDAY_CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """Slots that the words of one expression fill, each at most once.

    Attributes:
        month: 1 to 12.
        day: Day of the month.
        weekday: 0 is Monday.
        lean: For a weekday or month: 0 this, 1 next, -1 last, 2 coming, -2 past; None when not said.
        on: An exact day.
        period: Days that the expression lies in or is.
        part: Part of the day.
        shade: "early" or "late" part of the day.
        instant: An exact instant, aware.
        length: How long.
        opens: Day before which a recurrence does not begin.
        closes: Last day of a recurrence.
        numbers: Two numbers that are a day and month or an hour and minute: "7.30".
        number: One number that may be an hour or a day: "4".
        four: Hour, minute, digits of a number that may be a time: 1630.
        named: Id of a named time.
        bound: "by", "before", "until", "after", "since".
        is_weak: Says nothing unless something else joins it.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    lean: int | None = None
    on: date | None = None
    period: Period | None = None
    clock: Clock | None = None
    part: str | None = None
    shade: str | None = None
    instant: datetime | None = None
    instant_grain: str | None = None
    length: Length | None = None
    every: Every | None = None
    opens: date | None = None
    closes: date | None = None
    numbers: tuple[int, int, str] | None = None
    number: int | None = None
    four: tuple[int, int, int] | None = None
    named: str | None = None
    bound: str | None = None
    is_weak: bool = False

    @property
    def is_undecided(self) -> bool:
        """Whether it has a number of which it is open what it counts."""
        return self.number is not None or self.four is not None or self.numbers is not None

    @property
    def has_date(self) -> bool:
        """Whether a day, or a span of days, is named."""
        return any(
            value is not None
            for value in (self.month, self.day, self.weekday, self.on, self.period, self.year)
        )

    @property
    def has_day(self) -> bool:
        """Whether one single day is named."""
        return self.day is not None or self.weekday is not None or self.on is not None

    @property
    def has_time(self) -> bool:
        """Whether a time or part of the day is named."""
        return self.clock is not None or self.part is not None

    @property
    def is_number_only(self) -> bool:
        """Whether nothing but an undecided number is known."""
        return not (self.has_date or self.has_time or self.instant or self.length or self.every)


_UNDECIDED = ("number", "four", "numbers")
_SLOTS = tuple(
    field.name for field in fields(Partial) if field.name not in {"is_weak", "bound", *_UNDECIDED}
)
# What is said only once in an expression: saying it again begins another.
_ONCE = ("weekday", "clock", "month", "on", "period", "length", "part")


def merge(left: Partial, right: Partial) -> Partial | None:
    """Return what both say together, or None where they contradict or repeat each other."""
    left, right = _decide(left, right), _decide(right, left)
    if left.is_undecided and right.is_undecided:
        return None
    if left.instant is not None or right.instant is not None:
        return _merge_instant(left, right)
    if any(getattr(left, name) is not None and getattr(right, name) is not None for name in _ONCE):
        return None
    changes: dict[str, object] = {"is_weak": False, "bound": left.bound or right.bound}
    for name in _SLOTS:
        mine, other = getattr(left, name), getattr(right, name)
        if mine is not None and other is not None and mine != other:
            return None
        changes[name] = other if mine is None else mine
    for name in _UNDECIDED:
        changes[name] = getattr(left, name) or getattr(right, name)
    merged = replace(left, **changes)  # type: ignore[arg-type]  # names come from the class itself
    return None if _is_torn(merged) else _on_day_of_week(merged)


def _on_day_of_week(partial: Partial) -> Partial:
    """Return what comes every so many weeks with the day of the week on which it does: "every two weeks on Friday"."""
    weekday, every = partial.weekday, partial.every
    if every is None or weekday is None or partial.day is not None or not every.is_weekly:
        return partial
    return replace(partial, weekday=None, every=replace(every, weekdays=(weekday,)))


def _is_torn(partial: Partial) -> bool:
    """Whether an exact day has another weekday or number than what is said of it: "before Christmas on the 20th"."""
    on = partial.on
    return on is not None and (
        partial.weekday not in {None, on.weekday()} or partial.day not in {None, on.day}
    )


def _merge_instant(left: Partial, right: Partial) -> Partial | None:
    moment, other = (left, right) if left.instant is not None else (right, left)
    if other.on is not None and not other.has_time and other.instant is None:
        return moment
    return None


def _decide(partial: Partial, other: Partial) -> Partial:
    """Settle an undecided number by what stands beside it."""
    if partial.number is not None:
        return _decide_number(partial, other)
    if partial.four is not None and _is_year(partial.four, other):
        return replace(partial, four=None, year=_as_year(partial.four), is_weak=False)
    if partial.four is not None and _is_odd(partial.four):
        return partial
    if partial.four is not None and (
        other.has_day or other.part is not None or other.every is not None
    ):
        return _as_clock_of_four(partial)
    if partial.numbers is not None:
        return _decide_pair(partial, other)
    return partial


def _as_year(four: tuple[int, int, int]) -> int:
    return four[0] * 100 + four[1]


def _is_odd(four: tuple[int, int, int]) -> bool:
    """Whether four digits are rather a year of our days than a time anybody meets at."""
    return 1980 <= _as_year(four) <= 2059 and four[1] % 5 != 0


def _is_year(four: tuple[int, int, int], other: Partial) -> bool:
    """Whether four digits complete a date that has its time: "Oct 26 15:50 2016"."""
    lacks_year = other.month is not None and other.day is not None and other.year is None
    return lacks_year and other.clock is not None and 1900 <= _as_year(four) < 2100


def _decide_number(partial: Partial, other: Partial) -> Partial:
    number = partial.number or 0
    if other.length is not None:
        return as_hour(partial)
    if (other.has_time or other.every is not None) and other.clock is None:
        return as_hour(partial)
    if other.clock is not None and not other.has_date and number <= 31:
        return replace(partial, number=None, day=number, is_weak=False)
    needs_day = other.weekday is not None and other.day is None and other.month is None
    if needs_day and (number > 12 or (other.period is not None and other.period.grain == "month")):
        return replace(partial, number=None, day=number, is_weak=False)
    if other.month is not None and other.day is None and other.year is None:
        return replace(partial, number=None, day=number, is_weak=False)
    if other.has_day and other.clock is None:
        return as_hour(partial)
    return partial


def as_hour(partial: Partial) -> Partial:
    """Return the partial with its bare number (or four digits, or pair) read as a time of day."""
    if partial.four is not None:
        return _as_clock_of_four(partial)
    if partial.numbers is not None:
        hour, minute, text = partial.numbers
        if hour > 24 or minute > 59:
            return partial
        return replace(
            partial, numbers=None, is_weak=False, clock=clock_of(hour, minute, text=text)
        )
    if partial.number is None or partial.number > 24:
        return partial
    clock = Clock(partial.number, is_sure=partial.number > 12 or partial.number == 0)
    return replace(partial, number=None, clock=clock, is_weak=False)


def clock_of(hour: int, minute: int, *, text: str, second: int | None = None) -> Clock:
    """Return the clock of an hour and minute; a leading zero or an hour beyond 12 leaves no doubt."""
    sure = hour > 12 or hour == 0 or text.startswith("0")
    return Clock(hour, minute, second, is_sure=sure, has_minute=True)


def _as_clock_of_four(partial: Partial) -> Partial:
    hour, minute, digits = partial.four or (0, 0, 0)
    sure = hour > 12 or hour == 0 or (digits == 4 and hour < 10)
    return replace(
        partial, four=None, is_weak=False, clock=Clock(hour, minute, is_sure=sure, has_minute=True)
    )


def _decide_pair(partial: Partial, other: Partial) -> Partial:
    first, second, text = partial.numbers or (0, 0, "")
    if other.clock is not None or (other.part is not None and not other.has_date and second <= 12):
        return _as_date_of_pair(partial, first, second)
    if other.weekday is not None and other.day is None and other.on is None and other.month is None:
        looks_like_date = second <= 12 and (len(text.rsplit(".", 1)[-1]) == 1 or first > 12)
        return _as_date_of_pair(partial, first, second) if looks_like_date else as_hour(partial)
    if other.has_day or other.part is not None or other.every is not None:
        return as_hour(partial)
    return partial


def whole_pair(partial: Partial) -> Partial:
    """Return a pair that is all that a text says as the date it most likely is: "16.12"."""
    if partial.numbers is None or partial.has_date or partial.has_time:
        return partial
    first, second, text = partial.numbers
    return _as_date_of_pair(partial, first, second) if len(text) == 5 else as_hour(partial)


def _as_date_of_pair(partial: Partial, first: int, second: int) -> Partial:
    if not (1 <= first <= 31 and 1 <= second <= 12):
        return partial
    return replace(partial, numbers=None, day=first, month=second, is_weak=False)


# Whether two readings belong together: as one time, or as the two ends of a range.


def is_apposition(left: Partial, right: Partial) -> bool:
    """Whether a dash only stands between a weekday and its date, or a week and its day."""
    if left == Partial(weekday=left.weekday, lean=left.lean) and left.weekday is not None:
        return right.weekday is None and right.day is not None
    return left.period is not None and not left.has_day and right == Partial(weekday=right.weekday)


def comparable(left: Partial, right: Partial) -> bool:
    """Whether two partials can be the ends of one range."""
    if left.length is not None or right.length is not None or right.every is not None:
        return False
    if left.every is not None and left.clock is None:
        return False
    numbers = (left.number, left.four, left.numbers), (right.number, right.four, right.numbers)
    if any(value is not None for value in numbers[0]):
        return (
            right.clock is not None
            or right.day is not None
            or any(value is not None for value in numbers[1])
        )
    if any(value is not None for value in numbers[1]):
        return left.clock is not None or left.day is not None
    if left.instant is not None or right.instant is not None:
        return right.has_date or right.has_time or right.instant is not None
    both_times = left.has_time and right.has_time
    both_dates = left.has_date and right.has_date
    return both_dates or both_times


def may_join(left: Partial, right: Partial, joints: Sequence[str]) -> bool:
    """Whether what stands between two readings lets them be one."""
    if right.length is not None and right.instant is None:
        return "for" in joints and left.length is None
    if left.length is not None and left.instant is None:
        return bool({"from", "starting", "beginning", "at"} & set(joints)) and (
            right.has_time or right.number is not None
        )
    if "-" in joints:
        return is_apposition(left, right) or not comparable(left, right)
    if right.every is not None and left.every is None:
        return left.has_time and not (left.is_weak and "," in joints)
    if _is_span_and_time(left, right) or _is_span_and_time(right, left):
        return False
    return _may_take_number(left, right, joints)


def _may_take_number(left: Partial, right: Partial, joints: Sequence[str]) -> bool:
    """Whether an undecided number on either side may belong to the other."""
    if (
        (right.number is not None or right.four is not None)
        and not joints
        and left == Partial(day=left.day)
    ):
        return False
    if right.number is not None or right.four is not None:
        return bool(left.has_date or left.part is not None or left.every is not None) and not {
            ",",
            ".",
            ":",
        } & set(joints)
    if left.number is not None and joints and not (right.has_date or right.part):
        return False
    if "." in joints and not (left.numbers or left.day or left.weekday is not None):
        return False
    return not (
        left.is_weak
        and right.is_weak
        and left.part is not None
        and not joints
        and right.part is not None
    )


def _is_span_and_time(span: Partial, other: Partial) -> bool:
    """Whether one names days without naming one of them and the other a time: "next week" and "6pm"."""
    has_number = other.number is not None or other.four is not None or other.numbers is not None
    return (
        span.has_date
        and not span.has_day
        and span.month is None
        and not other.has_day
        and (other.has_time or has_number)
        and not other.has_date
    )
