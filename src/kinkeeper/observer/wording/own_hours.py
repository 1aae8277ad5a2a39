"""Times that tell of the sender's own day and not of the job: when they finish, their meeting, from when they are there. Pure."""

import re
from dataclasses import replace

from kinkeeper.observer.wording.clauses import clause_around
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan

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
