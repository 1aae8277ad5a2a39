"""Expressions: a group of readings or a range of two, and the interval that they mean on the calendar."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from kinkeeper.reading.times.grammar import Scope
from kinkeeper.reading.times.groups import JOINTS, LONGEST_JOINT, RULES, atom_at, group_at, skip
from kinkeeper.reading.times.model import SpanKind
from kinkeeper.reading.times.partial import (
    Clock,
    Every,
    Partial,
    as_hour,
    comparable,
    is_apposition,
    merge,
)
from kinkeeper.reading.times.resolve import (
    OFFICES_OPEN,
    Habits,
    Resolved,
    bounded,
    hour_of,
    is_certain,
    is_end,
    resolve,
)
from kinkeeper.reading.times.tokens import Token

_RANGE_WORDS: Final = frozenset(
    {"-", "to", "until", "till", "til", "untill", "thru", "through", "—", "–", "/"}
)
OPENING_RANGE: Final = frozenset({"between", "from", "btw", "btwn", "betw"})


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
    if token in OPENING_RANGE:
        at = index + 1
        while at < len(tokens) and tokens[at].text in {"the", "around", "about", "in", "between"}:
            at += 1
        found = _open_range(tokens, at, scope, frozenset({"and", "&", "n"}) | _RANGE_WORDS)
        if found is not None:
            return found
        return None
    return _open_range(tokens, index, scope, _RANGE_WORDS, is_cued=False)


def _open_range(
    tokens: Sequence[Token],
    index: int,
    scope: Scope,
    words: frozenset[str],
    *,
    is_cued: bool = True,
    is_hours: bool = False,
) -> Expression | None:
    """Return a range, or a single time where it is not cued; of the hours behind a day nothing more is looked for."""
    left = group_at(tokens, index, scope)
    if left is None:
        return None
    start, end = left
    found = _close_range(tokens, start, end, scope=scope, words=words)
    if found is None:
        if is_cued:
            return None
        ranged = None if is_hours else _with_cued_range(tokens, start, end, scope)
        return ranged or Expression(start, None, end)
    finish, end = found
    if tokens[end - 2].text == "-" and _is_working_week(start, finish) and not is_cued:
        every = Every("FREQ=WEEKLY", (0, 1, 2, 3, 4))
        group = replace(finish, weekday=None, every=every)
        return _with_cued_range(tokens, group, end, scope) or Expression(group, None, end)
    if (
        start.is_number_only
        and finish.is_number_only
        and not start.is_undecided
        and start.instant is None
    ):
        return None if is_cued else Expression(start, None, left[1])
    start, finish = complete(start, finish)
    start, finish, end = _with_tail(tokens, start, finish, end=end, scope=scope)
    if is_cued:
        start, finish = _as_years(start, finish)
        start, finish = _as_hours(start), _as_hours(finish)
    return Expression(start, finish, end)


def _is_working_week(start: Partial, finish: Partial) -> bool:
    """Whether "mon-fri" stands without a week."""
    return start == Partial(weekday=0) and replace(finish, clock=None, part=None) == Partial(
        weekday=4
    )


def _with_cued_range(
    tokens: Sequence[Token], start: Partial, end: int, scope: Scope
) -> Expression | None:
    """Read "Monday" + "between 4 and 6pm", "the 3rd" + "10 til 12"."""
    at = skip(tokens, end, frozenset({",", "anytime", "sometime", "any", "time", "in"}))
    if at >= len(tokens) or not (start.has_date or start.every):
        return None
    if tokens[at].text in OPENING_RANGE:
        found = expression_at(tokens, at, scope)
    elif start.every is not None or start == Partial(day=start.day):
        found = _open_range(tokens, at, scope, _RANGE_WORDS, is_cued=False, is_hours=True)
    else:
        return None
    if found is None or found.finish is None:
        return None
    begin, finish = _as_hours(found.start), _as_hours(found.finish)
    if not begin.has_time:
        return None
    first, last = merge(start, begin), merge(start, finish)
    return None if first is None or last is None else Expression(first, last, found.end)


def _as_years(start: Partial, finish: Partial) -> tuple[Partial, Partial]:
    """Read "from 2014 to 2018" as years where they are no usual times of day."""
    first, last = start.clock, finish.clock
    if (
        first is None
        or last is None
        or start.has_date
        or finish.has_date
        or first.half
        or last.half
    ):
        return start, finish
    years = first.hour * 100 + first.minute, last.hour * 100 + last.minute
    is_usual = first.minute % 5 == 0 and last.minute % 5 == 0
    if is_usual or not (
        first.has_minute and last.has_minute and 1900 <= years[0] < years[1] < 2100
    ):
        return start, finish
    return Partial(year=years[0]), Partial(year=years[1])


def _as_hours(partial: Partial) -> Partial:
    return as_hour(partial) if partial.is_number_only else partial


def _close_range(
    tokens: Sequence[Token], start: Partial, end: int, *, scope: Scope, words: frozenset[str]
) -> tuple[Partial, int] | None:
    """Return the second end of a range, if one follows."""
    at = end
    if (
        at < len(tokens)
        and tokens[at].text in {",", "."}
        and at + 1 < len(tokens)
        and tokens[at + 1].text in {"-", "to"}
    ):
        at += 1
    if at >= len(tokens) or tokens[at].text not in words:
        return None
    is_slash = tokens[at].text == "/"
    at += 1
    while at < len(tokens) and tokens[at].text in {"the", "about", "around", "before", "on", "at"}:
        at += 1
    right = group_at(tokens, at, scope) if at < len(tokens) else None
    if right is not None and _takes_too_much(tokens, start, right):
        right = atom_at(tokens, at, scope, 0)
    is_dash = tokens[at - 1].text == "-"
    if (
        right is None
        or (is_dash and is_apposition(start, right[0]))
        or not comparable(start, right[0])
    ):
        return None
    if is_slash and right[0].is_number_only:
        return None
    return right


def _takes_too_much(tokens: Sequence[Token], start: Partial, right: tuple[Partial, int]) -> bool:
    """Whether what follows the end of a range went into it: "9:30 to 10:15 for 8 weeks", "4 to 5 from May"."""
    finish, end = right
    if start.every is not None and start.has_time:
        return finish.has_date or finish.length is not None
    if finish.clock is None:
        return False
    return finish.length is not None or (not start.has_time and _begins_range(tokens, end))


def _begins_range(tokens: Sequence[Token], index: int) -> bool:
    """Whether the end of a range of hours follows: "fri 9" in "mon-fri 9-3", "17 april from 9" before "till 3"."""
    if index >= len(tokens) or tokens[index].text not in _RANGE_WORDS - {"/"}:
        return False
    at = skip(tokens, index + 1, frozenset({"at", "about", "around"}))
    return at < len(tokens) and "HOUR" in tokens[at].meanings


def complete(left: Partial, right: Partial) -> tuple[Partial, Partial]:
    """Return both ends of a range, each completed by what the other says."""
    left, right = _settle_end(left, right), _settle_end(right, left)
    if left.every is not None:
        return left, replace(right, every=left.every)
    left, right = _with_calendar(left, right), _with_calendar(right, left)
    if (
        left.lean is None
        and left.month is None
        and left.weekday is not None
        and left.period is None
    ):
        left = replace(
            left, lean=right.lean if right.weekday is not None and right.lean == 0 else None
        )
    if not left.has_day and left.clock is not None and right.has_day:
        return _on_day_of(left, right), right
    if not right.has_day and right.clock is not None and left.has_day:
        return left, _on_day_of(right, left)
    return left, right


def _with_calendar(partial: Partial, other: Partial) -> Partial:
    """Return a partial with the year, month or week that only the other end says."""
    for name in ("year", "month", "period"):
        if getattr(partial, name) is None and _lacks(partial, name):
            partial = replace(partial, **{name: getattr(other, name)})
    return partial


def _on_day_of(partial: Partial, other: Partial) -> Partial:
    """Return a time of day on the day of the other end."""
    return replace(
        partial,
        on=other.on,
        day=other.day,
        weekday=other.weekday,
        month=other.month,
        year=other.year,
        period=other.period,
        lean=other.lean,
    )


def _lacks(partial: Partial, name: str) -> bool:
    if partial.on is not None or partial.instant is not None:
        return False
    if name == "period":
        return partial.weekday is not None
    if name == "month":
        return partial.day is not None
    return partial.month is not None


def _settle_end(partial: Partial, other: Partial) -> Partial:
    """Settle an undecided number by the range's other end."""
    undecided = (
        partial.number is not None or partial.four is not None or partial.numbers is not None
    )
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
    tokens: Sequence[Token], start: Partial, finish: Partial, *, end: int, scope: Scope
) -> tuple[Partial, Partial, int]:
    """Add to both ends what follows the range: "3 to 5 on Thursday"."""
    while end < len(tokens):
        at = end
        while (
            at < len(tokens) and at - end < LONGEST_JOINT and tokens[at].text in JOINTS - {"(", "."}
        ):
            at += 1
        if at >= len(tokens):
            break
        tail = RULES.longest(tokens, at, scope)
        if tail is None or tail[0].is_number_only or tail[0].instant is not None:
            break
        if tail[0].length is not None and (start.every is None or tail[0].length.seconds):
            break
        joints = [token.text for token in tokens[end:at]]
        if is_end(start, tail[0], joints):
            break
        both = (
            bounded(start, tail[0], joints, scope) or merge(start, tail[0]),
            bounded(finish, tail[0], joints, scope) or merge(finish, tail[0]),
        )
        if both[0] is None or both[1] is None:
            break
        start, finish, end = both[0], both[1], tail[1]
    return start, finish, end


# Ranges on the calendar: both ends settle each other's half of the day, and the end never precedes
# the start.

_NIGHT_ENDS: Final = 4


def resolve_expression(found: Expression, scope: Scope, habits: Habits) -> Resolved | None:
    """Return what an expression means on the calendar, both ends of a range settled together; None where none does.

    Raises:
        ValueError: No calendar has such a day.
        OverflowError: The calendar ends before.
    """
    if found.finish is None:
        return resolve(found.start, scope, habits)
    if _is_of_this_morning(found.start, scope):
        habits = replace(habits, day_begins=OFFICES_OPEN)
    start, finish = _agree(found.start, found.finish, habits)
    begin = resolve(start, scope, habits)
    end = resolve(finish, scope, habits)
    if begin is None or end is None:
        return None
    until = end.begin if finish.clock is not None or finish.instant is not None else end.until
    is_same_day = finish.weekday in {None, start.weekday}
    if until <= begin.begin and finish.clock is not None and is_same_day:
        until = _ends_on_day_of(begin.begin, until)
    if until <= begin.begin and finish.year is None and finish.month is not None:
        end = resolve(replace(finish, year=end.begin.year + 1), scope, habits)
        if end is None:
            return None
        until = end.until
    if until <= begin.begin and finish.month is None and finish.day is not None:
        later = resolve(finish, replace(scope, reference=begin.begin), habits)
        until = end.until if later is None else later.until
    while until <= begin.begin and finish.weekday is not None:
        until = _next_day(until, 7)
    if until < begin.begin:
        return None
    kind = SpanKind.RECURRING if begin.recurrence else SpanKind.RANGE
    known = begin.is_meridiem_known or end.is_meridiem_known
    return replace(begin, kind=kind, until=until, is_meridiem_known=known)


def _is_of_this_morning(start: Partial, scope: Scope) -> bool:
    """Whether a range opens at an hour without a day that comes next, said before offices open ("between 8 and 10")."""
    is_open = start.clock is not None and start.part is None
    is_today = start.weekday is None and start.day is None and start.on is None
    is_early = _NIGHT_ENDS <= scope.reference.hour < OFFICES_OPEN
    return is_open and is_today and start.period is None and is_early


def _ends_on_day_of(begin: datetime, until: datetime) -> datetime:
    """Return the time of day at which a span ends, on the day it begins or the next."""
    same = until.replace(year=begin.year, month=begin.month, day=begin.day)
    return same if same > begin else _next_day(same)


def _next_day(instant: datetime, days: int = 1) -> datetime:
    return instant + timedelta(days=days)


def _agree(start: Partial, finish: Partial, habits: Habits) -> tuple[Partial, Partial]:
    """Settle the halves of the day of a range's ends together: "3-4pm", "10-4", "9-5"."""
    first, last = start.clock, finish.clock
    if first is None or last is None:
        return start, finish
    if not is_certain(first, start.part) and last.half is not None:
        half = last.half
        if half == "pm" and (first.hour % 12, first.minute) > (last.hour % 12, last.minute):
            half = "am"
        return replace(start, clock=replace(first, half=half)), finish
    if not is_certain(first, start.part) and not is_certain(last, finish.part):
        hour = hour_of(first, start.part, habits)
        if first.hour < hour and (last.hour == 12 or last.hour < first.hour):
            hour = first.hour
        start = replace(start, clock=_settled(first, hour))
        return start, replace(finish, clock=_settled(last, _hour_after(last, hour, first)))
    if is_certain(first, start.part) and not is_certain(last, finish.part):
        hour = hour_of(first, start.part, habits)
        return start, replace(finish, clock=_settled(last, _hour_after(last, hour, first)))
    if is_certain(last, finish.part) and not is_certain(first, start.part):
        end = hour_of(last, finish.part, habits)
        hour = first.hour + 12 if first.hour + 12 <= end and first.hour < 12 else first.hour
        return replace(start, clock=_settled(first, hour)), finish
    return start, finish


def _hour_after(last: Clock, hour: int, first: Clock) -> int:
    """Return the nearest hour of `last` that lies after the beginning."""
    candidates = (last.hour % 12, last.hour % 12 + 12, last.hour % 12 + 24)
    return next(value for value in candidates if (value, last.minute) > (hour, first.minute))


def _settled(clock: Clock, hour: int) -> Clock:
    return replace(clock, hour=hour, half=None, is_sure=True)
