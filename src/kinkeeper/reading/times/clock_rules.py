"""Rules for times of day, for lengths of time and for what comes again and again."""

from dataclasses import replace
from datetime import timedelta

from kinkeeper.reading.times.calendar_days import business_days, shifted, unit_of
from kinkeeper.reading.times.grammar import Grammar, Scope
from kinkeeper.reading.times.partial import (
    WEEKDAY_CODES,
    Clock,
    Every,
    Length,
    Partial,
    Period,
    clock_of,
    sure_clock,
)

CLOCKS = Grammar()

Spoken = tuple[str, int, int, int | None]


def _hour(
    hour: int, minute: int = 0, half: str | None = None, *, minutes: bool = False
) -> Partial | None:
    if minute > 59 or hour > 24 or (half == "am" and hour > 12):
        return None
    if half == "pm" and hour == 0:
        return None
    sure = hour > 12 or hour == 0
    return Partial(
        clock=Clock(hour, minute, None, None if sure else half, is_sure=sure, has_minute=minutes)
    )


@CLOCKS.rule("HM h|hrs|hr|hours|hour|uhr? MERIDIEM?", "HM ~SHORTMER")
def colon_time(_: Scope, spoken: Spoken, half: str | None) -> Partial | None:
    """4:30, 16h30, 15:23:24, 9:05 pm."""
    text, hour, minute, second = spoken
    clock = clock_of(hour, minute, text=text, second=second)
    if half is None or hour > 12:
        return Partial(clock=clock)
    return Partial(clock=replace(clock, half=half, is_sure=False))


@CLOCKS.rule(
    "HOUR MERIDIEM",
    "HOUR . ~MERIDIEM",
    "HOUR ~SHORTMER",
    "HOUR MERIDIEM o'clock",
    "HOUR o'clock MERIDIEM?",
    "HOUR oclock MERIDIEM?",
    "HOUR o clock MERIDIEM?",
    "HOUR o ' clock MERIDIEM?",
    "HOUR o’clock MERIDIEM?",
)
def said_hour(_: Scope, hour: int, half: str | None) -> Partial | None:
    """5pm, 5 o'clock."""
    return _hour(hour, 0, half)


@CLOCKS.rule("HOUR ~ish MERIDIEM?", "HOUR ~ - ish MERIDIEM?", "HOUR ish MERIDIEM?")
def about_hour(_: Scope, hour: int, half: str | None) -> Partial | None:
    """4ish."""
    return _hour(hour, 0, half)


@CLOCKS.rule("ISH MERIDIEM?")
def about_spelled(_: Scope, hour: int, half: str | None) -> Partial | None:
    """Nineish."""
    return _hour(hour, 0, half)


@CLOCKS.rule("HOUR MINUTE MERIDIEM", "HOUR oh|o INT MERIDIEM?")
def two_numbers(_: Scope, hour: int, minute: int, half: str | None) -> Partial | None:
    """Nine fifty nine a m, seven oh five."""
    return _hour(hour, minute, half, minutes=True) if 1 <= hour <= 12 else None


@CLOCKS.rule("HHMM MERIDIEM", "HHMM ~SHORTMER", "HHMM h|hrs|hours|hr", "HHMM ish")
def military(_: Scope, four: tuple[int, int, int], half: str | None = None) -> Partial | None:
    """0845am, 330 p.m., 1800 hrs."""
    hour, minute, digits = four
    if half is None and digits < 4:
        return None
    if half == "am" and hour > 12:
        return None
    return _hour(hour, minute, half, minutes=True)


@CLOCKS.rule("DOT MERIDIEM", "DOT ~SHORTMER", "DOT h|hrs|uhr|hours", "DOT ~ish")
def dotted(_: Scope, text: str, half: str | None = None) -> Partial | None:
    """6.30 p.m., 18.00 h."""
    hour, minute = (int(part) for part in text.split("."))
    if minute > 59 or hour > 24 or len(text.split(".")[1]) != 2:
        return None
    clock = clock_of(hour, minute, text=text)
    return Partial(clock=replace(clock, half=half, is_sure=clock.is_sure and half is None))


@CLOCKS.rule("HOUR h|uhr")
def hour_letter(_: Scope, hour: int) -> Partial | None:
    """18h: a time only from 13 on, below it is a length."""
    return _hour(hour) if hour > 12 else None


@CLOCKS.rule(
    "half HOUR MERIDIEM?",
    "half past? ISH",
    "half HOUR ish",
    "half past|pas|pst HOUR MERIDIEM?",
    "half past HOUR o'clock MERIDIEM?",
)
@CLOCKS.rule("half past|pas HOUR ish", "half - past HOUR MERIDIEM?")
def half_past(_: Scope, hour: int, half: str | None = None) -> Partial | None:
    """Half three and half past three are both 3:30."""
    return _hour(hour, 30, half, minutes=True) if 1 <= hour <= 12 else None


@CLOCKS.rule("a? quarter|qtr|1/4 past|after HOUR o'clock? MERIDIEM?")
def quarter_past(_: Scope, hour: int, half: str | None) -> Partial | None:
    """Quarter past four."""
    return _hour(hour, 15, half, minutes=True)


@CLOCKS.rule("a? quarter|qtr to|til|till|before|of HOUR o'clock? MERIDIEM?")
def quarter_to(_: Scope, hour: int, half: str | None) -> Partial | None:
    """Quarter to five."""
    return before_hour(_, 15, hour, half)


@CLOCKS.rule("INT minutes|minute|mins|min? past|after HOUR o'clock? MERIDIEM?")
@CLOCKS.rule(
    "INT past|after HOUR o'clock? MERIDIEM?", "INT minutes|minute|mins|min? past HOUR h MERIDIEM?"
)
def past_hour(_: Scope, minute: int, hour: int, half: str | None) -> Partial | None:
    """Ten past four, 20 min past eight."""
    return _hour(hour, minute, half, minutes=True) if minute < 60 else None


@CLOCKS.rule("NUMBER to HOUR o'clock? MERIDIEM?")
def loosely_before_hour(
    _: Scope, minute: int, hour: int, half: str | None = None
) -> Partial | None:
    """Ten to five, 20 to 5; what counts up ("five to seven", "10 to 11") is a range instead."""
    is_range = minute not in {20, 25} and (hour > minute or minute not in {5, 10})
    return None if is_range else before_hour(_, minute, hour, half)


@CLOCKS.rule("INT to HOUR")
def digits_before_hour(_: Scope, minute: int, hour: int) -> Partial | None:
    """20 to 5; "10 to 4" is a range."""
    return before_hour(_, minute, hour, None) if minute in {20, 25} else None


@CLOCKS.rule("INT minutes|minute|mins|min to|til|till|before HOUR MERIDIEM?")
def before_hour(_: Scope, minute: int, hour: int, half: str | None) -> Partial | None:
    """Ten minutes to five."""
    if not (1 <= hour <= 12) or not 1 <= minute <= 30:
        return None
    return _hour(hour - 1 or 12, 60 - minute, half, minutes=True)


@CLOCKS.rule("INT minutes|mins|min? to noon|midday", "a? quarter to noon|midday")
def before_noon(_: Scope, minute: int = 15) -> Partial | None:
    """15 to noon."""
    return Partial(clock=sure_clock(11, 60 - minute)) if 0 < minute < 60 else None


@CLOCKS.rule("half past noon|midday|twelve noon")
def half_past_noon(_: Scope) -> Partial:
    """Half past noon."""
    return Partial(clock=sure_clock(12, 30))


@CLOCKS.rule("POINT")
def named_point(_: Scope, name: str) -> Partial:
    """Noon, midnight."""
    return Partial(clock=Clock(12 if name == "noon" else 24, is_sure=True))


@CLOCKS.rule("TONIGHT", "this|tdy night|nite")
def tonight(scope: Scope, _: int = 0) -> Partial:
    """Tonight."""
    return Partial(on=scope.reference.date(), part="tonight")


@CLOCKS.rule("SHADE PART", "SHADE in the PART", "SHADE REL PART", "REL SHADE PART")
def shaded_part(scope: Scope, first: object, *rest: object) -> Partial | None:
    """Late afternoon, early in the morning, late this morning."""
    words = [word for word in (first, *rest) if isinstance(word, str)]
    lean = next((word for word in (first, *rest) if isinstance(word, int)), None)
    shade, part = words
    shade = {"earlier": "early", "later": "late"}.get(shade, shade)
    if shade not in {"early", "late"}:
        return None
    plain = Partial(part=part) if lean is None else leaning_part(scope, lean, part)
    return None if plain is None else replace(plain, shade=shade, is_weak=False)


@CLOCKS.rule("REL PART")
def leaning_part(scope: Scope, lean: int, part: str) -> Partial | None:
    """This afternoon, last night, next morning."""
    days = {0: 0, 1: 1, -1: -1}.get(lean)
    if days is None:
        return None
    on = scope.reference.date() + timedelta(days=days)
    return Partial(on=on, part="tonight" if part == "night" and lean == 0 else part)


@CLOCKS.rule("at breakfast")
def at_breakfast(_: Scope) -> Partial:
    """At breakfast: the meal alone is a thing as often as a time."""
    return Partial(part="breakfast")


@CLOCKS.rule("at dinner|supper")
def at_dinner(_: Scope) -> Partial:
    """At dinner."""
    return Partial(part="dinner")


@CLOCKS.rule("in|during|for? the PART", "in|at PART")
def in_part(_: Scope, part: str) -> Partial:
    """In the morning, at night."""
    return Partial(part=part)


@CLOCKS.rule("PART")
def bare_part(_: Scope, part: str) -> Partial:
    """Morning: a greeting as often as a time, so it needs company."""
    strong = part in {"noon", "dinner", "bedtime", "dawn"}
    return Partial(part=part, is_weak=not strong)


@CLOCKS.rule("MERIDIEM")
def bare_half(_: Scope, half: str) -> Partial:
    """Tomorrow am: needs company."""
    return Partial(part="morning" if half == "am" else "afternoon", is_weak=True)


@CLOCKS.rule("DOT .?")
def bare_pair(_: Scope, text: str) -> Partial:
    """7.30 or 26.9."""
    first, second = (int(part) for part in text.split("."))
    return Partial(numbers=(first, second, text), is_weak=True)


@CLOCKS.rule("HHMM")
def bare_four(_: Scope, four: tuple[int, int, int]) -> Partial:
    """1630."""
    return Partial(four=four, is_weak=True)


@CLOCKS.rule("DAYNUM|HOUR")
def bare_number(_: Scope, number: int) -> Partial:
    """4."""
    return Partial(number=number, is_weak=True)


@CLOCKS.rule("HOUR MINUTE")
def spelled_time(_: Scope, hour: int, minute: int) -> Partial | None:
    """Seven thirty: certain enough beside a day or a preposition."""
    if not 1 <= hour <= 12 or minute < 10:
        return None
    return Partial(four=(hour, minute, 3), is_weak=True)


@CLOCKS.rule("NAMED")
def named_time(_: Scope, name: str) -> Partial:
    """A time that the household has a name for."""
    return Partial(named=name, part="named")


# Rules for lengths of time and for what comes again and again.

LENGTHS = Grammar()
REPEATS = Grammar()

_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_DAYS = {"day": 1, "business": 1, "week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_FREQUENCIES = {
    "minute": "MINUTELY",
    "hour": "HOURLY",
    "day": "DAILY",
    "business": "DAILY",
    "week": "WEEKLY",
    "month": "MONTHLY",
    "year": "YEARLY",
}
_LONGEST, _HOURS = 100_000, 24


def length_of(amount: float, unit: str) -> Partial | None:
    """Return `amount` units as a length; halves of days and longer count in smaller units."""
    if not 0 <= amount < _LONGEST:
        return None
    if unit in _SECONDS:
        return Partial(length=Length(seconds=round(amount * _SECONDS[unit]), grain=unit))
    whole = int(amount)
    rest = amount - whole
    if unit in _DAYS:
        seconds = round(rest * _DAYS[unit] * 86400)
        return Partial(length=Length(days=whole * _DAYS[unit], seconds=seconds, grain=_grain(unit)))
    months = amount * _MONTHS[unit]
    days = round((months - int(months)) * 30)
    return Partial(length=Length(months=int(months), days=days, grain=_grain(unit)))


def _grain(unit: str) -> str:
    return {"business": "business", "fortnight": "week", "quarter": "month", "decade": "year"}.get(
        unit, unit
    )


@LENGTHS.rule("INT|NUMBER more? of? UNIT", "INT - ~UNIT", "INT ~LETTER", "another INT|NUMBER UNIT")
def counted(_: Scope, amount: int, unit: str) -> Partial | None:
    """20 min, two weeks, 2h."""
    return length_of(amount, unit)


@LENGTHS.rule("INT -|to|or INT UNIT", "INT -|to|or INT ~LETTER")
def between_two(_: Scope, least: int, most: int, unit: str) -> Partial | None:
    """30-40 mins: as long as it may take."""
    return length_of(most, unit) if least < most else None


@LENGTHS.rule("a|an|another UNIT", "a|an|1|one whole|full UNIT")
def single(_: Scope, unit: str) -> Partial | None:
    """An hour."""
    return length_of(1, unit) if unit != "quarter" else None


@LENGTHS.rule("DOT UNIT", "DOT ~LETTER")
def decimal(_: Scope, text: str, unit: str) -> Partial | None:
    """2.5 hours."""
    return length_of(float(text), unit)


@LENGTHS.rule("FRACTION of? an? UNIT", "FRACTION LETTER")
def fraction(_: Scope, text: str, unit: str) -> Partial | None:
    """1/2 hour."""
    over, under = (int(part) for part in text.split("/"))
    return length_of(over / under, unit) if over < under <= 4 else None


@LENGTHS.rule("half a|an? UNIT", "half - a|an? - UNIT", "a half UNIT")
def half_unit(_: Scope, unit: str) -> Partial | None:
    """Half an hour."""
    return length_of(0.5, unit)


@LENGTHS.rule("a? quarter of? an UNIT")
def quarter_unit(_: Scope, unit: str) -> Partial | None:
    """A quarter of an hour."""
    return length_of(0.25, unit)


@LENGTHS.rule("NUMBER - ~quarters of? an UNIT", "NUMBER quarters of? an UNIT")
def quarters_unit(_: Scope, amount: int, unit: str) -> Partial | None:
    """Three quarters of an hour."""
    return length_of(amount / 4, unit)


@LENGTHS.rule("INT and a? half UNIT")
def and_half(_: Scope, amount: int, unit: str) -> Partial | None:
    """One and a half hours."""
    return length_of(amount + 0.5, unit)


@LENGTHS.rule("a|an UNIT and a? half", "a|an UNIT n a? half")
def single_and_half(_: Scope, unit: str) -> Partial | None:
    """An hour and a half."""
    return length_of(1.5, unit)


@LENGTHS.rule("INT UNIT and a? half")
def counted_and_half(_: Scope, amount: int, unit: str) -> Partial | None:
    """2 hours and a half."""
    return length_of(amount + 0.5, unit)


@LENGTHS.rule(
    "INT ~h ~MINUTE ~m?",
    "INT ~h MINUTE ~m|mins|min",
    "INT hr|hrs|hour|hours MINUTE m|min|mins|minutes?",
)
def hours_minutes(_: Scope, hours: int, minutes: int) -> Partial:
    """1h 30m."""
    return Partial(length=Length(seconds=hours * 3600 + minutes * 60, grain="minute"))


@LENGTHS.rule("all UNIT", "the? whole|entire UNIT", "all UNIT long")
def whole_unit(_: Scope, unit: str) -> Partial | None:
    """All day."""
    return length_of(1, unit) if unit in {"day", "week", "month", "year"} else None


@LENGTHS.rule("the? INT REL UNIT")
def counted_leaning(scope: Scope, amount: int, lean: int, unit: str) -> Partial | None:
    """Two upcoming months, the 5 past years."""
    return leaning_count(scope, lean, amount, unit) if lean in {2, -2} else None


@LENGTHS.rule("INT PART|PARTS")
def nights(_: Scope, amount: int, part: str) -> Partial | None:
    """Two nights."""
    return length_of(amount, "day") if part == "night" else None


@LENGTHS.rule("REL INT|NUMBER UNIT", "REL INT|NUMBER REL UNIT")
def leaning_count(scope: Scope, *values: int | str) -> Partial | None:
    """Next 3 days, last two weeks, two upcoming months."""
    unit = str(values[-1])
    lean, amount = int(values[0]), int(values[1])
    if lean not in {0, 1, -1, 2, -2} or abs(amount) > 1000:
        return None
    if unit in _SECONDS:
        length = Length(seconds=(amount if lean >= 0 else -amount) * _SECONDS[unit], grain=unit)
        return Partial(instant=scope.reference, instant_grain="range", length=length)
    today = scope.reference.date()
    backwards = lean < 0
    if unit == "business":
        edge = business_days(today, -amount if backwards else amount)
        first = today + timedelta(days=1)
        period = (
            Period(edge, today, "day")
            if backwards
            else Period(first, edge + timedelta(days=1), "day")
        )
        return Partial(period=period)
    if unit in {"quarter", "decade"}:
        near = unit_of(today, unit, -1 if backwards else 1, week_start=scope.week_start)
        far = unit_of(today, unit, -amount if backwards else amount, week_start=scope.week_start)
        if near is None or far is None:
            return None
        return Partial(period=Period(min(near.first, far.first), max(near.after, far.after), "day"))
    measured = length_of(amount, unit)
    if measured is None or measured.length is None:
        return None
    if backwards:
        return Partial(period=Period(shifted(today, measured.length.negated()), today, "day"))
    first = today + timedelta(days=1)
    return Partial(period=Period(first, shifted(first, measured.length), "day"))


@LENGTHS.rule("the? REL UNIT")
def leaning_hour(scope: Scope, lean: int, unit: str) -> Partial | None:
    """The last hour, next hour."""
    return leaning_count(scope, lean, 1, unit) if unit in _SECONDS else None


@REPEATS.rule("FREQ")
def named_frequency(_: Scope, rule: str) -> Partial:
    """Daily, nightly, weekdays, every other week."""
    rule, __, part = rule.partition(";PART=")
    base, __, days = rule.partition(";BYDAY=")
    weekdays = tuple(WEEKDAY_CODES.index(code) for code in days.split(",")) if days else ()
    return Partial(every=Every(f"FREQ={base}", weekdays), part=part or None)


@REPEATS.rule("every|each|evry|evey WEEKDAY|WEEKDAYS", "all WEEKDAYS")
def every_weekday(_: Scope, weekday: int) -> Partial:
    """Every Tuesday."""
    return Partial(every=Every("FREQ=WEEKLY", (weekday,)))


@REPEATS.rule("every|each other|second|alternate WEEKDAY|WEEKDAYS", "alternate WEEKDAY|WEEKDAYS")
def every_other_weekday(_: Scope, weekday: int) -> Partial:
    """Every other Friday."""
    return Partial(every=Every("FREQ=WEEKLY;INTERVAL=2", (weekday,)))


@REPEATS.rule("every|each INT|ORDINAL UNIT", "every|each other|second UNIT")
def every_units(_: Scope, *values: int | str) -> Partial | None:
    """Every two weeks."""
    amount = int(values[0]) if len(values) == 2 else 2
    unit = str(values[-1])
    amount, unit = (amount * 2, "week") if unit == "fortnight" else (amount, unit)
    frequency = _FREQUENCIES.get(unit)
    return (
        Partial(every=Every(f"FREQ={frequency};INTERVAL={amount}"))
        if frequency and amount
        else None
    )


@REPEATS.rule("every|each UNIT", "once a UNIT")
def every_unit(_: Scope, unit: str) -> Partial | None:
    """Every hour."""
    frequency = _FREQUENCIES.get(unit)
    return Partial(every=Every(f"FREQ={frequency}")) if frequency else None


@REPEATS.rule(
    "INT|NUMBER times a|per|each|every UNIT", "INT ~x a|per|each UNIT", "INT x a|per UNIT"
)
@REPEATS.rule("INT|NUMBER times FREQ", "INT ~x FREQ")
def often_a_day(_: Scope, often: int, unit: str) -> Partial | None:
    """Three times a day, 3x daily."""
    is_of_day = unit in {"day", "DAILY"} and 0 < often < _HOURS
    return Partial(every=Every("FREQ=DAILY", often=often)) if is_of_day else None


@REPEATS.rule("twice a|per|each|every UNIT", "twice FREQ")
def twice_a_day(_: Scope, unit: str) -> Partial | None:
    """Twice daily."""
    return often_a_day(_, 2, unit)


@REPEATS.rule("thrice a|per|each|every UNIT", "thrice FREQ")
def thrice_a_day(_: Scope, unit: str) -> Partial | None:
    """Thrice a day."""
    return often_a_day(_, 3, unit)


@REPEATS.rule("every|each PART", "every|each REL? TONIGHT", "PARTS")
def every_part(_: Scope, part: str | int | None, *__: object) -> Partial | None:
    """Every morning."""
    return Partial(every=Every("FREQ=DAILY"), part=part) if isinstance(part, str) else None


@REPEATS.rule("every|each other|second PART")
def every_other_part(_: Scope, part: str) -> Partial:
    """Every other evening."""
    return Partial(every=Every("FREQ=DAILY;INTERVAL=2"), part=part)


@REPEATS.rule("on? weekday PARTS")
def weekday_part(_: Scope, part: str) -> Partial:
    """Weekday evenings."""
    return Partial(every=Every("FREQ=WEEKLY", tuple(range(5))), part=part)


@REPEATS.rule("on? WEEKEND PARTS")
def weekend_part(_: Scope, __: int, part: str) -> Partial:
    """Weekend mornings."""
    return Partial(every=Every("FREQ=WEEKLY", (5, 6)), part=part)


@REPEATS.rule("every|each WEEKDAY PART", "WEEKDAY PARTS", "WEEKDAYS PART|PARTS")
def every_weekday_part(_: Scope, weekday: int, part: str) -> Partial:
    """Every Saturday morning, tuesday afternoons."""
    return Partial(every=Every("FREQ=WEEKLY", (weekday,)), part=part)


@REPEATS.rule("on? WEEKDAYS")
def plural_weekday(_: Scope, weekday: int) -> Partial:
    """On Tuesdays."""
    return Partial(every=Every("FREQ=WEEKLY", (weekday,)))


@REPEATS.rule(
    "every|each ORDINAL|REL WEEKDAY of the|each|every month",
    "every|each ORDINAL|REL WEEKDAY of every month",
)
@REPEATS.rule("the? ORDINAL|REL WEEKDAY of every|each month")
def every_nth(_: Scope, which: int, weekday: int) -> Partial | None:
    """Every first Monday of the month."""
    return (
        Partial(every=Every(f"FREQ=MONTHLY;BYDAY={which}{WEEKDAY_CODES[weekday]}"))
        if -1 <= which <= 5
        else None
    )


@REPEATS.rule("every|each ORDINAL WEEKDAY")
def every_counted(_: Scope, which: int, weekday: int) -> Partial | None:
    """Every first Monday is one of each month; every 2nd Monday is every other one."""
    return every_other_weekday(_, weekday) if which == 2 else every_nth(_, which, weekday)


@REPEATS.rule("on? the? ORDINAL|REL WEEKDAY of|in FREQ")
def nth_weekday_monthly(_: Scope, which: int, weekday: int, rule: str) -> Partial | None:
    """The last Friday of every month."""
    return every_nth(_, which, weekday) if rule == "MONTHLY" else None


@REPEATS.rule("on? the? ORDINAL of FREQ")
@REPEATS.rule("every|each ORDINAL of the? month")
def day_monthly(_: Scope, day: int, rule: str = "MONTHLY") -> Partial | None:
    """The 5th of each month, every 5th of the month."""
    return every_month_day(_, day) if rule == "MONTHLY" else None


@REPEATS.rule("every|each month on the ORDINAL", "the? ORDINAL of every|each month")
def every_month_day(_: Scope, day: int) -> Partial:
    """The 5th of every month."""
    return Partial(every=Every(f"FREQ=MONTHLY;BYMONTHDAY={day}"))


@REPEATS.rule("every|each WEEKEND", "every|each other WEEKEND")
def every_weekend(_: Scope, __: int) -> Partial:
    """Every weekend."""
    return Partial(every=Every("FREQ=WEEKLY", (5, 6)))


@REPEATS.rule("every|each HOLIDAY", "every|each REL? MONTH")
def every_year(_: Scope, *__: object) -> Partial:
    """Every Christmas."""
    return Partial(every=Every("FREQ=YEARLY"))
