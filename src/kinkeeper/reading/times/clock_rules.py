"""Rules for times and parts of the day."""

from dataclasses import replace
from datetime import timedelta

from kinkeeper.reading.times.grammar import Grammar, Scope
from kinkeeper.reading.times.partial import Clock, Partial, clock_of, sure_clock

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
    "HOUR MERIDIEM", "HOUR . ~MERIDIEM", "HOUR ~SHORTMER", "HOUR MERIDIEM o'clock", "HOUR o'clock MERIDIEM?",
    "HOUR oclock MERIDIEM?", "HOUR o clock MERIDIEM?", "HOUR o ' clock MERIDIEM?", "HOUR o’clock MERIDIEM?",
)  # fmt: skip
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
