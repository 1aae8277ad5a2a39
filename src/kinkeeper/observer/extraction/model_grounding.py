"""When a model is asked about a message, what it may choose from, and what of its answer stands. Pure.

The rules keep the word on all that they read. The model answers only what was open: never a day or time that the
rules did not take, never a job for an adult whom the message does not name, never a child of whom nobody spoke,
never a change of plans or a question.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from enum import StrEnum
from typing import TypeVar

from kinkeeper.household.model import Member
from kinkeeper.observer.consultation import Answer, Consultation
from kinkeeper.observer.extraction.completion import Earlier
from kinkeeper.observer.extraction.rules_extractor import arranges
from kinkeeper.observer.model import BY_MODEL, Extraction, OpenQuestion, Stance, Task
from kinkeeper.observer.wording.clauses import ERRANDS
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

# What a model may choose from: the days and times that the rules found, and who and what is known.
# Pure.

_T = TypeVar("_T")

_FIRST_PERSON = re.compile(r"(?<!\w)(?:i|me|my|mine|myself|we|us|our)(?!\w)")
_THIRD_PERSON = re.compile(r"(?<!\w)(?:he|she|they|him|her|them)(?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What there is to choose from for one arrangement.

    Attributes:
        dates: Days by key, "d1" first; from the message, then from the talk before it.
        times: Times of day by key, "t1" first.
        owners: Ids of the adults whom the message names, by name, as "I" or as "she".
        children: Ids of the children whom the message or the talk before it names; of a household with one, that one.
        activities: Ids of the household's activities, and generic ones that the message names.
        places: Ids of the household's places.
        spoken_of: Ids that the message or the talk before it names.
    """

    dates: Mapping[str, date]
    times: Mapping[str, time]
    owners: tuple[str, ...]
    children: tuple[str, ...]
    activities: tuple[str, ...]
    places: tuple[str, ...]
    spoken_of: frozenset[str]


def offer_of(
    reading: Reading,
    extraction: Extraction,
    *,
    sender: Member | None,
    earlier: Sequence[Earlier],
    asked: Sequence[OpenQuestion],
    participants: Participants,
) -> Offer:
    """Return what a model may choose from.

    Args:
        reading: The arrangement's words.
        extraction: What the rules make of them.
        sender: Who wrote them, if known.
        earlier: The messages before, newest first.
        asked: The open questions, newest first.
    """
    household = participants.household
    before = [each.extraction for each in earlier] + [each.extraction for each in asked]
    readings = [reading, *(each.reading for each in earlier)]
    spoken_of = set(_named(readings, before, participants))
    own = [mention.id for mention in reading.of_kind("activity", "generic")]
    return Offer(
        dates=_keyed("d", _dates(readings, [extraction, *before])),
        times=_keyed("t", _times(readings, [extraction, *before])),
        owners=tuple(
            each.id for each in household.adults if each.id in _persons(reading, sender, spoken_of)
        ),
        children=tuple(
            child.id
            for child in household.children
            if child.id in spoken_of or len(household.children) == 1
        ),
        activities=tuple(dict.fromkeys([*(each.id for each in household.activities), *own])),
        places=tuple(place.id for place in household.places),
        spoken_of=frozenset(spoken_of),
    )


def _persons(reading: Reading, sender: Member | None, spoken_of: set[str]) -> set[str]:
    """Return who can be meant as the one who does it: a name, "I", or "she" for somebody named before."""
    persons = {mention.id for mention in reading.of_kind("adult")}
    if sender is not None and _FIRST_PERSON.search(reading.skeleton):
        persons.add(sender.id)
    return persons | spoken_of if _THIRD_PERSON.search(reading.skeleton) else persons


def _named(
    readings: Iterable[Reading], before: Iterable[Extraction], participants: Participants
) -> Iterator[str]:
    for reading in readings:
        yield from (mention.id for mention in reading.mentions)
        yield from participants.children_of(reading.mentions)
    for said in before:
        yield from (*said.child, *said.owners)
        yield from (each for each in (said.activity, said.location, said.addressee) if each)


def _dates(readings: Iterable[Reading], said: Iterable[Extraction]) -> Iterator[date]:
    for each in said:
        yield from each.named_dates
    for reading in readings:
        yield from (span.begin.date() for span in reading.spans if span.has_date)


def _times(readings: Iterable[Reading], said: Iterable[Extraction]) -> Iterator[time]:
    for each in said:
        yield from each.times
    for reading in readings:
        yield from (span.begin.time() for span in reading.spans if span.has_time)


def _keyed(letter: str, values: Iterable[_T]) -> dict[str, _T]:
    return {
        f"{letter}{number}": value for number, value in enumerate(dict.fromkeys(values), start=1)
    }


# Where the rules left something open that a second reading could tell. Pure; asking costs seconds,
# so it is rare.

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


_MOST_SURE = 0.95
_WITHOUT_GROUND = 0.15
_GUESSED = 0.10
_OF_THE_RULES = frozenset({Task.CANCEL, Task.MOVE})
_NOT_GUESSED = _OF_THE_RULES | ERRANDS


def grounded(answer: Answer, offer: Offer) -> tuple[Answer, int]:
    """Return an answer without the values that have no ground, and how many those were.

    Args:
        answer: As the model gave it.
        offer: What it could choose from.
    """
    lists = {
        "owners": _known(answer.owners, offer.owners),
        "children": _known(answer.children, offer.children),
        "dates": _known(answer.dates, offer.dates),
        "times": _known(answer.times, offer.times),
    }
    single = {
        "activity": answer.activity if answer.activity in offer.activities else None,
        "place": answer.place if answer.place in offer.places else None,
    }
    kept = answer.model_copy(update={**lists, **single})
    return kept, _count(answer) - _count(kept)


def _known(ids: Collection[str], offered: Iterable[str]) -> list[str]:
    return [each for each in offered if each in ids]


def _count(answer: Answer) -> int:
    lists = (answer.owners, answer.children, answer.dates, answer.times)
    return sum(len(set(each)) for each in lists) + sum(
        each is not None for each in (answer.activity, answer.place)
    )


def added_to(
    extraction: Extraction, consultation: Consultation, offer: Offer, *, sender: Member | None
) -> Extraction:
    """Return what the rules read, with what a model adds.

    Args:
        consultation: What the model said, grounded.
        offer: What it could choose from.
        sender: Who wrote the message, if known.

    Returns:
        The same extraction where the model adds nothing, most of what it says has no ground, or it guesses at an
        activity beside something without ground; else one with a confidence of its own, lower for every value that
        had no ground and for an activity that only the household gives.
    """
    answer = consultation.answer
    if answer is None or not answer.is_arrangement or consultation.discarded > _count(answer):
        return extraction
    match consultation.doubt:
        case Doubt.SEVERAL_TIMES:
            filled = _with_times(extraction, answer, offer)
        case Doubt.NO_OWNER:
            filled = _with_owner(extraction, answer, offer, sender)
        case _:
            filled = arranges(_with_subject(extraction, answer, offer))
    if filled == extraction or not filled.is_coordination:
        return extraction
    prompt = consultation.prompt
    is_guessed = filled.activity != extraction.activity and filled.activity not in offer.spoken_of
    if is_guessed and consultation.discarded:
        return extraction
    return replace(
        filled,
        # What nobody called by its name is not tied to the times that were said.
        is_loose=filled.is_loose or is_guessed,
        confidence=_confidence(filled, discarded=consultation.discarded, is_guessed=is_guessed),
        extractor=BY_MODEL,
        version=str(prompt.version) if prompt else filled.version,
    )


def _with_subject(extraction: Extraction, answer: Answer, offer: Offer) -> Extraction:
    """Fill in the job, and for whom, what and where it is.

    A change of plans is the rules' to see, and so is an errand that somebody would have to be asked about.
    """
    is_left_to_rules = answer.task in (_OF_THE_RULES if extraction.owners else _NOT_GUESSED)
    task = None if is_left_to_rules else answer.task
    place = answer.place if answer.place in offer.spoken_of else None
    return replace(
        extraction,
        task=extraction.task or task,
        child=extraction.child or tuple(answer.children),
        activity=extraction.activity or answer.activity,
        location=extraction.location or place,
    )


def _with_times(extraction: Extraction, answer: Answer, offer: Offer) -> Extraction:
    """Of several times of day take those that are meant; others than the rules took are never taken."""
    chosen = {offer.times[key] for key in answer.times if key in offer.times}
    meant = tuple(each for each in extraction.times if each in chosen)
    return replace(extraction, times=meant or extraction.times)


def _with_owner(
    extraction: Extraction, answer: Answer, offer: Offer, sender: Member | None
) -> Extraction:
    """Give the job to the one adult whom the message names; between two a model does not choose."""
    is_one = len(offer.owners) == len(answer.owners) == 1
    if not is_one or extraction.seeks_owner or answer.stance not in _DONE_BY_SOMEBODY:
        return extraction
    is_own = sender is not None and answer.owners == [sender.id]
    return replace(
        extraction,
        assigned_to=tuple(answer.owners),
        stance=Stance.CLAIMS if is_own else Stance.ASSIGNS,
    )


def _confidence(extraction: Extraction, *, discarded: int, is_guessed: bool) -> float:
    score = 0.55 + 0.10 * bool(extraction.child) + 0.10 * bool(extraction.dates or extraction.times)
    score += 0.10 * bool(extraction.task or extraction.activity) + 0.10 * bool(extraction.owners)
    score -= _WITHOUT_GROUND * discarded + _GUESSED * is_guessed
    return round(min(max(score, 0.0), _MOST_SURE), 2)
