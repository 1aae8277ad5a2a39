"""A message made ready for the grammar: times, quotations and chat spellings taken care of. Pure.

Times and quotations stand in the text as single marks, so that patterns of words can speak of them and nothing
that is quoted is ever read as a request; they are put back, verbatim, where a text is made of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from kinkeeper.conversation.model import LONGEST_READ
from kinkeeper.conversation.planning.grammar import Grammar
from kinkeeper.conversation.planning.message_times import times_in
from kinkeeper.household.model import Household
from kinkeeper.language.text import strip_controls
from kinkeeper.reading.times.model import SpanKind, TimeSpan

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
    rf"{TIME_MARK}(?:(?:\s*,|\s*&|\s+and)+\s*(?:on\s+)?(?:the\s+)?{TIME_MARK})+", re.IGNORECASE
)
_CORRECTS = re.compile(
    r"\b(?:no|nope|nah|sorry|wait|oops|actually|rather|mean|meant|make)\b", re.IGNORECASE
)
_HOUR = timedelta(hours=1)
_BLANK = re.compile(r"\s+")
_EDGES = " \t\n,;:.!?-–—"


@dataclass(frozen=True, slots=True)
class Message:
    """A text whose times and quotations are marks.

    Attributes:
        text: With marks, in chat spelling made plain.
        spans: Time expressions by mark.
        verbatim: The words behind each mark.
    """

    text: str
    spans: Mapping[str, TimeSpan]
    verbatim: Mapping[str, str]

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
        kept = _LISTED.sub(lambda found: found[0][0], kept)
        return self.words(_TIMED.sub(" ", kept))

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
        if len(days) > 1:
            return tuple((day, *(() if day.has_time else hours[:1])) for day in days)
        if len(named) > 1 and all(map(_is_hour, named)):
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
            span.begin.timetz() for span in begins
            if span.has_time and span.part_of_day is None
        }  # fmt: skip
        return (len(days) > 1 and not recurs) or len(hours) > 1

    def lengths(self, part: str) -> tuple[TimeSpan, ...]:
        """Return the lengths of time ("an hour") of a part."""
        return tuple(
            self.spans[each] for each in part if each in self.spans and ord(each) >= _FIRST_LENGTH
        )


def read_message(text: str, now: datetime, household: Household, grammar: Grammar) -> Message:
    """Return a message with marks.

    Args:
        text: As it was typed.
        now: When, aware, in the household's zone.
        household: Whose words and zone are meant.
        grammar: Its spellings are applied.
    """
    plain = MARK.sub(" ", strip_controls(text[:LONGEST_READ])).translate(_CURLY)
    verbatim: dict[str, str] = {}
    plain = _without_reported(plain, grammar)
    plain = _BY_SIGN.sub(lambda found: _SIGNS[found[1][0].lower()], plain)
    plain = _QUOTED.sub(lambda found: _put(verbatim, _FIRST_QUOTE, found[1] or found[0]), plain)
    plain = grammar.spelled_out(_BLANK.sub(" ", plain).strip(), _names(household))
    plain = grammar.said["week_after"].sub(r"this \g<unit> and next \g<unit>", plain)
    plain = grammar.said["bare_span"].sub(r"from \g<first> to \g<last>", plain)
    plain = grammar.bare_hour.sub(r"\g<before> at \g<hour>", plain)
    spans: dict[str, TimeSpan] = {}
    marked, end = [], 0
    for span in times_in(plain, now, household):
        start = grammar.start_of(plain, span)
        if (
            start == span.end_char
            or start < end
            or MARK.search(span.surface)
            or grammar.is_no_time(plain, span)
        ):
            continue
        first = _FIRST_LENGTH if span.kind is SpanKind.DURATION else _FIRST_TIME
        mark = _put(verbatim, first, plain[start : span.end_char])
        spans[mark] = span
        marked += [plain[end:start], mark]
        end = span.end_char
    marked_text = _put_right("".join([*marked, plain[end:]]), spans, grammar)
    return Message(marked_text, spans, verbatim)


def _names(household: Household) -> frozenset[str]:
    return frozenset(each.lower() for each in household.words_for_people)


def _put_right(text: str, spans: dict[str, TimeSpan], grammar: Grammar) -> str:
    """Return a text in which a time that is put right in the same breath gives way to the right one."""
    for found in [*grammar.said["corrected"].finditer(text)]:
        if not _CORRECTS.search(found[0]):
            continue
        old, new = spans.get(found["old"]), spans.get(found["new"])
        if old is None or new is None or SpanKind.DURATION in {old.kind, new.kind}:
            continue
        spans[found["new"]] = _with_rest_of(new, old)
        text = text.replace(found[0], found["new"], 1)
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
        new, begin=begin, until=begin + length, kind=SpanKind.DATETIME, has_date=True, has_time=True,
        is_meridiem_known=new.is_meridiem_known if new.has_time else old.is_meridiem_known,
    )  # fmt: skip


def _without_reported(text: str, grammar: Grammar) -> str:
    """Put what somebody else is said to have written into quotation marks."""
    found = grammar.reported.search(text)
    if found is None:
        return text
    rest = text[found.end() :].replace('"', "'")
    return f'{text[: found.end()]} "{rest}"' if rest.strip() else text


def _is_hour(span: TimeSpan) -> bool:
    """Whether a time says an hour, as "every evening at eight" does and "in the evening" does not."""
    is_exact = span.part_of_day is None or span.until - span.begin <= _HOUR
    return span.has_time and is_exact


def _put(verbatim: dict[str, str], first: int, words: str) -> str:
    mark = chr(first + len(verbatim) % _MOST)
    verbatim[mark] = words
    return mark
