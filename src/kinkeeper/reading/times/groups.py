"""Groups: neighbouring readings joined into one time, with the operators that take another time.

Readings join while each fills what the others left open ("thurs" + "the 15th" + "2:15"). Operators are "week of",
"two weeks from", "ago".
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from kinkeeper.reading.times.calendar_days import (
    after_length,
    business_days,
    shifted,
    week_of,
    weekend_of,
)
from kinkeeper.reading.times.clock_rules import CLOCKS, LENGTHS, REPEATS
from kinkeeper.reading.times.date_rules import DATES, PERIODS
from kinkeeper.reading.times.grammar import Grammar, Scope
from kinkeeper.reading.times.guards import load_guards
from kinkeeper.reading.times.partial import (
    Every,
    Length,
    Partial,
    as_hour,
    may_join,
    merge,
    sure_clock,
)
from kinkeeper.reading.times.resolve import BOUNDS, Habits, bounded, day_of, is_day_only, is_end
from kinkeeper.reading.times.tokens import Token

RULES: Final = Grammar.joined(REPEATS, LENGTHS, DATES, PERIODS, CLOCKS)

_AT = frozenset({"at", "@"})
_ABOUT = frozenset(
    {
        "around",
        "about",
        "abt",
        "ard",
        "round",
        "approx",
        "approximately",
        "roughly",
        "circa",
        "~",
        "gegen",
        "maybe",
        "like",
    }
)
JOINTS: Final = _ABOUT | {
    ",",
    "at",
    "@",
    "on",
    "of",
    "in",
    "the",
    "(",
    ")",
    "for",
    "sometime",
    ":",
    ".",
    "anytime",
    "say",
    "any",
    "time",
    *BOUNDS,
}
LONGEST_JOINT: Final = 3
_AGO = frozenset({"ago", "back", "earlier", "before"})
_HENCE = frozenset({"hence", "later", "out"})
_FROM = {"from": 1, "after": 1, "before": -1, "b4": -1}
_BESIDE: Final = {"before": -1, "b4": -1, "after": 1, "following": 1}
_OPERATING: Final = frozenset({"UNIT", "WEEKEND", "WEEKDAY", "PART", "ORDINAL", "INT", "REL"})
_COUNTING: Final = ("ORDINAL", "INT", "REL")
_MOST_WEEKS: Final = 60
_SPANNING: Final = frozenset({"to", "-", "till", "til", "until", "through"})
_BEGINNING: Final = frozenset({"starting", "beginning", "commencing"})
_DEEPEST: Final = 1
_MOST_DOSES: Final = 4  # "take 2 every evening"
_DOSED: Final = frozenset({"breakfast", "dinner", "bedtime"})
_AND: Final = frozenset({"and", "&", ","})
_MOST_REPEATED: Final = 2  # parts of a time that add nothing to it ("Friday, Friday")
_WEEK_OPERATORS: Final = _BEGINNING | {"of", "after", "before"}
NEIGHBOURHOODS: Final = frozenset({"for", "over", "before", "b4", "after"})
"""Before a holiday: why something is on the day that is named beside it, or what that day lies near."""


def group_at(
    tokens: Sequence[Token], index: int, scope: Scope, depth: int = 0
) -> tuple[Partial, int] | None:
    """Return the longest single time that begins at a token, and where it ends."""
    found = atom_at(tokens, index, scope, depth)
    if found is None:
        return None
    partial, end = found
    repeated = 0
    while end < len(tokens) and repeated <= _MOST_REPEATED:
        more = (
            _next_weekday(tokens, partial, end)
            or _weekdays_of_part(tokens, partial, end, scope=scope, depth=depth)
            or _next_atom(tokens, partial, end, scope=scope, depth=depth)
        )
        if more is None:
            break
        repeated += more[0] == partial
        partial, end = more
    return partial, end


def _next_weekday(
    tokens: Sequence[Token], partial: Partial, end: int
) -> tuple[Partial, int] | None:
    """Add a further day to a recurrence: "every tues & thurs"."""
    if partial.every is None or not partial.every.weekdays or partial.has_time:
        return None
    at = skip(tokens, end, frozenset({"and", "&", ",", "/", "n", "every", "each", "on"}))
    weekday = tokens[at].meanings.get("WEEKDAY", tokens[at].meanings.get("WEEKDAYS"))
    if at == end or weekday is None:
        return None
    every = replace(partial.every, weekdays=(*partial.every.weekdays, weekday))
    return replace(partial, every=every), at + 1


def _weekdays_of_part(
    tokens: Sequence[Token], partial: Partial, end: int, *, scope: Scope, depth: int
) -> tuple[Partial, int] | None:
    """Say on which days a part of every day is meant: "evenings on tuesdays and fridays"."""
    if partial != Partial(every=Every("FREQ=DAILY"), part=partial.part):
        return None
    found = group_at(tokens, end, scope, depth)
    if found is None:
        return None
    days, after = found
    if days.every is None or not days.every.weekdays or days != Partial(every=days.every):
        return None
    return replace(days, part=partial.part), after


def _next_atom(
    tokens: Sequence[Token], partial: Partial, end: int, *, scope: Scope, depth: int
) -> tuple[Partial, int] | None:
    joined = _joints(tokens, partial, end)
    if joined is None:
        return None
    joints, at = joined
    found = atom_at(tokens, at, scope, depth)
    if found is None:
        return None
    other, after = found
    if other.every is not None and _is_hour(tokens, partial, end, other):
        partial = as_hour(partial)
    if joints == ["in"] and partial == Partial(weekday=partial.weekday) and other.length:
        return _on_weekday_in_weeks(other.length, partial.weekday, after, scope)
    within = bounded(partial, other, joints, scope)
    if within is not None:
        return within, after
    if _stand_apart(tokens, (partial, end), (other, at), joints=joints, after=after):
        return None
    # After "at" a bare number is an hour, on a clock of 24, too: "sunday at 15".
    is_hour = other.number is not None and not _AT.isdisjoint(joints)
    merged = merge(partial, as_hour(other) if is_hour else other)
    if merged is None:
        return None
    bound = next(
        (BOUNDS[word] for word in joints if word in BOUNDS and BOUNDS[word] != "from"), None
    )
    if bound is not None and (other.has_time or other.number is not None):
        merged = replace(merged, bound=bound)
    if after < len(tokens) and tokens[after].text == ")" and "(" in joints:
        after += 1
    return merged, after


def _stand_apart(
    tokens: Sequence[Token],
    left: tuple[Partial, int],
    right: tuple[Partial, int],
    *,
    joints: Sequence[str],
    after: int,
) -> bool:
    """Whether two readings side by side are no single time."""
    (partial, _), (other, _) = left, right
    return (
        is_end(partial, other, joints)
        or _opens(partial, other, joints, tokens[after : after + 1])
        or not may_join(partial, other, joints)
        or _names_both(tokens, left, right)
        or _is_dose(tokens, left, right, after)
        or (not joints and _counts_what_follows(tokens, right[1], after))
    )


def _counts_what_follows(tokens: Sequence[Token], first: int, after: int) -> bool:
    """Whether an ordinal in letters counts the word behind it and is no day: "Friday second period"."""
    if after != first + 1 or after >= len(tokens) or "ORDWORD" not in tokens[first].meanings:
        return False
    behind = tokens[after]
    is_word = behind.text.isalpha() and not behind.meanings
    return is_word and behind.text not in load_guards().follow


def _names_both(
    tokens: Sequence[Token], left: tuple[Partial, int], right: tuple[Partial, int]
) -> bool:
    """Whether a day is named and a holiday that it is not: "the 17th for Christmas", "for Christmas on Friday"."""
    (partial, end), (other, at) = left, right
    return bool(
        (partial.has_day and neighbourhood(tokens, at))
        or (other.has_day and neighbourhood(tokens, end - 1))
    )


def neighbourhood(tokens: Sequence[Token], at: int) -> str | None:
    """Return the word by which a holiday at a token is only what something is for, before, after or over; None without."""
    before = at - 1 - (at > 1 and tokens[at - 1].text == "the")
    is_near = at > 0 and "HOLIDAY" in tokens[at].meanings and tokens[before].text in NEIGHBOURHOODS
    return tokens[before].text if is_near else None


def _opens(
    partial: Partial, other: Partial, joints: Sequence[str], following: Sequence[Token]
) -> bool:
    """Whether a day behind an hour says from when on it is so: "at 11 from January", and not "at 9 from Monday to Friday"."""
    has_hour = partial.clock is not None or partial.number is not None
    if not has_hour or partial.has_date or all(BOUNDS.get(each) != "from" for each in joints):
        return False
    return is_day_only(other) and all(each.text not in _SPANNING for each in following)


def _is_hour(tokens: Sequence[Token], partial: Partial, end: int, every: Partial) -> bool:
    """Whether a bare number before a recurrence is its hour: "at 9 every day", "9 every evening"."""
    if partial.number is None or not partial.is_number_only:
        return False
    is_said = end > 1 and tokens[end - 2].text in _AT
    return is_said or (every.part is not None and partial.number > _MOST_DOSES)


def _is_dose(
    tokens: Sequence[Token], left: tuple[Partial, int], right: tuple[Partial, int], after: int
) -> bool:
    """Whether a number beside a part of the day says how many then: "one at bedtime", "2 in the morning and 2 at night"."""
    (partial, end), (other, at) = left, right
    if other.number is not None and partial.part is not None and end == at:
        return partial.part in _DOSED or tokens[at].text == "one"  # "the evening one"
    if other.part is None or partial.number is None or partial.number > _MOST_DOSES:
        return False
    if end > 1 and tokens[end - 2].text in _AT:
        return False
    behind = tokens[after : after + 2]
    is_first = [each.text in _AND for each in behind] == [True, False]
    is_next = end > 2 and tokens[end - 2].text in _AND and "PART" in tokens[end - 3].meanings
    return other.part in _DOSED or is_next or (is_first and "INT" in behind[1].meanings)


def _joints(tokens: Sequence[Token], partial: Partial, end: int) -> tuple[list[str], int] | None:
    """Return what stands between a reading and the next, and where that begins; None where a sentence ends."""
    at = end
    joints: list[str] = []
    while at < len(tokens) and len(joints) < LONGEST_JOINT and tokens[at].text in JOINTS:
        is_stop = tokens[at].text == "." and tokens[at].spaced is False
        if is_stop and at + 1 < len(tokens) and tokens[at + 1].spaced and partial.has_time:
            return None
        joints.append(tokens[at].text)
        at += 1
    if not joints and at < len(tokens) and tokens[at].text in {"-", "/"}:
        joints.append("-")
        at += 1
    return (joints, at) if at < len(tokens) else None


def atom_at(
    tokens: Sequence[Token], index: int, scope: Scope, depth: int
) -> tuple[Partial, int] | None:
    """Return a rule's reading, with the operators that take another time as their operand."""
    if depth > _DEEPEST or index >= len(tokens):
        return None
    token = tokens[index]
    if token.text in {"in", "within", "w/in"} and index + 1 < len(tokens):
        length = _length_at(
            tokens, skip(tokens, index + 1, _ABOUT | {"the", "next", "like"}), scope
        )
        if length is not None:
            bound = None if token.text == "in" else "by"
            end = _skip_words(tokens, length[1], ("time",))
            at = end + (end + 1 < len(tokens) and tokens[end].text == "on")
            weekday = tokens[at].meanings.get("WEEKDAY") if at < len(tokens) else None
            found = _on_weekday_in_weeks(length[0], weekday, at + 1, scope)
            return found or (replace(_moved(scope, length[0]), bound=bound), end)
    if token.text == "the" or not _OPERATING.isdisjoint(token.meanings):
        found = _beside_a_day(tokens, index, scope, depth) or _unit_operator(
            tokens, index, scope, depth
        )
        if found is not None:
            return found
    if "WEEKOF" in token.meanings:
        return _week_of(tokens, index + 1, scope, depth)
    plain = RULES.longest(tokens, index, scope)
    length = _length_at(tokens, index, scope)
    if length is None or (plain is not None and plain[1] > length[1]):
        return plain
    is_for = index > 0 and tokens[index - 1].text == "for"
    return _length_operator(tokens, length[0], length[1], scope=scope, depth=depth, is_for=is_for)


def _on_weekday_in_weeks(
    length: Length, weekday: int | None, end: int, scope: Scope
) -> tuple[Partial, int] | None:
    """Read "in three weeks on Monday": the one that lies nearest to that day."""
    if length.grain != "week" or weekday is None:
        return None
    day = _away(scope.reference.date(), length)
    return Partial(on=day + timedelta(days=(weekday - day.weekday() + 3) % 7 - 3)), end


def skip(tokens: Sequence[Token], index: int, words: frozenset[str]) -> int:
    """Return the index of the first token from `index` on that is none of `words`, or of the last token."""
    while index < len(tokens) - 1 and tokens[index].text in words:
        index += 1
    return index


def _skip_words(tokens: Sequence[Token], index: int, words: Sequence[str]) -> int:
    follows = all(
        index + at < len(tokens) and tokens[index + at].text == word
        for at, word in enumerate(words)
    )
    return index + len(words) if follows else index


def _length_at(tokens: Sequence[Token], index: int, scope: Scope) -> tuple[Length, int] | None:
    """Return the length that begins at a token, its parts ("1 hour, 5 minutes and 30 seconds") added up."""
    total: Length | None = None
    end = index
    while index < len(tokens):
        found = LENGTHS.longest(tokens, index, scope)
        if found is None or found[0].length is None or found[0].instant is not None:
            break
        length = found[0].length
        if total is not None and not _is_finer(length, total):
            break
        total = length if total is None else total.plus(length)
        end = index = found[1]
        while (
            index < len(tokens) and tokens[index].text in {"and", ",", "n", "&"} and index - end < 2
        ):
            index += 1
    return None if total is None else (total, end)


_ORDER: Final = ("second", "minute", "hour", "day", "business", "week", "month", "year")


def _is_finer(length: Length, total: Length) -> bool:
    return _ORDER.index(length.grain) < _ORDER.index(total.grain)


def _length_operator(
    tokens: Sequence[Token], length: Length, end: int, *, scope: Scope, depth: int, is_for: bool
) -> tuple[Partial, int]:
    """Apply "ago", "from now", "after Christmas" to a length; without one it stays a length."""
    if end >= len(tokens):
        return Partial(length=length), end
    return (
        _from_now(tokens, length, end, scope)
        or _begun(tokens, length, end, scope=scope, depth=depth, is_for=is_for)
        or _away_from(tokens, length, end, scope=scope, depth=depth, is_for=is_for)
        or _ago_or_hence(tokens, length, end, scope)
        or (Partial(length=length), end)
    )


def _from_now(
    tokens: Sequence[Token], length: Length, end: int, scope: Scope
) -> tuple[Partial, int] | None:
    """Read "from now", "after today"."""
    if tokens[end].text not in {"from", "after"} or end + 1 >= len(tokens):
        return None
    origin = tokens[end + 1]
    is_now = origin.text in {"now", "today", "tdy"} or "NOW" in origin.meanings
    return (_moved(scope, length), end + 2) if is_now else None


def _begun(
    tokens: Sequence[Token], length: Length, end: int, *, scope: Scope, depth: int, is_for: bool
) -> tuple[Partial, int] | None:
    """Read when a length begins: "starting on the 6th", "(for two weeks) from Monday"."""
    word = tokens[end].text
    if word not in _BEGINNING and not (is_for and word == "from"):
        return None
    at = skip(tokens, end + 1, frozenset({"from", "on", "the", "at"}))
    begin = group_at(tokens, at, scope, depth + 1)
    if begin is None or not begin[0].has_day:
        return None
    return replace(begin[0], length=length, is_weak=False), begin[1]


def _away_from(
    tokens: Sequence[Token], length: Length, end: int, *, scope: Scope, depth: int, is_for: bool
) -> tuple[Partial, int] | None:
    """Read how far something is from another time: "(a week) after Christmas", "(an hour) before 5pm"."""
    word = tokens[end].text
    direction = _FROM.get(word)
    if length.grain == "week" and not is_for and not direction:
        direction = 1 if word == "on" or tokens[end].meanings.get("DAYWORD", -1) >= 0 else None
    begin = end + (word in _FROM or word == "on")
    operand = group_at(tokens, begin, scope, depth + 1) if direction else None
    if direction is None or operand is None:
        return None
    origin, after = operand
    base = _day_or_none(origin, scope)
    if word == "on" and origin.weekday is None:
        return None
    if base is not None and (length.days or length.months):
        step = length if direction > 0 else length.negated()
        return _on(origin, _away(base, step)), after
    clock = origin.clock
    if clock is None or not clock.half or not length.seconds or is_for:
        return None
    minutes = (clock.hour % 12 + 12 * (clock.half == "pm")) * 60 + clock.minute
    minutes += length.seconds * direction // 60
    return replace(origin, clock=sure_clock(minutes // 60 % 24, minutes % 60)), after


def _ago_or_hence(
    tokens: Sequence[Token], length: Length, end: int, scope: Scope
) -> tuple[Partial, int] | None:
    """Read "ago", "(an hour) later"."""
    word = tokens[end].text
    following = tokens[end + 1].text if end + 1 < len(tokens) else ""
    if word in _AGO and (word != "before" or not following.isalnum()):
        return _moved(scope, length.negated()), end + 1
    is_later_on = end + 1 < len(tokens) and "REL" in tokens[end + 1].meanings and not length.seconds
    if word not in _HENCE or is_later_on:
        return None
    is_hence = word == "hence" or not following.isalpha() or length.seconds
    return (_moved(scope, length), end + 1) if is_hence else None


def _day_or_none(partial: Partial, scope: Scope) -> date | None:
    if not partial.has_day:
        return None
    try:
        return day_of(partial, scope, Habits())
    except (ValueError, OverflowError):
        return None


def _moved(scope: Scope, length: Length) -> Partial:
    """Return the reference moved: an instant for hours and finer, a day otherwise."""
    if length.seconds:
        return Partial(
            instant=after_length(scope.reference, length),
            instant_grain="second" if length.grain == "second" else "minute",
        )
    return Partial(on=_away(scope.reference.date(), length))


def _away(day: date, length: Length) -> date:
    return business_days(day, length.days) if length.grain == "business" else shifted(day, length)


def _week_of(
    tokens: Sequence[Token], index: int, scope: Scope, depth: int
) -> tuple[Partial, int] | None:
    """Read the day after "week of", "w/c"."""
    operand = group_at(tokens, skip(tokens, index, frozenset({"the", "on"})), scope, depth + 1)
    if operand is None and index < len(tokens) and "DAYNUM" in tokens[index].meanings:
        return None
    day = None if operand is None else _day_or_none(operand[0], scope)
    if operand is None or day is None:
        return None
    return Partial(period=week_of(day, scope.week_start)), operand[1]


def _beside_a_day(
    tokens: Sequence[Token], index: int, scope: Scope, depth: int
) -> tuple[Partial, int] | None:
    """Read "the Friday before Christmas", "the second Sunday after Easter", "the night before the 5th"."""
    at = min(index + (tokens[index].text == "the"), len(tokens) - 1)
    counted = next((each for each in _COUNTING if each in tokens[at].meanings), None)
    which = 1 if counted is None else abs(tokens[at].meanings[counted])
    at = min(at + (counted is not None), len(tokens) - 1)
    weekday = tokens[at].meanings.get("WEEKDAYS" if counted == "INT" else "WEEKDAY")
    at += weekday is not None
    part = tokens[at].meanings.get("PART") if 0 < at < len(tokens) else None
    if weekday is None and (part is None or tokens[at - 1].text != "the"):
        return None
    at += part is not None
    if at + 1 >= len(tokens) or tokens[at].text not in _BESIDE or not 1 <= which <= _MOST_WEEKS:
        return None
    step = _BESIDE[tokens[at].text]
    operand = group_at(tokens, at + 1, scope, depth + 1)
    day = None if operand is None else _day_or_none(operand[0], scope)
    if operand is None or day is None or operand[0].part is not None:
        return None
    origin, after = operand
    # "Friday after 3rd period" counts something else, and "Monday before Tuesday" is two days.
    is_dated = origin.on or origin.month or (origin.day and tokens[at + 1].text == "the")
    if weekday is None:
        away = 1
    elif is_dated:
        away = ((step * (weekday - day.weekday())) % 7 or 7) + 7 * (which - 1)
    else:
        return None
    return replace(_on(origin, day + timedelta(days=step * away)), part=part), after


def _on(partial: Partial, day: date) -> Partial:
    """Return the same on another day."""
    return replace(
        partial,
        on=day,
        day=None,
        month=None,
        year=None,
        weekday=None,
        period=None,
        lean=None,
        is_weak=False,
    )


def _unit_operator(
    tokens: Sequence[Token], index: int, scope: Scope, depth: int
) -> tuple[Partial, int] | None:
    """Read "week of the 12th", "the weekend of thanksgiving", "day after christmas"."""
    at = index + 1 if tokens[index].text == "the" else index
    if at + 1 >= len(tokens):
        return None
    unit = tokens[at].meanings.get("UNIT")
    if "WEEKOF" in tokens[at].meanings:
        return _week_of(tokens, at + 1, scope, depth)
    is_weekend = "WEEKEND" in tokens[at].meanings
    word = tokens[at + 1].text
    if (unit == "week" or is_weekend) and word in _WEEK_OPERATORS:
        begin = skip(tokens, at + 2, frozenset({"on", "the"}))
        operand = group_at(tokens, begin, scope, depth + 1)
        day = None if operand is None else _day_or_none(operand[0], scope)
        if operand is None or day is None:
            return None
        day += timedelta(days={"after": 7, "before": -7}.get(word, 0))
        period = weekend_of(day) if is_weekend else week_of(day, scope.week_start)
        return Partial(period=period), operand[1]
    if unit == "day" and word in {"after", "before"}:
        operand = group_at(tokens, at + 2, scope, depth + 1) if at + 2 < len(tokens) else None
        day = None if operand is None else _day_or_none(operand[0], scope)
        if operand is None or day is None:
            return None
        return Partial(on=day + timedelta(days=1 if word == "after" else -1)), operand[1]
    return None
