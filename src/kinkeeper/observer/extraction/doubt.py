"""Where the rules left something open that a second reading could tell. Pure; asking costs seconds, so it is rare."""

from enum import StrEnum

from kinkeeper.observer.model import Extraction, Stance, Task
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.wanted import ERRANDS

_LONGEST = 400
"""Characters: longer messages are stories, and dear."""

_SHORTEST = 3
"""Words and marks: shorter ones are answers, which the open questions explain."""

_QUOTATION_MARKS = frozenset('"\u201c\u201d\u00ab\u00bb')
_FAINTEST = 0.3
_SURE = 0.7
_NEEDS_SUBJECT = ERRANDS | {Task.ATTEND}
_DONE_BY_SOMEBODY = frozenset({Stance.STATES, Stance.ASSIGNS, Stance.CLAIMS})
_ANSWERS = frozenset({Stance.DECLINES, Stance.WITHDRAWS, Stance.ACCEPTS})


class Doubt(StrEnum):
    """What is open."""

    NO_SUBJECT = "no_subject"  # a job, but neither for whom nor for what
    NO_OWNER = "no_owner"  # adults are named with a job, but nobody has it
    SEVERAL_TIMES = "several_times"  # more hours than one for one thing
    FAINT = "faint"  # too little to be sure that anything is arranged
    UNPLACED = "unplaced"  # somebody and a day ahead, but nothing to do


def doubt_about(reading: Reading, extraction: Extraction) -> Doubt | None:
    """Return what a second reading should settle; None where the rules are sure, or there is nothing.

    Args:
        reading: The arrangement's words.
        extraction: What the rules make of them, with what the talk before adds.
    """
    if not _may_be_open(reading, extraction):
        return None
    if not extraction.is_coordination:
        return Doubt.UNPLACED if _is_unplaced(reading, extraction) else None
    if _lacks_subject(extraction):
        return Doubt.NO_SUBJECT
    if _lacks_owner(reading, extraction):
        return Doubt.NO_OWNER
    if extraction.confidence < _SURE:
        return Doubt.FAINT
    return Doubt.SEVERAL_TIMES if _has_several_times(extraction) else None


def _may_be_open(reading: Reading, extraction: Extraction) -> bool:
    """Whether it is neither a story, nor an answer, nor told of others, nor plainly nothing."""
    if len(reading.symbols) < _SHORTEST or len(reading.text) > _LONGEST:
        return False
    if _QUOTATION_MARKS & set(reading.text) or extraction.confidence < _FAINTEST:
        return False
    is_answer = reading.reply is not None and reading.reply.is_whole
    return not is_answer and extraction.stance not in _ANSWERS


def _lacks_subject(extraction: Extraction) -> bool:
    if extraction.child:
        return False
    is_about_nothing = extraction.task in _NEEDS_SUBJECT and extraction.activity is None
    return is_about_nothing or extraction.task is Task.APPOINTMENT


def _lacks_owner(reading: Reading, extraction: Extraction) -> bool:
    if extraction.owners or extraction.stance not in _DONE_BY_SOMEBODY:
        return False
    return extraction.task in ERRANDS or (bool(extraction.task) and bool(reading.of_kind("adult")))


def _has_several_times(extraction: Extraction) -> bool:
    """Whether it begins at several times of one day; a change has two, and a range two ends."""
    is_plain = extraction.task is not Task.MOVE and not extraction.time_ranges
    return is_plain and len(extraction.dates) <= 1 < len(extraction.times)


def _is_unplaced(reading: Reading, extraction: Extraction) -> bool:
    is_ahead = any(span.begin > reading.sent_at for span in reading.spans)
    is_active = extraction.stance is not Stance.STATES
    return is_ahead and bool(
        is_active or extraction.child or extraction.activity or extraction.task
    )
