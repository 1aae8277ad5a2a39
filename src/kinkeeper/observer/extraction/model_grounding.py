"""What of a model's answer stands on the message, its talk or the household, and what it adds to the rules. Pure.

The rules keep the word on all that they read. The model answers only what was open: never a day or time that the
rules did not take, never a job for an adult whom the message does not name, never a child of whom nobody spoke,
never a change of plans or a question.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from kinkeeper.household.model import Member
from kinkeeper.observer.consultation import Answer, Consultation
from kinkeeper.observer.extraction.candidates import Offer
from kinkeeper.observer.extraction.doubt import Doubt
from kinkeeper.observer.extraction.rules_extractor import arranges
from kinkeeper.observer.model import BY_MODEL, Extraction, Stance, Task
from kinkeeper.observer.wording.wanted import ERRANDS

_MOST_SURE = 0.95
_WITHOUT_GROUND = 0.15
_GUESSED = 0.10
_DONE_BY_SOMEBODY = frozenset({Stance.STATES, Stance.ASSIGNS, Stance.CLAIMS})
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
        extraction: What the rules read.
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
