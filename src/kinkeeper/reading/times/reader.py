"""Reading all time expressions of a text.

Stages: fold the text, skip it when nothing in it can be a time, cut it into tokens, find expressions from left
to right, ask whether the words around let them be times, resolve them on the calendar.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Final, NamedTuple

from kinkeeper.reading.times.acceptance import (
    TIME_JOINTS,
    bound_before,
    in_the_past,
    is_daytime_talk,
    is_early_talk,
    is_evening_talk,
    is_late_talk,
    is_time,
    morning_begins,
    without_names,
    without_neighbourhoods,
)
from kinkeeper.reading.times.expressions import Expression, expression_at, resolve_expression
from kinkeeper.reading.times.grammar import Scope
from kinkeeper.reading.times.groups import group_at
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan
from kinkeeper.reading.times.partial import Every, Partial, as_hour, sure_clock, whole_pair
from kinkeeper.reading.times.resolve import OFFICES_OPEN, Habits, in_order, other_day
from kinkeeper.reading.times.time_text import is_day_first, week_start
from kinkeeper.reading.times.tokens import (
    Folded,
    Lexicon,
    Token,
    fold,
    load_lexicon,
    pieces_of,
    tokenize,
)

LONGEST_TEXT: Final = 4096
_WORDS = re.compile(r"[0-9]+[a-z]+|[a-z]+|[0-9]")
_LIST_WORDS = frozenset({"and", "&", ",", "or", "n", "/"})
_BETWEEN_HOURS = frozenset({",", "and", "&", "at", "again", "then"})
_MEALS = {"breakfast": "breakfast", "lunch": "lunch", "dinner": "dinner", "supper": "dinner"}
_OPENING = frozenset({"starts", "begins", "start", "begin", "started"})
_WEEK = timedelta(days=7)
_EITHER = frozenset({"or", "/"})
_BEHIND_LISTED = frozenset(
    {
        "please",
        "pls",
        "if",
        "is",
        "works",
        "for",
        "at",
        "and",
        "or",
        "in",
        "on",
        "to",
        "every",
        "each",
        "daily",
        "until",
        "till",
        "til",
        "about",
        "of",
        "that",
    }
)
_NOON, _MOST_HOURS = 12, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTimeWords:
    """A time that a household has a name for.

    Attributes:
        id: "after-school".
        words: What people type for it, several words allowed; no words stand for the id itself.
        start: Local time of day.
    """

    id: str
    words: tuple[str, ...]
    start: time


class _Source(NamedTuple):
    """A text in its three forms."""

    text: str
    folded: Folded
    tokens: Sequence[Token]


def scope_of(reference: datetime, locale: str) -> Scope:
    """Return what the locale ("en-US") decides: the order of 3/4 and the week's first day."""
    return Scope(
        reference=reference, is_day_first=is_day_first(locale), week_start=week_start(locale)
    )


def read(
    text: str,
    reference: datetime,
    *,
    locale: str = "en-US",
    named_times: Sequence[NamedTimeWords] = (),
    usual_hour: time | None = None,
) -> tuple[TimeSpan, ...]:
    """Return the time expressions of a text.

    Args:
        text: Any text; beyond 4,096 characters it is not read.
        reference: When it was written, aware, in the zone to read it in.
        locale: Decides the order of numeric dates and the first day of the week.
        usual_hour: Usual start of the activity talked about, local; decides am or pm of a bare hour.

    Returns:
        Spans in text order that do not overlap, in the reference's zone.
    """
    folded = fold(text[:LONGEST_TEXT])
    lexicon = load_lexicon()
    if not _may_hold_time(folded.text, lexicon, named_times):
        return ()
    tokens = _with_named_times(tokenize(folded.text, lexicon), named_times)
    if not tokens:
        return ()
    scope = scope_of(reference, locale)
    starts = {named.id: named.start for named in named_times}
    found_all = without_names(tokens, [*_expressions(tokens, scope)])
    found_all = without_neighbourhoods(tokens, found_all, scope)
    habits = Habits(
        morning_begins=morning_begins(tokens),
        day_begins=OFFICES_OPEN if is_daytime_talk(tokens) else None,
        is_early=is_early_talk(tokens),
        is_late=is_late_talk(tokens),
        is_evening=is_evening_talk(tokens),
        usual_hour=usual_hour,
        names_day=any(each.start.has_date for _, each in found_all),
    )
    spans = []
    for first, found in _in_order(tokens, [*_shared(tokens, found_all)], habits):
        span = _span(
            _Source(text, folded, tokens),
            first,
            _with_named_start(in_the_past(tokens, first, found), starts),
            scope=scope,
            habits=habits,
        )
        if span is not None:
            spans.append(span)
    return tuple(spans)


def _may_hold_time(text: str, lexicon: Lexicon, named_times: Sequence[NamedTimeWords]) -> bool:
    for word in _WORDS.findall(text):
        if word in lexicon.triggers or word[0].isdigit() or word.endswith("ish"):
            return True
        if lexicon.forgive(word) is not None:
            return True
    return any(word.lower() in text for named in named_times for word in _words_of(named))


def _words_of(named: NamedTimeWords) -> tuple[str, ...]:
    return named.words or (named.id.replace("-", " ").replace("_", " "),)


def _with_named_times(tokens: list[Token], named_times: Sequence[NamedTimeWords]) -> list[Token]:
    """Join the words of named times into single tokens, longest first."""
    forms = sorted(
        ((pieces_of(form), named.id) for named in named_times for form in _words_of(named)),
        key=lambda pair: -len(pair[0]),
    )
    for pieces, name in forms:
        tokens = _joined(tokens, pieces, name)
    return tokens


def _joined(tokens: list[Token], pieces: tuple[str, ...], name: str) -> list[Token]:
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        run = tokens[index : index + len(pieces)]
        if pieces and tuple(token.text for token in run) == tuple(
            piece.strip() for piece in pieces
        ):
            result.append(
                Token("".join(pieces), run[0].start, run[-1].end, run[0].spaced, {"NAMED": name})
            )
            index += len(pieces)
        else:
            result.append(tokens[index])
            index += 1
    return result


def _with_named_start(found: Expression, starts: Mapping[str, time]) -> Expression:
    return Expression(
        _named_clock(found.start, starts),
        found.finish and _named_clock(found.finish, starts),
        found.end,
    )


def _named_clock(partial: Partial, starts: Mapping[str, time]) -> Partial:
    start = starts.get(partial.named or "")
    if start is None or partial.clock is not None:
        return partial
    return replace(partial, clock=sure_clock(start.hour, start.minute))


def _expressions(tokens: Sequence[Token], scope: Scope) -> Iterator[tuple[int, Expression]]:
    """Yield the accepted readings with their first tokens, from left to right."""
    index = 0
    previous: Expression | None = None
    while index < len(tokens):
        if previous is not None and index == previous.end:
            listed = _listed(tokens, previous, scope)
            if listed is not None:
                yield listed
                previous, index = listed[1], listed[1].end
                continue
        found = _safely(tokens, index, scope)
        if found is not None and index == 0 and found.end == len(tokens):
            found = found._replace(start=whole_pair(found.start))
        if found is not None and _are_hours(tokens, index, found, previous):
            finish = found.finish and as_hour(found.finish)
            found = found._replace(start=as_hour(found.start), finish=finish)
        if found is not None and is_time(tokens, index, found):
            if found.start.is_number_only:
                found = found._replace(start=as_hour(found.start))
            yield index, found
            previous, index = found, found.end
        else:
            index += 1


def _are_hours(
    tokens: Sequence[Token], index: int, found: Expression, previous: Expression | None
) -> bool:
    """Whether two bare numbers are hours: "2 till 4", and "2-4" right behind its day."""
    if found.finish is None or not (found.start.is_number_only and found.finish.is_number_only):
        return False
    if found.start.number is None or found.finish.number is None:
        return False
    follows_day = (
        previous is not None
        and previous.start.has_day
        and not previous.start.has_time
        and index - previous.end <= 1
        and all(token.text in {",", ":", "@"} for token in tokens[previous.end : index])
    )
    return follows_day or tokens[index + 1].text in TIME_JOINTS


def _shared(
    tokens: Sequence[Token], found: list[tuple[int, Expression]]
) -> Iterator[tuple[int, Expression]]:
    """Let members of a list share what one says for all: "next tue or wed", "25th & 26th of march"."""
    starts = [expression.start for _, expression in found]
    for place in range(1, len(found)):
        before = found[place - 1][1].end
        if found[place][0] != before + 1 or tokens[before].text not in _LIST_WORDS:
            continue
        left, right = starts[place - 1], starts[place]
        if (
            left.weekday is not None
            and left.lean == 1
            and right.lean is None
            and right.period is None
        ):
            starts[place] = replace(right, lean=1) if right.weekday is not None else right
        if left == Partial(day=left.day) and right.month is not None and right.day is not None:
            starts[place - 1] = replace(left, month=right.month, year=right.year)
    for (first, expression), start in zip(found, starts, strict=True):
        yield first, expression._replace(start=start)


def _safely(tokens: Sequence[Token], index: int, scope: Scope) -> Expression | None:
    """Return the expression at a token; dates outside the calendar are no expressions."""
    if not tokens[index].meanings and tokens[index].text not in _OPENERS:
        return None
    try:
        return expression_at(tokens, index, scope)
    except (ValueError, OverflowError):
        return None


# Words that open an expression though they mean no time themselves.
_OPENERS = frozenset(
    {
        "the",
        "a",
        "an",
        "in",
        "on",
        "at",
        "this",
        "half",
        "quarter",
        "qtr",
        "between",
        "from",
        "within",
        "every",
        "each",
        "all",
        "rest",
        "week",
        "wk",
        "q",
        "btw",
        "btwn",
        "evry",
        "evey",
        "once",
        "twice",
        "thrice",
        "another",
        "whole",
        "entire",
        "school",
        "1/4",
        "w/in",
        "alternate",
        "year",
        "for",
        "during",
        "later",
        "before",
        "after",
        "since",
        "through",
        "of",
    }
)


def _listed(
    tokens: Sequence[Token], previous: Expression, scope: Scope
) -> tuple[int, Expression] | None:
    """Return the next of a list: "at 4 or 5", "at 8, 2 and 8", "march 3 and 5"."""
    at = previous.end
    if at + 1 >= len(tokens) or tokens[at].text not in _LIST_WORDS or previous.finish is not None:
        return None
    last, meal = previous.start, _MEALS.get(tokens[at + 1].text)
    if meal is not None and last.part in _MEALS.values():
        return at + 1, Expression(Partial(part=meal), None, at + 2)
    found = group_at(tokens, at + 1, scope)
    if found is None:
        return None
    start, end = found
    following = tokens[end : end + 1]
    if last.clock is not None and last.part is None and tokens[at].text not in _EITHER:
        hour = as_hour(start)
        is_listed = hour.clock is not None and _ends(following)
        return (at + 1, Expression(hour, None, end)) if is_listed else None
    if start.number is None or not start.is_number_only:
        return None
    if last.clock is not None and last.part is None and 1 <= start.number <= _NOON:
        same_day = replace(
            last, clock=replace(last.clock, hour=start.number, minute=0, has_minute=False)
        )
        expression = Expression(same_day, None, end)
    elif (
        last.day is not None
        and last.month is not None
        and last.clock is None
        and last.day < start.number <= 31
        and last.year is None
    ):
        expression = Expression(replace(last, day=start.number, weekday=None), None, end)
    else:
        return None
    return (at + 1, expression) if _ends(following) else None


def _ends(following: Sequence[Token]) -> bool:
    """Whether a number of a list counts nothing that follows it."""
    return not following or not following[0].text.isalpha() or following[0].text in _BEHIND_LISTED


def _in_order(
    tokens: Sequence[Token], found: Sequence[tuple[int, Expression]], habits: Habits
) -> Iterator[tuple[int, Expression]]:
    """Yield readings in which the bare hours of a list follow one another through the day: "at 8, 2 and 8"."""
    run: list[tuple[int, Expression]] = []
    for each in [*found, None]:
        is_full = len(run) == _MOST_HOURS
        if run and (each is None or is_full or not _goes_on(tokens, run, each)):
            yield from _as_list(run, habits) if len(run) > 1 else run
            run = []
        if each is not None:
            run.append(each)


def _as_list(
    run: Sequence[tuple[int, Expression]], habits: Habits
) -> Iterator[tuple[int, Expression]]:
    """Yield the hours of a list in their halves of the day; what one says of coming again ("8 and 8 for a week") goes for all."""
    clocks = in_order([each.start.clock for _, each in run if each.start.clock], habits)
    again = next((each.start for _, each in run if each.start.every or each.start.length), None)
    is_again = again is not None and not any(each.start.has_date for _, each in run)
    for (first, each), clock in zip(run, clocks, strict=True):
        start = replace(each.start, clock=clock)
        if is_again and again is not None and not (again.length and again.length.seconds):
            start = replace(again, clock=clock, every=again.every or Every("FREQ=DAILY"))
        yield first, each._replace(start=start)


def _goes_on(
    tokens: Sequence[Token], run: Sequence[tuple[int, Expression]], each: tuple[int, Expression]
) -> bool:
    """Whether a reading is the next hour of the list that a run of them is, of one day at most."""
    starts = [one.start for _, one in (*run, each)]
    between = {token.text for token in tokens[run[-1][1].end : each[0]]}
    are_hours = all(one.clock and one.part is None and one.bound is None for one in starts)
    return (
        are_hours
        and all(one.finish is None for _, one in (*run, each))
        and sum(one.has_date or one.every is not None for one in starts) <= 1
        and between <= _LIST_WORDS - _EITHER | {"at", "@"}
        and not between.isdisjoint(_LIST_WORDS)
    )


def _span(
    source: _Source, first: int, found: Expression, *, scope: Scope, habits: Habits
) -> TimeSpan | None:
    text, folded, tokens = source
    try:
        resolved = resolve_expression(found, scope, habits)
    except (ValueError, OverflowError, StopIteration):
        return None
    if resolved is None:
        return None
    bound = None if found.finish is not None else bound_before(tokens, first)
    verb = tokens[max(0, first - 1 - (tokens[first - 1].text == "in"))].text if first else ""
    opens = found.start.has_date and not found.start.has_day and verb in _OPENING
    first = first if bound is None else bound[1]
    is_weekday = found.start == Partial(weekday=found.start.weekday)
    if (
        is_weekday
        and bound
        and bound[0] == "until"
        and resolved.begin.date() == scope.reference.date()
    ):
        # Until "Sunday", said on a Sunday, is until the next one.
        resolved = replace(resolved, begin=resolved.begin + _WEEK, until=resolved.until + _WEEK)
    start, end = tokens[first].start, tokens[found.end - 1].end
    if folded.origin is not None:
        start, end = folded.origin[start], folded.origin[end - 1] + 1
    partial = found.start
    ends = [each for each in (found.start, found.finish) if each is not None]
    return TimeSpan(
        surface=text[start:end],
        start_char=start,
        end_char=end,
        kind=resolved.kind,
        begin=resolved.begin,
        until=resolved.until,
        grain=resolved.grain,
        recurrence=resolved.recurrence,
        often=1 if partial.every is None else partial.every.often,
        has_date=partial.has_date or partial.instant is not None,
        has_time=partial.has_time or partial.instant is not None,
        part_of_day=_part_name(partial.part),
        is_meridiem_known=resolved.is_meridiem_known,
        is_half_open=resolved.is_half_open,
        is_away=_is_away(tokens[first : found.end]),
        named=partial.named,
        bound=partial.bound or ("from" if opens else bound and bound[0]),
        other_day=next(filter(None, (other_day(each, scope, habits) for each in ends)), None),
    )


def _is_away(said: Sequence[Token]) -> bool:
    """Whether a time is told by how long it is from now."""
    return said[0].text in {"in", "within"} and any("UNIT" in each.meanings for each in said)


def _part_name(part: str | None) -> str | None:
    return (
        {
            "tonight": "evening",
            "dawn": "morning",
            "breakfast": "morning",
            "lunch": "noon",
            "dinner": "evening",
            "bedtime": "night",
            "day": None,
            "business": None,
        }.get(part, part)
        if part
        else None
    )


def lists_hours(before: TimeSpan, between: str, span: TimeSpan) -> bool:
    """Whether two times are hours, or days, of one list: "at 8, 2 and 8", "one at breakfast and one at bedtime".

    Args:
        between: What the text says between them.
    """
    words = between.replace(",", " , ").lower().split()
    are_hours = before.has_time and span.has_time and before.bound is span.bound is None
    are_days = before.has_date and span.has_date and before.grain is Grain.DAY
    are_days &= {before.kind, span.kind} <= {SpanKind.DATE, SpanKind.DATETIME}
    are_hours |= are_days and before.bound is span.bound is None
    is_listed = bool(words) and all(word in _BETWEEN_HOURS or says_dose(word) for word in words)
    return are_hours and is_listed and before.recurrence in {None, span.recurrence}


def says_dose(words: str) -> bool:
    """Whether one of some words is a number: how many of something at a time."""
    known = load_lexicon().words
    return any("NUMBER" in known.get(word, {}) or word.isdigit() for word in words.lower().split())


def to_record(span: TimeSpan) -> dict[str, str]:
    """Return a span as the command line prints it: ISO 8601 with offset, `end` exclusive."""
    record = {
        "surface": span.surface,
        "kind": span.kind.value,
        "start": span.begin.isoformat(),
        "end": span.until.isoformat(),
        "grain": span.grain.value,
    }
    if span.recurrence is not None:
        record["recurrence"] = span.recurrence
    return record


__all__ = ["NamedTimeWords", "read", "to_record"]
