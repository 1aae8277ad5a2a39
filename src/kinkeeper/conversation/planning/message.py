"""A message made ready for the grammar: times, quotations and chat spellings taken care of. Pure.

Times and quotations stand in the text as single marks, so that patterns of words can speak of them and nothing
that is quoted is ever read as a request; they are put back, verbatim, where a text is made of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from kinkeeper.conversation.model import LONGEST_READ
from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.core.time import midnight
from kinkeeper.household.model import Household
from kinkeeper.household.vocabulary import WordKind, compile_vocabulary
from kinkeeper.language.text import strip_controls, tokenise
from kinkeeper.reading.corrections import (
    given_up_from,
    is_told_of,
    left_out_from,
    new_value_at,
    numbers_set_right,
    old_value_at,
    set_right_at,
    with_name_set_right,
    with_plain_exceptions,
)
from kinkeeper.reading.times import NamedTimeWords, read
from kinkeeper.reading.times.calendar_days import first_of_week
from kinkeeper.reading.times.distances import with_eve_named
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan
from kinkeeper.reading.times.reader import lists_hours, says_dose

# The times of a message to the assistant, with what planning ahead makes of some of them. Pure.

_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_OF_THESE: Final = (" of it", " of that week", " of these", " of those")
_TILL: Final = re.compile(r"\b(?:un)?till?\s+$", re.IGNORECASE)
_MONTHS: Final = frozenset(
    [
        "january",
        "jan",
        "february",
        "feb",
        "march",
        "mar",
        "april",
        "apr",
        "may",
        "june",
        "jun",
        "july",
        "jul",
        "august",
        "aug",
        "september",
        "sept",
        "sep",
        "october",
        "oct",
        "november",
        "nov",
        "december",
        "dec",
        "spring",
        "summer",
        "autumn",
        "winter",
    ]
)
_MOVED: Final = re.compile(
    r"(?P<old>\b(?:mov|push|postpon|shift|reschedul|chang|switch|swap|brought|bring)\w*\b[^.!?;]*?\b(?:from|on) (?:the |next |this )?(?:[a-z]*day|tomorrow|tonight|\d+(?:st|nd|rd|th)|\d[\w]*(?: of)? [a-z]+)\b[^.!?;,]{0,12}?)(?P<to> to )",
    re.IGNORECASE,
)
BARE_WEEKDAY: Final = re.compile(
    r"^(?:(?:on|the)\s+)*(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*(?:\s+at\b.*)?$", re.IGNORECASE
)


def times_in(text: str, now: datetime, household: Household) -> Sequence[TimeSpan]:
    """Return the times of a text as somebody means them who plans ahead.

    The old day and the new one of what is moved are two, and no range; "till after Easter" ends with Easter; and on the
    last day of a week "this week" goes on through the one that begins tomorrow, for of the other nothing is left to plan.

    Args:
        text: Plain.
        now: When it is said, aware, in the household's zone.
        household: Whose words and zone are meant.
    """
    return [
        _with_week_ahead(_until_over(each, text), now, household.zone)
        for each in _within(text, _spans(text, now, household))
    ]


def _within(text: str, spans: Sequence[TimeSpan]) -> Sequence[TimeSpan]:
    """Return times in which a weekday "of" days that are named before it is one of these: "half term is 15-19 Feb, the Tuesday of it"."""
    kept: list[TimeSpan] = []
    for each in spans:
        said = text[each.end_char :].lower()
        of = next((words for words in _OF_THESE if said.startswith(words)), None)
        frame = kept[-1] if kept else None
        if of is None or frame is None or frame.until - frame.begin <= _DAY:
            kept.append(each)
            continue
        by = timedelta(days=(each.begin.weekday() - frame.begin.weekday()) % 7)
        day = datetime.combine(frame.begin.date() + by, each.begin.timetz())
        if not each.has_date or day >= frame.until:
            kept.append(each)
            continue
        end = each.end_char + len(of)
        kept[-1] = replace(each, begin=day, until=day + (each.until - each.begin), end_char=end)
    return kept


def _until_over(span: TimeSpan, text: str) -> TimeSpan:
    if span.bound != "after" or _TILL.search(text[: span.start_char]) is None:
        return span
    return replace(span, bound="until", begin=span.until, until=span.until + _DAY)


def _with_week_ahead(span: TimeSpan, now: datetime, zone: ZoneInfo) -> TimeSpan:
    is_last_day = span.begin <= now and (span.until.date() - now.date()) == _DAY
    if span.grain is not Grain.WEEK or not is_last_day or span.recurrence:
        return span
    return replace(span, begin=midnight(now.date(), zone), until=span.until + _WEEK)


def _without_names(text: str, household: Household) -> str:
    """Return a text of the same length in which people who are called like a month or season are no time.

    "A haircut for Dec on Thursday", "June can't come"; but "in June", "6 Dec" and "Dec 6" are what they are for all.
    """
    names = {each for member in household.members for each in (member.name, *member.aliases)}
    timely = [re.escape(each) for each in names if each.lower() in _MONTHS]
    if not timely:
        return text
    named = re.compile(
        rf"(?<!\bin )(?<!\bof )(?<!\blate )(?<!\bmid )(?<!\bearly )(?<!\bnext )(?<!\blast )(?<!\bthis )(?<![\dhtd] )"
        rf"(?<!\buntil )(?<!\btill )(?<!\bsince )(?<!\bfrom )(?<!\bevery )\b(?:{'|'.join(timely)})\b(?!\.? ?\d)",
        re.IGNORECASE,
    )
    return named.sub(lambda found: "x" * len(found[0]), text)


def _spans(text: str, now: datetime, household: Household) -> Sequence[TimeSpan]:
    text = with_plain_exceptions(_without_names(text, household))
    parted = _MOVED.sub(lambda found: f"{found['old']} ;{' ' * (len(found['to']) - 2)}", text)
    named = [
        NamedTimeWords(id=each.id, words=each.aliases, start=each.start) for each in household.times
    ]
    spans: Sequence[TimeSpan] = read(
        parted,
        now,
        locale=household.locale,
        named_times=named,
        usual_hour=_usual_hour(text, household),
    )
    for place, (old, new) in enumerate(pairwise(spans), start=1):
        if ";" in parted[old.end_char : new.start_char] and parted != text:
            first = first_of_week(old.begin.date(), 0)
            left = replace(old, bound=None)  # it is not so from then on, but no longer then
            spans = [*spans[: place - 1], left, _in_week(new, first, now), *spans[place + 1 :]]
    return spans


def _usual_hour(text: str, household: Household) -> time | None:
    """Return when what a text names of the household's own activities usually begins, if it names one."""
    words = f" {' '.join(each.text for each in tokenise(text))} "
    return next(
        (at for spelt, at in _usual_hours(household).items() if f" {spelt} " in words), None
    )


@lru_cache(maxsize=8)
def _usual_hours(household: Household) -> Mapping[str, time]:
    """Return the usual hours of a household's activities by the words for them."""
    usual = household.usual_hours
    return {
        spelt: usual[each.id]
        for each in compile_vocabulary(household).of_kind(WordKind.ACTIVITY)
        for spelt in each.words
        if each.id in usual
    }


def _in_week(span: TimeSpan, first: date, now: datetime) -> TimeSpan:
    """Return a day of the week as the one of the week that begins with a day, unless that is over."""
    if not (span.has_date and BARE_WEEKDAY.match(span.surface)):
        return span
    ahead = (span.begin.date() - first).days
    by = timedelta(days=ahead % 7 - ahead)
    begin = span.begin + by
    return replace(span, begin=begin, until=span.until + by) if begin > now else span


_FIRST_TIME, _FIRST_LENGTH, _FIRST_QUOTE = 0xE100, 0xE200, 0xE300
_MOST = 0x100
MARK: Final = re.compile("[\ue100-\ue3ff]")
TIME_MARK: Final = "[\ue100-\ue1ff]"
LENGTH_MARK: Final = "[\ue200-\ue2ff]"
_CURLY = str.maketrans("’‘“”„«»", '\'\'"""""')
_BY_SIGN = re.compile(r"(?<=\s)(@ |w/ ?)\s*(?=[^\W\d_])", re.IGNORECASE)
_SIGNS: Final = {"@": "at ", "w": "with "}
_QUOTED = re.compile(r'"([^"]{1,1000})"?|(?m:^>[^\n]*$)')
_PREPOSITION = r"(?:(?:at|on|in|by|for|from|around|before|after|until|till|til|starting|this|coming|due|every)\s+)*"
_TIMED = re.compile(rf"[\s,]*\b{_PREPOSITION}(?:the\s+)?{TIME_MARK}(?:'s\b)?|[\s,]*{TIME_MARK}")
_ADJECTIVE = re.compile(
    rf"\b(?:the|a|an|my|our|this|that)\s+{TIME_MARK}(?:'s)?\s+(?=[a-z])", re.IGNORECASE
)
_LISTED = re.compile(
    rf"{TIME_MARK}(?:(?:(?:\s*,|\s*&|\s+and)+\s*(?:on\s+)?(?:the\s+)?)?{TIME_MARK})+", re.IGNORECASE
)
_BLANK = re.compile(r"\s+")
_EDGES = " \t\n,;:.!?-–—"


@dataclass(frozen=True, slots=True)
class Message:
    """A text whose times and quotations are marks.

    Attributes:
        text: With marks, in chat spelling made plain.
        spans: Time expressions by mark.
        verbatim: The words behind each mark.
        left_out: Times at which what comes again does not: "except the 14th".
    """

    text: str
    spans: Mapping[str, TimeSpan]
    verbatim: Mapping[str, str]
    left_out: tuple[TimeSpan, ...] = ()

    def words(self, part: str) -> str:
        """Return a part of the text with the words of its marks put back."""
        restored = MARK.sub(lambda found: self.verbatim[found[0]], part)
        return _BLANK.sub(" ", restored).strip(_EDGES)

    def sentence(self, part: str) -> str:
        """Return a part as a sentence: as it was said, with a capital and a full stop."""
        said = _BLANK.sub(" ", MARK.sub(lambda found: self.verbatim[found[0]], part))
        said = said.strip(" \t\n,;:-–—")
        if not said:
            return ""
        said = re.sub(r"\bi(?=\b(?!\.))", "I", said)
        return said[0].upper() + said[1:] + ("" if said[-1] in ".!?…" else ".")

    def title(self, part: str) -> str:
        """Return a part without its times: what is to be done, as it was said.

        A time between an article and a noun ("the Saturday paper") names the thing and stays.
        """
        kept = _ADJECTIVE.sub(lambda found: self.words(found[0]) + " ", part)
        kept = _LISTED.sub(
            lambda found: f"{self.words(found[0])} " if self._is_dosed(found[0]) else found[0][0],
            kept,
        )
        return self.words(_TIMED.sub(" ", kept))

    def _is_dosed(self, listed: str) -> bool:
        """Whether hours of a list have how many of something before them: "one at noon and two at bedtime"."""
        return any(
            says_dose(self.verbatim[each].removesuffix(self.spans[each].surface))
            for each in listed[1:]
            if each in self.spans
        )

    def times(self, part: str) -> tuple[TimeSpan, ...]:
        """Return the times of a part in its order, lengths left out."""
        return tuple(
            self.spans[each] for each in part if each in self.spans and ord(each) < _FIRST_LENGTH
        )

    def free_times(self, part: str) -> tuple[TimeSpan, ...]:
        """Return the times of a part without those that name a thing ("the Saturday paper")."""
        return self.times(_ADJECTIVE.sub(" ", part))

    def several(self, part: str) -> tuple[tuple[TimeSpan, ...], ...]:
        """Return the times of a part one by one where it lists several days or hours; else none.

        "On the 3rd and the 10th at 4": what is said of the hour with one of them counts for all; "on the 16th at
        10am and 6pm": so does the day.
        """
        listed = _LISTED.search(part)
        named = self.times(listed[0]) if listed else ()
        if any(each.kind is SpanKind.RANGE and not each.has_time for each in named):
            return ()
        days = [each for each in named if each.has_date]
        hours = [each for each in self.times(part) if each.has_time]
        ours = [each for each in named if each.has_time]
        if len(days) > 1 and len(ours) > 1 and sum(each.has_time for each in days) == 1:
            return tuple(
                (replace(day, has_time=False), replace(hour, has_date=False))
                for day in days
                for hour in ours
            )
        if len(days) > 1:
            return tuple((day, *(() if day.has_time else hours[:1])) for day in days)
        if len(named) > 1 and all(each.has_time for each in named):
            dated = [each for each in self.times(part) if each.has_date]
            return tuple((hour, *dated[:1]) for hour in named)
        return ()

    def is_torn(self, part: str, *, recurs: bool = False) -> bool:
        """Whether a part names different days or hours that are no list ("on the 2nd, back on the 9th").

        Args:
            part: Of the text, with marks.
            recurs: Whether it names days on which something recurs, which may well differ.
        """
        begins = [span for span in self.free_times(part) if span.bound != "until"]
        days = {span.begin.date() for span in begins if span.has_date}
        hours = {
            span.begin.timetz() for span in begins if span.has_time and span.part_of_day is None
        }
        return (len(days) > 1 and not recurs) or len(hours) > 1

    def lengths(self, part: str) -> tuple[TimeSpan, ...]:
        """Return the lengths of time ("an hour") of a part."""
        return tuple(
            self.spans[each] for each in part if each in self.spans and ord(each) >= _FIRST_LENGTH
        )


def read_message(text: str, now: datetime, household: Household, grammar: Grammar) -> Message:
    """Return a message with marks.

    Args:
        now: When, aware, in the household's zone.
        household: Whose words and zone are meant.
    """
    plain = MARK.sub(" ", strip_controls(text[:LONGEST_READ])).translate(_CURLY)
    verbatim: dict[str, str] = {}
    plain = _without_reported(plain, grammar)
    plain = _BY_SIGN.sub(lambda found: _SIGNS[found[1][0].lower()], plain)
    plain = _QUOTED.sub(lambda found: _put(verbatim, _FIRST_QUOTE, found[1] or found[0]), plain)
    plain = grammar.spelled_out(_BLANK.sub(" ", plain).strip(), _names(household))
    plain = with_eve_named(plain)
    plain = grammar.said["week_after"].sub(r"this \g<unit> and next \g<unit>", plain)
    plain = grammar.said["bare_span"].sub(r"from \g<first> to \g<last>", plain)
    plain = _with_units(with_name_set_right(plain, household.words_for_people), now, household)
    plain = grammar.bare_hour.sub(r"\g<before> at \g<hour>", plain)
    spans: dict[str, TimeSpan] = {}
    marked, end = list[str](), 0
    plain, times = _set_right(plain, [*_without_old(plain, times_in(plain, now, household))], now)
    times = [_as_end(plain, each, times) for each in times]
    left_out = _left_out(plain, times)
    for place, (span, begin, over) in enumerate(times, start=1):
        opens_list = any(
            lists_hours(span, plain[over:at], each) for each, at, _ in times[place : place + 1]
        )
        start = begin if opens_list else begin + grammar.start_of(plain, span) - span.start_char
        if (
            start == over
            or start < end
            or MARK.search(span.surface)
            or grammar.is_no_time(plain, span)
        ):
            continue
        start = left_out.get(span, start)
        if (
            marked
            and spans.get(marked[-1])
            and lists_hours(spans[marked[-1]], plain[end:start], span)
            and not _begins_errand(plain[over:].lstrip(), grammar)
        ):
            start = end
        if span in left_out and marked and start == end and not span.has_time:
            verbatim[marked[-1]] += plain[end:over]
        else:
            first = _FIRST_LENGTH if span.kind is SpanKind.DURATION else _FIRST_TIME
            mark = _put(verbatim, first, plain[start:over])
            marked += [plain[end:start], mark]
            if span not in left_out:
                spans[mark] = span
            elif span.has_time:
                spans[mark] = replace(span, has_date=False, recurrence=None, kind=SpanKind.TIME)
        end = over
    return Message(
        _BLANK.sub(" ", "".join([*marked, plain[end:]])), spans, verbatim, tuple(left_out)
    )


_LISTING: Final = frozenset({",", "and", "or", "&", ", and", ", or"})


def _begins_errand(rest: str, grammar: Grammar) -> bool:
    """Whether what follows a time is an errand of its own: "pay rent at 9 and at 5 ring Mum"."""
    return not rest.lower().startswith("to ") and grammar.said["errand"].match(rest) is not None


def _as_end(
    text: str, at: tuple[TimeSpan, int, int], times: Sequence[tuple[TimeSpan, int, int]]
) -> tuple[TimeSpan, int, int]:
    """Return how long what recurs goes on ("for ten days") as its last day; any other time as it is."""
    span, begin, over = at
    is_days = span.kind is SpanKind.DURATION and span.until - span.begin >= 2 * _DAY
    if not (is_days and text[:begin][-len(" for ") :].lower() == " for "):
        return at
    if not any(each.recurrence and "UNTIL=" not in each.recurrence for each, *_ in times):
        return at
    last = span.until - _DAY
    end = replace(
        span, kind=SpanKind.DATE, begin=last, until=last + _DAY, bound="until", has_date=True
    )
    return end, begin - len("for "), over


def _left_out(text: str, times: Sequence[tuple[TimeSpan, int, int]]) -> Mapping[TimeSpan, int]:
    """Return the times of a text at which what comes again does not, with where the words that say so begin.

    "Except Sunday at 7" says the hour of the other days where nothing else does.
    """
    found: dict[TimeSpan, int] = {}
    over, is_listed = 0, False
    timed = sum(span.has_time for span, *_ in times)
    recurring = sum(bool(span.recurrence) for span, *_ in times)
    for span, begin, end in times:
        is_day = (span.has_date or span.recurrence) and span.bound is None
        has_hour = span.has_time and timed > 1
        before = None
        recurs = recurring > bool(span.recurrence)
        if is_day and not has_hour and (recurs or span.grain is Grain.WEEK):
            before = left_out_from(text, begin, end)
            if before is not None and not recurs and text[before:begin].strip(" ,") == "but":
                before = None  # "Mondays, but this week …" goes on with when it is
            if is_listed and text[over:begin].strip() in _LISTING:
                before = over
        is_listed = before is not None and before >= over
        if before is not None and is_listed:
            found[span] = before
            timed, recurring = timed - span.has_time, recurring - bool(span.recurrence)
        over = end
    return found


def _without_old(text: str, spans: Sequence[TimeSpan]) -> Iterator[tuple[TimeSpan, int, int]]:
    """Yield times with where their words begin and end, an old value beside the new one among them ("the 10th, not the 3rd").

    Where something that is known is told to be at another time, both are left: the old one says which it is.
    """
    begin, left = None, [*spans]
    while left:
        span = left.pop(0)
        if is_told_of(text, span.start_char):
            yield span, span.start_char, span.end_char
            continue
        start, over = span.start_char if begin is None else begin, span.end_char
        begin = given_up_from(text, span.start_char) if span.bound is None else None
        if begin is not None and left and _begins_at(left[0], new_value_at(text, over), over):
            continue
        begin, old = None, old_value_at(text, over)
        is_day_of_it = bool(left and span.recurrence and left[0].has_date)
        is_left_out = bool(left) and left[0].grain is Grain.WEEK is not span.grain
        is_value = bool(left) and left[0].bound is None and not (is_day_of_it or is_left_out)
        if is_value and _begins_at(left[0], old, over):
            behind = left.pop(0)
            span, over = _with_rest_of(span, behind), behind.end_char
        elif old is not None and span.has_time and text[old - 1].isdigit():
            over = old
        yield span, start, over


def _begins_at(span: TimeSpan, at: int | None, after: int) -> bool:
    """Whether a time behind an offset is the one that begins at another, or holds it: "the" may be part of it."""
    return at is not None and after < span.start_char <= at <= span.end_char


def _names(household: Household) -> frozenset[str]:
    return frozenset(each.lower() for each in household.words_for_people)


def _set_right(
    text: str, times: Sequence[tuple[TimeSpan, int, int]], now: datetime
) -> tuple[str, list[tuple[TimeSpan, int, int]]]:
    """Return a text with blanks for the words that set a time right, and its times without the wrong ones."""
    kept: list[tuple[TimeSpan, int, int]] = []
    for new, begin, over in times:
        found = set_right_at(text, begin, over, after=kept[-1][2]) if kept else None
        place = next(
            (at for at in range(len(kept) - 1, -1, -1) if _is_same(kept[at][0], new)), None
        )
        if found is None or place is None:
            kept.append((new, begin, over))
            continue
        old, first, last = kept[place]
        kept[place] = (_in_place_of(new, old, now), first, last)
        text = f"{text[: found[0]]}{' ' * (found[1] - found[0])}{text[found[1] :]}"
    return text, kept


def _is_same(old: TimeSpan, new: TimeSpan) -> bool:
    """Whether two times say the same of something: both its day, both its hour, or both how long it is until then."""
    if SpanKind.DURATION in {old.kind, new.kind}:
        return old.kind is new.kind or (new.kind is SpanKind.DURATION and old.is_away)
    is_hour, is_day = old.has_time and new.has_time, old.has_date and new.has_date
    return old.recurrence == new.recurrence and (is_hour or is_day)


def _in_place_of(new: TimeSpan, old: TimeSpan, now: datetime) -> TimeSpan:
    """Return a time with what only the one says that it sets right; "in an hour, no, 20 minutes" is that long from now."""
    if new.kind is SpanKind.DURATION and old.kind is not new.kind:
        begin = now + (new.until - new.begin)
        if not old.has_time:
            begin = datetime.combine(begin.date(), time(), begin.tzinfo)
        return replace(old, begin=begin, until=begin + (old.until - old.begin))
    return _with_rest_of(new, old)


def _with_units(text: str, now: datetime, household: Household) -> str:
    """Return a text in which a bare number that sets a time right counts what the time before it does: "in 10 minutes, no 15"."""
    for begin, end, number in reversed([*numbers_set_right(text)]):
        times = times_in(text[:begin], now, household)
        if not times:
            continue
        counted = number if not number.isdigit() else f"{number} {times[-1].surface.split()[-1]}"
        is_length = any(
            each.kind is SpanKind.DURATION for each in times_in(counted, now, household)
        )
        if is_length or times[-1].has_time:
            said = f", {counted}" if is_length else f" at {number}"  # "no 15" names something
            text = f"{text[:begin].rstrip(' ,')}{said}{text[end:]}"
    return text


def _with_rest_of(new: TimeSpan, old: TimeSpan) -> TimeSpan:
    """Return a time with the day or the hour that only an older one says."""
    if new.has_time and not new.has_date and old.has_date:
        begin = datetime.combine(old.begin.date(), new.begin.timetz())
    elif new.has_date and not new.has_time and old.has_time:
        begin = datetime.combine(new.begin.date(), old.begin.timetz())
    else:
        return new
    length = (new if new.has_time else old).until - (new if new.has_time else old).begin
    return replace(
        new,
        begin=begin,
        until=begin + length,
        kind=SpanKind.DATETIME,
        has_date=True,
        has_time=True,
        is_meridiem_known=new.is_meridiem_known if new.has_time else old.is_meridiem_known,
    )


def _without_reported(text: str, grammar: Grammar) -> str:
    """Put what somebody else is said to have written into quotation marks."""
    found = grammar.reported.search(text)
    if found is None:
        return text
    rest = text[found.end() :].replace('"', "'")
    return f'{text[: found.end()]} "{rest}"' if rest.strip() else text


def _put(verbatim: dict[str, str], first: int, words: str) -> str:
    mark = chr(first + len(verbatim) % _MOST)
    verbatim[mark] = words
    return mark
