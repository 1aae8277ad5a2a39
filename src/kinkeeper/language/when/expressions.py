"""Expressions: rules' readings joined into one time, or into a range of two.

Neighbouring readings join while each fills what the others left open ("thurs" + "the 15th" + "2:15"); a word
such as "to" or a dash between two comparable ones makes a range whose ends complete each other.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, NamedTuple

from kinkeeper.language.when.clock_rules import CLOCKS
from kinkeeper.language.when.date_rules import DATES
from kinkeeper.language.when.grammar import Grammar, Scope
from kinkeeper.language.when.length_rules import LENGTHS, REPEATS
from kinkeeper.language.when.partial import Every, Length, Partial, Period, as_hour, merge
from kinkeeper.language.when.resolve import Habits, day_of
from kinkeeper.language.when.spans import after_length, business_days, shifted, week_of, weekend_of
from kinkeeper.language.when.tokens import Token

RULES: Final = Grammar.joined(REPEATS, LENGTHS, DATES, CLOCKS)

BOUNDS: Final = {
    "by": "by", "before": "before", "b4": "before", "bfr": "before", "until": "until", "till": "until",
    "til": "until", "untill": "until", "after": "after", "aft": "after", "aftr": "after", "since": "since",
    "from": "from", "starting": "from", "beginning": "from",
}  # fmt: skip
_ABOUT = frozenset({"around", "about", "abt", "ard", "round", "approx", "approximately", "roughly", "circa", "~", "gegen", "maybe", "like"})
_JOINTS = (
    frozenset({",", "at", "@", "on", "of", "in", "the", "(", ")", "for", "sometime", "or", "a", ":", ";", ".", "anytime", "say", "any", "time"})
    | _ABOUT
    | frozenset(BOUNDS)
) - {"or", "a", ";"}
_LONGEST_JOINT: Final = 3
_OPENING_RANGE = frozenset({"between", "from", "btw", "btwn", "betw"})
_RANGE_WORDS = frozenset({"-", "to", "until", "till", "til", "untill", "thru", "through", "—", "–", "/"})
_AGO = frozenset({"ago", "back", "earlier", "before"})
_HENCE = frozenset({"hence", "later", "out"})
_FROM = {"from": 1, "after": 1, "before": -1, "b4": -1}
_DEEPEST: Final = 3


class Expression(NamedTuple):
    """What a run of tokens says.

    Attributes:
        start: What it says; of a range, about its beginning.
        finish: What it says about its end, or None.
        end: Index past its last token.
    """

    start: Partial
    finish: Partial | None
    end: int


def expression_at(tokens: Sequence[Token], index: int, scope: Scope) -> Expression | None:
    """Return the expression that begins at a token, weak ones too, or None."""
    token = tokens[index].text
    if token in _OPENING_RANGE:
        at = index + 1
        while at < len(tokens) and tokens[at].text in {"the", "around", "about", "in", "between"}:
            at += 1
        found = _open_range(tokens, at, scope, frozenset({"and", "&", "n"}) | _RANGE_WORDS)
        if found is not None:
            return found
        return None
    return _open_range(tokens, index, scope, _RANGE_WORDS, is_cued=False)


def _open_range(
    tokens: Sequence[Token], index: int, scope: Scope, words: frozenset[str], *, is_cued: bool = True
) -> Expression | None:
    left = group_at(tokens, index, scope)
    if left is None:
        return None
    start, end = left
    found = _close_range(tokens, start, end, scope, words)
    if found is None:
        if is_cued:
            return None
        return _with_cued_range(tokens, start, end, scope) or Expression(start, None, end)
    finish, end = found
    if tokens[end - 2].text == "-" and _is_working_week(start, finish) and not is_cued:
        every = Every("FREQ=WEEKLY", (0, 1, 2, 3, 4))
        group = replace(finish, weekday=None, every=every)
        return _with_cued_range(tokens, group, end, scope) or Expression(group, None, end)
    start, finish = complete(start, finish)
    if start is None or finish is None:
        return None if is_cued else Expression(left[0], None, left[1])
    start, finish, end = _with_tail(tokens, start, finish, end, scope)
    if is_cued:
        start, finish = _as_years(start, finish)
        start, finish = _as_hours(start), _as_hours(finish)
    return Expression(start, finish, end)


def _is_working_week(start: Partial, finish: Partial) -> bool:
    """Whether "mon-fri" stands without a week."""
    return start == Partial(weekday=0) and replace(finish, clock=None, part=None) == Partial(weekday=4)


def _with_cued_range(tokens: Sequence[Token], start: Partial, end: int, scope: Scope) -> Expression | None:
    """Read "Monday" + "between 4 and 6pm"."""
    at = _skip(tokens, end, frozenset({",", "anytime", "sometime", "any", "time", "in"}))
    if at >= len(tokens) or not (start.has_date or start.every):
        return None
    if tokens[at].text in _OPENING_RANGE:
        found = expression_at(tokens, at, scope)
    elif start.every is not None:
        found = _open_range(tokens, at, scope, _RANGE_WORDS, is_cued=False)
    else:
        return None
    if found is None or found.finish is None or not found.start.has_time:
        return None
    first, last = merge(start, found.start), merge(start, found.finish)
    return None if first is None or last is None else Expression(first, last, found.end)


def _as_years(start: Partial, finish: Partial) -> tuple[Partial, Partial]:
    """Read "from 2014 to 2018" as years where they are no usual times of day."""
    first, last = start.clock, finish.clock
    if first is None or last is None or start.has_date or finish.has_date or first.half or last.half:
        return start, finish
    years = first.hour * 100 + first.minute, last.hour * 100 + last.minute
    is_usual = first.minute % 5 == 0 and last.minute % 5 == 0
    if is_usual or not (first.has_minute and last.has_minute and 1900 <= years[0] < years[1] < 2100):
        return start, finish
    return Partial(year=years[0]), Partial(year=years[1])


def _as_hours(partial: Partial) -> Partial:
    return as_hour(partial) if partial.is_number_only else partial


def _close_range(
    tokens: Sequence[Token], start: Partial, end: int, scope: Scope, words: frozenset[str]
) -> tuple[Partial, int] | None:
    """Return the second end of a range, if one follows."""
    at = end
    if at < len(tokens) and tokens[at].text in {",", "."} and at + 1 < len(tokens) and tokens[at + 1].text in {"-", "to"}:
        at += 1
    if at >= len(tokens) or tokens[at].text not in words:
        return None
    is_slash = tokens[at].text == "/"
    at += 1
    while at < len(tokens) and tokens[at].text in {"the", "about", "around", "before", "on", "at"}:
        at += 1
    right = group_at(tokens, at, scope) if at < len(tokens) else None
    if right is not None and not start.has_time and right[0].clock is not None and _begins_range(tokens, right[1]):
        right = _atom(tokens, at, scope, 0)
    if right is None or not comparable(start, right[0]):
        return None
    if is_slash and right[0].is_number_only:
        return None
    return right


def _begins_range(tokens: Sequence[Token], index: int) -> bool:
    """Whether a dash and a number follow: "fri 9" in "mon-fri 9-3"."""
    return index + 1 < len(tokens) and tokens[index].text == "-" and "HOUR" in tokens[index + 1].meanings


def comparable(left: Partial, right: Partial) -> bool:
    """Whether two partials can be the ends of one range."""
    if left == Partial(weekday=left.weekday, lean=left.lean) and right.weekday is None and right.day is not None:
        return False
    if left.length is not None or right.length is not None or left.every is not None or right.every is not None:
        return False
    numbers = (left.number, left.four, left.numbers), (right.number, right.four, right.numbers)
    if any(value is not None for value in numbers[0]):
        return right.clock is not None or right.day is not None or any(value is not None for value in numbers[1])
    if any(value is not None for value in numbers[1]):
        return left.clock is not None or left.day is not None
    if left.instant is not None or right.instant is not None:
        return right.has_date or right.has_time or right.instant is not None
    both_times = left.has_time and right.has_time
    both_dates = left.has_date and right.has_date
    return both_dates or both_times


def complete(left: Partial, right: Partial) -> tuple[Partial | None, Partial | None]:
    """Return both ends of a range, each completed by what the other says."""
    left, right = _settle_end(left, right), _settle_end(right, left)
    if left.is_number_only and right.is_number_only and (left.instant is None):
        if left.number is None and left.four is None and left.numbers is None:
            return None, None
    for name in ("year", "month", "period", "lean"):
        mine, other = getattr(left, name), getattr(right, name)
        if name == "lean" and left.month is not None:
            continue
        if mine is None and other is not None and _lacks(left, name):
            left = replace(left, **{name: other})
        if other is None and mine is not None and _lacks(right, name) and name != "lean":
            right = replace(right, **{name: mine})
    if not left.has_day and not right.has_day:
        return left, right
    if not left.has_day and left.clock is not None:
        left = replace(left, on=right.on, day=right.day, weekday=right.weekday, month=right.month, year=right.year, period=right.period, lean=right.lean)
    if not right.has_day and right.clock is not None:
        right = replace(right, on=left.on, day=left.day, weekday=left.weekday, month=left.month, year=left.year, period=left.period, lean=left.lean)
    return left, right


def _lacks(partial: Partial, name: str) -> bool:
    if partial.on is not None or partial.instant is not None:
        return False
    if name == "period":
        return partial.weekday is not None
    if name == "lean":
        return False
    if name == "month":
        return partial.day is not None
    return partial.month is not None


def _settle_end(partial: Partial, other: Partial) -> Partial:
    """Settle an undecided number by the range's other end."""
    undecided = partial.number is not None or partial.four is not None or partial.numbers is not None
    if not undecided:
        return partial
    if other.clock is not None or other.four is not None:
        return as_hour(partial)
    if other.day is not None and partial.number is not None:
        return replace(partial, number=None, day=partial.number, is_weak=False)
    if other.day is not None and partial.numbers is not None:
        day, month, _ = partial.numbers
        if 1 <= month <= 12 and 1 <= day <= 31:
            return replace(partial, numbers=None, day=day, month=month, is_weak=False)
    return partial


def _with_tail(
    tokens: Sequence[Token], start: Partial, finish: Partial, end: int, scope: Scope
) -> tuple[Partial, Partial, int]:
    """Add to both ends what follows the range: "3 to 5 on Thursday"."""
    while end < len(tokens):
        at = end
        while at < len(tokens) and at - end < _LONGEST_JOINT and tokens[at].text in _JOINTS - {"(", "."}:
            at += 1
        if at >= len(tokens):
            break
        tail = RULES.longest(tokens, at, scope)
        if tail is None or tail[0].is_number_only or tail[0].length is not None or tail[0].instant is not None:
            break
        both = merge(start, tail[0]), merge(finish, tail[0])
        if both[0] is None or both[1] is None:
            break
        start, finish, end = both[0], both[1], tail[1]
    return start, finish, end


def group_at(tokens: Sequence[Token], index: int, scope: Scope, depth: int = 0) -> tuple[Partial, int] | None:
    """Return the longest single time that begins at a token, and where it ends."""
    found = _atom(tokens, index, scope, depth)
    if found is None:
        return None
    partial, end = found
    while end < len(tokens):
        more = _next_weekday(tokens, partial, end) or _next_atom(tokens, partial, end, scope, depth)
        if more is None:
            break
        partial, end = more
    return partial, end


def _next_weekday(tokens: Sequence[Token], partial: Partial, end: int) -> tuple[Partial, int] | None:
    """Add a further day to a recurrence: "every tues & thurs"."""
    if partial.every is None or not partial.every.weekdays or partial.has_time:
        return None
    at = _skip(tokens, end, frozenset({"and", "&", ",", "/", "n", "every", "each", "on"}))
    weekday = tokens[at].meanings.get("WEEKDAY", tokens[at].meanings.get("WEEKDAYS"))
    if at == end or weekday is None:
        return None
    every = replace(partial.every, weekdays=(*partial.every.weekdays, weekday))
    return replace(partial, every=every), at + 1


def _next_atom(
    tokens: Sequence[Token], partial: Partial, end: int, scope: Scope, depth: int
) -> tuple[Partial, int] | None:
    at = end
    joints: list[str] = []
    while at < len(tokens) and len(joints) < _LONGEST_JOINT and tokens[at].text in _JOINTS:
        if tokens[at].text in {".", ":"} and tokens[at].spaced is False and at + 1 < len(tokens) and tokens[at].text == "." and tokens[at + 1].spaced and partial.has_time:
            return None
        joints.append(tokens[at].text)
        at += 1
    if not joints and at < len(tokens) and tokens[at].text in {"-", "/"}:
        joints.append("-")
        at += 1
    if at >= len(tokens):
        return None
    found = _atom(tokens, at, scope, depth)
    if found is None:
        return None
    other, after = found
    if not _may_join(partial, other, joints):
        return None
    merged = merge(partial, other)
    if merged is None:
        return None
    bound = next((BOUNDS[word] for word in joints if word in BOUNDS and BOUNDS[word] != "from"), None)
    if bound is not None and (other.has_time or other.number is not None):
        merged = replace(merged, bound=bound)
    if after < len(tokens) and tokens[after].text == ")" and "(" in joints:
        after += 1
    return merged, after


def _may_join(left: Partial, right: Partial, joints: Sequence[str]) -> bool:
    """Whether what stands between two readings lets them be one."""
    if right.length is not None and right.instant is None:
        return "for" in joints and left.length is None
    if left.length is not None and left.instant is None:
        return bool({"from", "starting", "beginning", "at"} & set(joints)) and (right.has_time or right.number is not None)
    if "-" in joints:
        return not comparable(left, right)
    if right.every is not None and left.every is None:
        return left.has_time
    if _is_span_and_time(left, right) or _is_span_and_time(right, left):
        return False
    if (right.number is not None or right.four is not None) and not joints and left == Partial(day=left.day):
        return False
    if right.number is not None or right.four is not None:
        return bool(left.has_date or left.part is not None or left.every is not None) and not {",", ".", ":"} & set(joints)
    if left.number is not None and joints and not (right.has_date or right.part):
        return False
    if "." in joints and not (left.numbers or left.day or left.weekday is not None):
        return False
    return not (left.is_weak and right.is_weak and left.part is not None and not joints and right.part is not None)


def _is_span_and_time(span: Partial, other: Partial) -> bool:
    """Whether one names days without naming one of them and the other a time: "next week" and "6pm"."""
    has_number = other.number is not None or other.four is not None or other.numbers is not None
    return span.has_date and not span.has_day and span.month is None and not other.has_day and (other.has_time or has_number) and not other.has_date


def _atom(tokens: Sequence[Token], index: int, scope: Scope, depth: int) -> tuple[Partial, int] | None:
    """Return a rule's reading, with the operators that take another time as their operand."""
    if depth > _DEEPEST or index >= len(tokens):
        return None
    token = tokens[index]
    if token.text in {"in", "within", "w/in"} and index + 1 < len(tokens):
        length = _length_at(tokens, _skip(tokens, index + 1, _ABOUT | {"the", "next", "like"}), scope)
        if length is not None:
            return _moved(scope, length[0]), _skip_words(tokens, length[1], ("time",))
    if "UNIT" in token.meanings or token.text == "the" or "WEEKEND" in token.meanings:
        found = _unit_operator(tokens, index, scope, depth)
        if found is not None:
            return found
    if "WEEKOF" in token.meanings:
        return _week_of(tokens, index + 1, scope, depth)
    plain = RULES.longest(tokens, index, scope)
    length = _length_at(tokens, index, scope)
    if length is None or (plain is not None and plain[1] > length[1]):
        return plain
    is_for = index > 0 and tokens[index - 1].text == "for"
    return _length_operator(tokens, length[0], length[1], scope, depth, is_for=is_for)


def _skip(tokens: Sequence[Token], index: int, words: frozenset[str]) -> int:
    while index < len(tokens) - 1 and tokens[index].text in words:
        index += 1
    return index


def _skip_words(tokens: Sequence[Token], index: int, words: Sequence[str]) -> int:
    follows = all(index + at < len(tokens) and tokens[index + at].text == word for at, word in enumerate(words))
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
        while index < len(tokens) and tokens[index].text in {"and", ",", "n", "&"} and index - end < 2:
            index += 1
    return None if total is None else (total, end)


_ORDER: Final = ("second", "minute", "hour", "day", "business", "week", "month", "year")


def _is_finer(length: Length, total: Length) -> bool:
    return _ORDER.index(length.grain) < _ORDER.index(total.grain)


def _length_operator(
    tokens: Sequence[Token], length: Length, end: int, scope: Scope, depth: int, *, is_for: bool
) -> tuple[Partial, int]:
    """Apply "ago", "from now", "after Christmas" to a length; without one it stays a length."""
    plain = Partial(length=length), end
    if end >= len(tokens):
        return plain
    word = tokens[end].text
    following = tokens[end + 1].text if end + 1 < len(tokens) else ""
    if word in {"from", "after"} and (following in {"now", "today", "tdy"} or "NOW" in (tokens[end + 1].meanings if following else {})):
        return _moved(scope, length), end + 2
    if word in {"starting", "beginning", "commencing"} or (is_for and word == "from"):
        at = _skip(tokens, end + 1, frozenset({"from", "on", "the", "at"}))
        begin = group_at(tokens, at, scope, depth + 1)
        if begin is not None and begin[0].has_day:
            return replace(begin[0], length=length, is_weak=False), begin[1]
    if word in _FROM and end + 1 < len(tokens):
        operand = group_at(tokens, end + 1, scope, depth + 1)
        base = None if operand is None else _day_or_none(operand[0], scope)
        if base is not None and operand is not None and (length.days or length.months):
            step = length if _FROM[word] > 0 else length.negated()
            moved = replace(operand[0], on=shifted(base, step), day=None, month=None, year=None, weekday=None, period=None, lean=None, is_weak=False)
            return moved, operand[1]
        if operand is not None and operand[0].clock is not None and length.seconds and operand[0].clock.half:
            return plain
    if word in _AGO and (word != "before" or not following or not following.isalnum()):
        return _moved(scope, length.negated()), end + 1
    if word in _HENCE and (word == "hence" or not following.isalpha() or length.seconds):
        return _moved(scope, length), end + 1
    return plain


def _day_or_none(partial: Partial, scope: Scope) -> "object":
    try:
        if partial.has_day:
            return day_of(partial, scope, Habits())
        return None
    except (ValueError, OverflowError):
        return None


def _moved(scope: Scope, length: Length) -> Partial:
    """Return the reference moved: an instant for hours and finer, a day otherwise."""
    if length.seconds:
        return Partial(instant=after_length(scope.reference, length), instant_grain="second" if length.grain == "second" else "minute")
    today = scope.reference.date()
    if length.grain == "business":
        return Partial(on=business_days(today, length.days))
    return Partial(on=shifted(today, length))


def _week_of(tokens: Sequence[Token], index: int, scope: Scope, depth: int) -> tuple[Partial, int] | None:
    """Read the day after "week of", "w/c"."""
    operand = group_at(tokens, _skip(tokens, index, frozenset({"the", "on"})), scope, depth + 1)
    if operand is None and index < len(tokens) and "DAYNUM" in tokens[index].meanings:
        return None
    day = None if operand is None else _day_or_none(operand[0], scope)
    if operand is None or day is None:
        return None
    return Partial(period=week_of(day, scope.week_start)), operand[1]


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
    if (unit == "week" or is_weekend) and word in {"of", "after", "before"}:
        operand = group_at(tokens, at + 2, scope, depth + 1) if at + 2 < len(tokens) else None
        day = None if operand is None else _day_or_none(operand[0], scope)
        if operand is None or day is None:
            return None
        day += timedelta(days={"after": 7, "before": -7}.get(word, 0))
        period = weekend_of(day) if is_weekend else week_of(day, scope.week_start)
        return Partial(period=Period(period.first, period.after, period.grain)), operand[1]
    if unit == "day" and word in {"after", "before"}:
        operand = group_at(tokens, at + 2, scope, depth + 1) if at + 2 < len(tokens) else None
        day = None if operand is None else _day_or_none(operand[0], scope)
        if operand is None or day is None:
            return None
        return Partial(on=day + timedelta(days=1 if word == "after" else -1)), operand[1]
    return None
