"""Letters that are passed on: of all their lines, those that tell what takes place and when. Pure."""

import re
from typing import Final

from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.reading.times.model import Grain, TimeSpan

_LETTER: Final = re.compile(
    r"\b(?:dear (?:parents?|famil\w+|guardians?|carers?|caregivers?|residents?|members?|all|patients?|customers?|neighbou?rs?|"
    r"m(?:r|rs|s|x|iss)\b|sir|madam|players?|students?)|(?:please be|kindly be) (?:informed|advised|reminded)|kind regards|"
    r"(?:we are|we're) (?:pleased|delighted|writing) to|(?:we would|we'd) like to (?:inform|invite|remind))",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?;\n]+")
_DEADLINE: Final = re.compile(
    r"(?:by|before|until|till|due|no later than|latest|deadline|return\w*|rsvp|reply)(?: \w+){0,2} ?$",
    re.IGNORECASE,
)
_OF_COURSE: Final = re.compile(
    r"(?<!\w)(?:leaves?|leaving|departs?|departing|starts?|starting|begins?|from|at|arrives?|arrive|meet|doors|report)(?!\w)"
)


def is_letter(reading: Reading) -> bool:
    """Return whether a message, or what it passes on, is a letter of a school, clinic or club."""
    return _LETTER.search(reading.text) is not None


def body_of(reading: Reading) -> Reading:
    """Return of a letter what it announces: the sentence that names the first day to come, with its hour.

    Other days in it are deadlines, the date of the letter, or what was before. A message that is no letter is
    returned as it is.

    Args:
        reading: The message, or a part of it.
    """
    if not is_letter(reading):
        return reading
    sentences = [match.span() for match in _SENTENCE.finditer(reading.skeleton)]
    told = next((span for span in sentences if _tells_day(reading.within(*span))), None)
    if told is None:
        return reading
    part = reading.within(*told)
    if any(span.has_time for span in part.spans):
        return part
    following = (span for span in sentences if span[0] >= told[1])
    hour = next((span for span in following if _tells_hour(reading.within(*span))), None)
    return part if hour is None else reading.within(*hour, lead=told)


def _tells_day(sentence: Reading) -> bool:
    return any(
        span.has_date
        and span.grain in {Grain.DAY, Grain.HOUR, Grain.MINUTE}
        and span.until > sentence.sent_at
        and not _is_deadline(sentence, span)
        for span in sentence.spans
    )


def _tells_hour(sentence: Reading) -> bool:
    has_hour = any(span.has_time and not span.has_date for span in sentence.spans)
    return has_hour and _OF_COURSE.search(sentence.skeleton) is not None


def _is_deadline(sentence: Reading, span: TimeSpan) -> bool:
    return _DEADLINE.search(sentence.text[: span.start_char].rstrip()) is not None
