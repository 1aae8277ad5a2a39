"""When a message's arrangement takes place: days, times, bare figures, and hours of the sender's own. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta

from kinkeeper.language.lexicon import Mention
from kinkeeper.language.text import Token, TokenKind, words_before
from kinkeeper.observer.model import Task
from kinkeeper.observer.wording.clauses import TaskPhrase, clause_around, has_cue
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.reading.corrections import is_given_up
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan

# Bare figures as times of day: "5", "4.15", in the half of the day that fits. Pure.

_FIGURES = frozenset({TokenKind.NUMBER, TokenKind.TIME})
_HALF_DAY = 12
_MINUTES = 60
_CLOCK = re.compile(r"(?P<hour>\d{1,2}?)(?:[.:]?(?P<minute>\d\d))?")
_DOTTED = re.compile(
    r"(?<![\w.£$€₹#])(?P<hour>\d{1,2})\.(?P<minute>[0-5][05])(?!\.?\w|%)(?! ?(?:off|each|quid|kg|km|bucks|pounds|euro|dollars|per|%|percent|for))"
)
_COMING_OUT = re.compile(
    r"(?<!\w)(?:they|he|she|school|<child>|<kids>) (?:(?:will|is|are|be|all|both|only) )*"
    r"(?:leave|leaves|finish|finishes|finishing|done|out|over|closes?|ends?|come|comes|get|gets|dismissed)(?!\w)"
)
_MINE = re.compile(r"(?<!\w)(?:my|our)(?!\w)")
_HOURS = 24
_FIRST_SCHOOL_HOUR = 6
AFTERNOON = time(14)
"""Of a bare figure the half of the day in which families meet: 8 to 12 before noon, 1 to 7 after."""

_COUNTED = re.compile(
    r"\s*(?:min|minute|hour|hr|day|week|month|year|time|more|of|kid|people|mile|km|quid|percent|%|st\b|nd\b|rd\b|th\b)",
    re.IGNORECASE,
)


def gives_up_an_hour(text: str, tokens: Sequence[Token]) -> bool:
    """Tell whether a message has a figure that is said not to hold any more ("it's 9.15, not 9.30")."""
    return any(each.kind in _FIGURES and is_given_up(text, each.start) for each in tokens)


def figures(reading: Reading) -> Iterator[tuple[int, time]]:
    """Yield (offset, reading of a clock before noon) of each figure of a message that can be a time of day."""
    for token in reading.tokens:
        if token.kind not in _FIGURES:
            continue
        match = _CLOCK.fullmatch(token.text)
        if match is None:
            continue
        hour, minute = int(match["hour"]), int(match["minute"] or 0)
        is_counted = _COUNTED.match(reading.text, token.end) is not None
        if 0 < hour <= _HALF_DAY and minute < _MINUTES and not is_counted:
            yield token.start, time(hour % _HALF_DAY, minute)


def nearer(clock: time, near: time) -> time:
    """Of the two halves of the day the one in which a clock reading is nearer to another."""
    wanted = near.hour * _MINUTES + near.minute
    hours = (clock.hour % _HALF_DAY, clock.hour % _HALF_DAY + _HALF_DAY)
    return time(
        min(hours, key=lambda hour: abs(hour * _MINUTES + clock.minute - wanted)), clock.minute
    )


def dotted_time(reading: Reading, at: int | None, *, is_in_school_hours: bool) -> list[time]:
    """Return the time of a job that is written with a point and nothing before it ("fetch her 12.30"), no sum of money.

    Args:
        reading: The message, or a part of it.
        at: Skeleton offset of the job, if it is named.
        is_in_school_hours: Whether it is one for which a morning hour is meant as such.

    Returns:
        The time, or nothing where none is written so.
    """
    match = next(
        (
            m
            for m in _DOTTED.finditer(reading.text)
            if not _is_read(reading, m.start()) and _is_of_the_job(reading, m.start(), at)
        ),
        None,
    )
    if match is None or not 0 < int(match["hour"]) < _HOURS:
        return []
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > _HALF_DAY or (is_in_school_hours and hour >= _FIRST_SCHOOL_HOUR):
        return [time(hour, minute)]
    return [nearer(time(hour % _HALF_DAY, minute), AFTERNOON)]


def has_dotted_hour(reading: Reading) -> bool:
    """Whether a time is written with a point and not read yet ("kick-off is 9.15"), no sum of money."""
    return any(
        not _is_read(reading, match.start()) and 0 < int(match["hour"]) < _HOURS
        for match in _DOTTED.finditer(reading.text)
    )


def _is_of_the_job(reading: Reading, start: int, at: int | None) -> bool:
    """Whether a figure stands in the clause of the job, or in one that tells when the children come out."""
    place = next(
        (symbol.at for symbol in reading.symbols if symbol.start <= start < symbol.end), None
    )
    if place is None:
        return False
    first, last = clause_around(reading, place)
    beside = reading.skeleton[first:place].rpartition(",")[2]
    is_own = at is not None and first <= at < last and _MINE.search(beside) is None
    if at is not None and at < first and not beside.strip():
        # "Can you bring her today? 4.30."
        return True
    return is_own or _COMING_OUT.search(reading.skeleton[first:last]) is not None


def _is_read(reading: Reading, at: int) -> bool:
    return any(span.start_char <= at < span.end_char for span in reading.spans)


# Times that tell of the sender's own day and not of the job: when they finish, their meeting, from
# when they are there. Pure.

_OWN_HOUR = re.compile(
    r"(?<!\w)(?:i|we|<adult>) (?:(?:am|are|is|will|be|should|only|usually|actually|do|not) )*"
    r"(?:get|gets|getting|finish|finishes|finishing|done|off|free|clock|clocks|land|lands)"
    r"(?: (?:off|out|done|away|work|from|of|free))*(?: (?:at|around|about|by|until|till|til))? $"
)
_ENGAGED = (
    r"(?:meetings?|calls?|work|shift|clients?|customers?|class|lecture|interview|training|theatre|surgery|court|gym|office|"
    r"hospital|town|bed|lates|earlies|nights|busy|tied up|stuck|away|out|home|back|free|off|in|<generic>)"
)
_OWN_BUSINESS = re.compile(
    r"(?<!\w)(?:my (?:<generic>|<act>|shift|work) (?:(?:gets|is|will|be|should|only) )*(?:over|ends?|finish|finishes|done|out)(?: (?:at|by|around|about))?"
    r"|(?:i|we) (?:have|need|have got|got|must|should|am supposed) (?:to )?(?:be|get|go|leave)(?: \w+){0,4}"
    r"|(?:i|we) (?:have|need|have got) (?:to )?(?:away|off|out)(?: by| at)?"
    r"|(?:boss|manager|client|work|office|they) (?:has |have )?(?:called|scheduled|moved|put in|wants?|booked) (?:(?:a|the|my|me|in|for) )*<generic>(?: at| for| from)?"
    rf"|(?:i|we) (?:am|are|will|will be|have|have got|got)(?: (?:no|not|only|be|now|in|at|on|with|a|an|the|my|stuck|busy))* {_ENGAGED}(?: (?:from|till?|until|at|by|for))?) ?$"
)
_WHEREABOUTS = re.compile(
    r"(?<!\w)(?:i|we) (?:am|are|will be|stay|come|arrive) (?:(?:with|you|all|back|home|here|around|there|in town|staying|over|free|off) )*$"
)
_OPEN_ENDED = re.compile(r"(?:from|since|until|till|til)\b", re.IGNORECASE)


def without_own_hours(reading: Reading) -> list[TimeSpan]:
    """Return the times of a message that can be those of the job it names.

    An hour of the sender's own is left out, of a day with such an hour the day stays ("I'm off at 2 on Friday so I
    can fetch him"), and so does a day from which on the sender is there.

    Args:
        reading: The message, or a part of it, whose job names no day in its own clause.
    """
    kept: list[TimeSpan] = []
    for span in reading.spans:
        before = _said_before(reading, span)
        if span.has_date and _OPEN_ENDED.match(span.surface) and _WHEREABOUTS.search(before):
            continue
        if not span.has_time or not (_OWN_HOUR.search(before) or _OWN_BUSINESS.search(before)):
            kept.append(span)
        elif span.has_date:
            kept.append(day_alone(span))
    return kept


def day_alone(span: TimeSpan) -> TimeSpan:
    """Return the day of a time without its hour."""
    return replace(span, kind=SpanKind.DATE, has_time=False, grain=Grain.DAY)


def _said_before(reading: Reading, span: TimeSpan) -> str:
    """What stands before a time in its clause."""
    at = next((symbol.at for symbol in reading.symbols if symbol.item is span), 0)
    start, _ = clause_around(reading, at)
    return reading.skeleton[start:at]


_NAMES_HOUR = re.compile(
    r"\d|o'?clock|half|quarter|(?<!\w)(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon)(?!\w)"
)
_DOER = re.compile(
    r"(?<!\w)(?:i|we|you|he|she|they|who)(?!\w)|^ ?, (?:done|finished|free|off) |^(?:done|finished|free|off) "
)
_CHOSEN = re.compile(
    r"(?<!\w)(?:taken|booked|chosen|picked|gone (?:for|with)|going (?:for|with)|went (?:for|with)) (?:the )?(?P<day><date>|<datetime>)"
)
_FROM_TO = re.compile(r"from (?P<start>\w+)", re.IGNORECASE)
_WITH_CHILD = re.compile(r"(?<!\w)(?:him|her|them|<child>|<kids>)(?!\w)")
_PART_OF_DAY = re.compile(
    r"(?:this |in the |tomorrow |today )?(?:morning|afternoon|arvo|evening|night|tonight|eve)"
)
_LEADING_TO = re.compile(r"\b(?:to|till|until|at|now)\s+$", re.IGNORECASE)
_ONE_WEEK = re.compile(r"(?:just |only )?(?:this|next) (?:week|wk)", re.IGNORECASE)
_AFTER = re.compile(r"(?:after|until|till|til)\b", re.IGNORECASE)
_ENDING = re.compile(
    r"\b(?:return\w*|back|home|finish\w*|ends?|ending|until|till|til|after|over|done|out)(?: (?:at|by|for|around|about|approximately))* $",
    re.IGNORECASE,
)
_LONGEST_DAY_LIST = 7
_JOBS = frozenset({Task.PICKUP, Task.DROPOFF, Task.COVER, Task.ATTEND, Task.APPOINTMENT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """When, as the message says it.

    Attributes:
        dates: Local days, in text order.
        is_day_implied: Whether no day was named and a bare time of day stands for its next coming.
        times: Local times of day; ranges stand with their starts.
        ranges: (start, end) of those that are ranges.
        moved_from: Day that a change takes something away from, if named.
    """

    dates: tuple[date, ...]
    is_day_implied: bool
    times: tuple[time, ...]
    ranges: tuple[tuple[time, time], ...]
    moved_from: date | None


def read_moments(reading: Reading, task: Task | None, at: int | None) -> Moments:
    """Return when a message's arrangement takes place.

    Args:
        reading: The message, or a part of it.
        task: What is to be done, if named; a move leaves one day for another.
        at: Skeleton offset of what the message turns on, if anything.
    """
    spans = [
        span
        for span in _spans_of(reading, at)
        if span.kind is not SpanKind.DURATION and span.grain is not Grain.SECOND
    ]
    if task is Task.MOVE:
        spans = [each for span in spans for each in _both_ends(span)]
    moved_from = (
        _moved_from(reading, spans) if task is Task.MOVE or has_cue(reading, "change") else None
    )
    kept = _chosen(reading, [span for span in spans if span is not moved_from])
    kept = _without_bounds(reading, _without_given_up(reading, kept))
    is_replacing = replaces_time(reading)
    if is_replacing:
        kept = [_without_old_time(reading, span) for span in kept]
    dates = list(dict.fromkeys(day for span in kept for day in _days(span)))
    times, ranges = _clocks(kept)
    if not times:
        is_move = task is Task.MOVE
        times.extend(_bare_new_time(reading, is_replacing=is_replacing, is_move=is_move))
    if not times and (task in _JOBS or (dates and at is not None)):
        times.extend(dotted_time(reading, at, is_in_school_hours=task is Task.DROPOFF))
    is_implied = not dates and bool(times)
    if is_implied:
        timed = [span for span in (*kept, *reading.spans) if span.has_time]
        begins = [span.begin for span in timed] or [reading.sent_at]
        dates = [min(begins).date()]
    return Moments(
        dates=tuple(dates),
        is_day_implied=is_implied,
        times=tuple(times),
        ranges=tuple(ranges),
        moved_from=moved_from.begin.date() if moved_from else None,
    )


def _chosen(reading: Reading, spans: Sequence[TimeSpan]) -> list[TimeSpan]:
    """Of several days that were on offer the one that was taken ("Wednesday or the 23rd at 9, taken the 23rd")."""
    match = _CHOSEN.search(reading.skeleton)
    item = reading.symbol_at(match.start("day")).item if match else None
    if not isinstance(item, TimeSpan):
        return list(spans)
    days = set(_days(item))
    return [span for span in spans if not _days(span) or days & set(_days(span))]


def _clocks(spans: Sequence[TimeSpan]) -> tuple[list[time], list[tuple[time, time]]]:
    """The times of day of what takes place, and of those that are ranges both ends."""
    times: list[time] = []
    ranges: list[tuple[time, time]] = []
    for span in spans:
        if not (span.has_time and _is_exact(span)):
            continue
        start = span.begin.timetz().replace(tzinfo=None, second=0, microsecond=0)
        if start not in times:
            times.append(start)
        if span.kind is SpanKind.RANGE and span.until.date() == span.begin.date():
            ranges.append((start, span.until.time().replace(second=0, microsecond=0)))
    return times, ranges


def _without_given_up(reading: Reading, spans: Sequence[TimeSpan]) -> list[TimeSpan]:
    """Leave out days that are given up for others, however often they are named ("Sat instead of Fri, got a do Friday")."""
    given_up = {
        day for span in spans if is_given_up(reading.text, span.start_char) for day in _days(span)
    }
    kept = [span for span in spans if not _days(span) or not given_up.issuperset(_days(span))]
    return kept if any(_days(span) for span in kept) else list(spans)


def _without_bounds(reading: Reading, spans: Sequence[TimeSpan]) -> list[TimeSpan]:
    """Leave out hours that only bound something, where another says when it is ("8.15, back at 5", "nothing after midnight")."""
    bounds = [span for span in spans if span.has_time and _bounds(reading, span)]
    if not any(span.has_time and _is_exact(span) for span in spans if span not in bounds):
        return list(spans)
    return [
        day_alone(span) if span in bounds and span.has_date else span
        for span in spans
        if span not in bounds or span.has_date
    ]


def _bounds(reading: Reading, span: TimeSpan) -> bool:
    if span.kind is SpanKind.RANGE and not _AFTER.match(span.surface):
        return False
    return (
        _AFTER.match(span.surface) is not None
        or _ENDING.search(words_before(reading.text, span.start_char)) is not None
    )


def replaces_time(reading: Reading) -> bool:
    """Whether a message tells a new time of day together with the one that does not hold any more.

    "At five, not four", "5 instead of 4", "half four this week, usually four".
    """
    spans = [span for span in reading.spans if span.has_time]
    clocks = {span.start_char for span in spans} | {at for at, _ in figures(reading)}
    old = {at for at in clocks if is_given_up(reading.text, at)}
    return bool(old) and bool(clocks - old)


def _without_old_time(reading: Reading, span: TimeSpan) -> TimeSpan:
    """Leave of a time that does not hold any more at most its day ("instead of 4 today")."""
    if not span.has_time or not is_given_up(reading.text, span.start_char):
        return span
    return day_alone(span)


def _bare_new_time(reading: Reading, *, is_replacing: bool, is_move: bool) -> list[time]:
    """The new time that stands as a mere figure: before the old one ("5 instead of 4"), or where a move leads."""
    old = [span.begin.time() for span in reading.spans if span.has_time]
    new = [
        clock
        for at, clock in figures(reading)
        if not is_given_up(reading.text, at)
        and (is_replacing or (is_move and _LEADING_TO.search(words_before(reading.text, at))))
    ]
    return [nearer(new[0], old[0] if old else AFTERNOON)] if new else []


def _both_ends(span: TimeSpan) -> tuple[TimeSpan, ...]:
    """The two days of "from Wednesday to Friday", which for a move are no span of days."""
    is_days = span.kind is SpanKind.RANGE and not span.has_time
    match = _FROM_TO.match(span.surface) if is_days else None
    if match is None:
        return (span,)
    middle, last = span.start_char + match.end("start"), span.until - timedelta(days=1)
    first = replace(
        span,
        kind=SpanKind.DATE,
        end_char=middle,
        until=span.begin + timedelta(days=1),
        start_char=span.start_char + match.start("start"),
    )
    return first, replace(span, kind=SpanKind.DATE, start_char=middle, begin=last)


def turning_point(
    reading: Reading, phrase: TaskPhrase | None, activity: Mention | None
) -> int | None:
    """Skeleton offset of what the message turns on: its task, else its activity."""
    if phrase is not None:
        return phrase.start
    return (
        next((symbol.at for symbol in reading.symbols if symbol.item is activity), None)
        if activity
        else None
    )


def _spans_of(reading: Reading, at: int | None) -> Sequence[TimeSpan]:
    """The times that belong to what the message turns on: those of its clause, if that names a day."""
    if at is None:
        return reading.spans
    start, end = clause_around(reading, at)
    own = [
        symbol.item
        for symbol in reading.symbols
        if start <= symbol.at < end and isinstance(symbol.item, TimeSpan)
    ]
    if not any(_days(span) for span in own):
        return without_own_hours(reading)
    possible = without_own_hours(reading)
    others = [
        symbol.item
        for symbol in reading.symbols
        if isinstance(symbol.item, TimeSpan)
        and symbol.item in possible
        and symbol.item not in own
        and not symbol.item.has_date
        and not _has_own_subject(reading, symbol.at)
    ]
    return own if any(span.has_time and _is_exact(span) for span in own) else [*own, *others]


def is_of_one_week(reading: Reading) -> bool:
    """Whether an hour is said to be that of one week alone ("half five this week", "at 6 next week"), and so not the usual one."""
    return any(_ONE_WEEK.match(span.surface) for span in reading.spans if span.grain is Grain.WEEK)


def is_timed(reading: Reading, activity: Mention) -> bool:
    """Whether a time or day stands in the activity's own clause."""
    at = next((symbol.at for symbol in reading.symbols if symbol.item is activity), None)
    if at is None:
        return False
    start, end = clause_around(reading, at)
    return any(
        start <= symbol.at < end and isinstance(symbol.item, TimeSpan) for symbol in reading.symbols
    )


def _has_own_subject(reading: Reading, at: int) -> bool:
    """Whether a clause tells of somebody else's doing ("…, I finish at 7"), so that its time is another's.

    What is done with a child there ("…, I'll have her home by 7") still belongs to the same job.
    """
    start, end = clause_around(reading, at)
    clause = reading.skeleton[start:end]
    return _DOER.search(clause) is not None and _WITH_CHILD.search(clause) is None


def _is_exact(span: TimeSpan) -> bool:
    """Whether it names a time of day, not only a part of the day."""
    return not _PART_OF_DAY.fullmatch(span.surface.casefold().strip()) and (
        span.part_of_day in {None, "noon"}
        or span.grain is not Grain.HOUR
        or _NAMES_HOUR.search(span.surface.casefold()) is not None
    )


def _days(span: TimeSpan) -> list[date]:
    """The days a span names; a vague one (next week, in March) names none."""
    if not span.has_date or span.grain in {Grain.WEEK, Grain.MONTH, Grain.YEAR}:
        return []
    if span.kind is SpanKind.RECURRING:
        return [span.begin.date()]
    first, last = span.begin.date(), (span.until - timedelta(microseconds=1)).date()
    count = (last - first).days + 1
    if span.has_time or count > _LONGEST_DAY_LIST:
        return [first]
    return [first + timedelta(days=offset) for offset in range(max(count, 1))]


def _moved_from(reading: Reading, spans: Sequence[TimeSpan]) -> TimeSpan | None:
    """The day a change takes something away from: "from Tuesday", "Tuesday's …", "instead of Tuesday"."""
    dated = [span for span in spans if _days(span)]
    if len(dated) < 2 and not (dated and len(spans) > 1):  # noqa: PLR2004 - one to leave, one to go to
        return None
    for span in dated:
        before = words_before(reading.text, span.start_char).casefold().rstrip()
        after = reading.text[span.end_char : span.end_char + 2].casefold()
        if before.endswith(("from", "instead of", "rather than", "not")) or after.startswith(
            ("'s", "’s")
        ):
            return span if len(dated) > 1 else None
    change = next((s for s in reading.symbols if _is_change_word(s.text)), None)
    if change and len(dated) > 1 and dated[0].end_char <= change.start <= dated[1].start_char:
        return dated[0]
    return None


def _is_change_word(text: str) -> bool:
    return text.startswith(
        ("moved", "resched", "switch", "chang", "push", "shift", "postpon", "swap", "now")
    )
