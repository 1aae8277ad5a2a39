"""What the messages just before add: whom "him" means, and what a bare "weds 4:15" is about. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinkeeper.observer.extraction.rules_extractor import arranges
from kinkeeper.observer.model import Extraction, Stance, Task
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

_ONE = re.compile(r"(?<!\w)(?:he|she|him|her|his|hers)(?!\w)")
_SEVERAL = re.compile(r"(?<!\w)(?:them|their|theirs)(?!\w)")
_ASKS_WHEN = re.compile(
    r"\b(?:when|what time|which day|what day)\b(?:[^?]*\?|(?:'s| is| are| was| would| does| do| did| will| can) )",
    re.IGNORECASE,
)
_ALL_RIGHT = re.compile(
    r"(?:(?:oh|ah|no|hey|actually|nah|hang on) ,? ?)*"
    r"(?:(?:it|that|you) (?:is|are) (?:ok|okay|fine|alright|all right|grand|good|cool)|no need|do not (?:worry|bother)|never ?mind|leave it)(?!\w)"
)
_FETCHES_THEM = re.compile(r"(?:pick|collect|get|fetch|grab|drop|take|bring) them(?!\w)")
_SCHOOL = re.compile(
    r"(?<!\w)(?:school|nursery|daycare|kindergarten|kinder|creche|preschool)(?!\w)"
)
_SURE_ENOUGH = 0.65
_WAYS = frozenset({Task.PICKUP, Task.DROPOFF})


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A message of the context window.

    Attributes:
        reading: What it says.
        extraction: What it arranges on its own.
        is_same_sender: Whether whoever wrote the present message wrote it.
    """

    reading: Reading
    extraction: Extraction
    is_same_sender: bool


def needs_context(reading: Reading, extraction: Extraction) -> bool:
    """Whether earlier messages could say more: an open pronoun, or a time with nothing to hang on."""
    return _is_open_plea(extraction) or (
        not extraction.child
        and (
            _is_fragment(extraction)
            or _may_be_other_half(extraction)
            or bool(_ONE.search(reading.skeleton) or _SEVERAL.search(reading.skeleton))
        )
    )


def _is_open_plea(extraction: Extraction) -> bool:
    """Whether somebody is asked to see to a child and nothing says when or for what."""
    is_job = extraction.stance is Stance.ASKS and extraction.task in _WAYS
    return is_job and bool(extraction.child) and not (extraction.dates or extraction.activity)


def continued(
    reading: Reading,
    extraction: Extraction,
    earlier: Sequence[Earlier],
    *,
    last_child: str | None,
    participants: Participants,
) -> Extraction:
    """Fill in what earlier messages say.

    Args:
        reading: The present message.
        extraction: What it says on its own.
        earlier: The context window, newest first.
        last_child: Child the chat was last about, if it was one.
        participants: The household compiled.

    Returns:
        The extraction with child (and, for a fragment, activity and task) filled in.
    """
    if _is_open_plea(extraction) and earlier and earlier[0].extraction.child == extraction.child:
        # "Can someone pick me up", right after the sender's lesson was told of.
        return arranges(_of_what_was_told(extraction, earlier[0].extraction))
    filled = _as_other_half(extraction, earlier)
    filled = _resolve_pronoun(reading, filled, earlier, participants)
    if not filled.child and last_child and _ONE.search(reading.skeleton):
        filled = replace(filled, child=(last_child,))
        if earlier:
            filled = _of_what_was_told(filled, earlier[0].extraction)
    if filled.stance is Stance.CLAIMS and earlier and _waves_off(earlier[0]):
        filled = replace(filled, yields=True)
    if _is_fragment(filled) and filled.stance is Stance.STATES:
        filled = _continue_fragment(filled, earlier)
    return arranges(filled)


def _resolve_pronoun(
    reading: Reading,
    extraction: Extraction,
    earlier: Sequence[Earlier],
    participants: Participants,
) -> Extraction:
    if extraction.child:
        return extraction
    wants_one = _ONE.search(reading.skeleton) is not None and not _FETCHES_THEM.search(
        reading.skeleton
    )
    wants_several = _SEVERAL.search(reading.skeleton) is not None
    if not (wants_one or wants_several):
        return extraction
    for message in earlier:
        told = message.extraction
        # A child that only says something is not whom the next one fetches.
        meant = told.child if told.is_coordination else ()
        children = participants.children_of(message.reading.mentions) or meant
        if (wants_one and len(children) == 1) or (wants_several and len(children) > 1):
            return _of_what_was_told(replace(extraction, child=children), told)
    if wants_several and not wants_one and _is_school_run(reading, extraction):
        return replace(extraction, child=tuple(c.id for c in participants.household.children))
    return extraction


def _is_school_run(reading: Reading, extraction: Extraction) -> bool:
    """Whether "them", of whom nobody spoke, can only be all the children: brought to school, fetched from there."""
    return (
        extraction.task in _WAYS
        and _SCHOOL.search(reading.skeleton + reading.text.casefold()) is not None
    )


def _may_be_other_half(extraction: Extraction) -> bool:
    is_bare = not (extraction.child or extraction.activity or extraction.dates)
    return (
        is_bare and extraction.task in _WAYS and extraction.stance in {Stance.CLAIMS, Stance.ASKS}
    )


def _as_other_half(extraction: Extraction, earlier: Sequence[Earlier]) -> Extraction:
    """The way back of what was just taken there: "I'll do cubs drop-off", then "and I'll do the pick-up"."""
    if not _may_be_other_half(extraction) or not earlier:
        return extraction
    there = earlier[0].extraction
    if there.task not in _WAYS or there.task == extraction.task or not there.owners:
        return extraction
    return replace(
        extraction, child=there.child, activity=there.activity, dates=there.dates,
        location=extraction.location or there.location,
        confidence=max(extraction.confidence, _SURE_ENOUGH),
    )  # fmt: skip


def _waves_off(message: Earlier) -> bool:
    """Whether the sender has just said that the other need not: "it's ok, I'm off Friday", then "so I'll take her"."""
    return message.is_same_sender and _ALL_RIGHT.match(message.reading.skeleton) is not None


def _of_what_was_told(extraction: Extraction, told: Extraction) -> Extraction:
    """Who asks "who's getting him?" right after his lesson was told of, asks about that lesson."""
    is_open = not (extraction.dates or extraction.activity)
    is_meant = extraction.stance is Stance.ASKS or (
        extraction.stance is Stance.CLAIMS and told.stance is Stance.STATES
    )
    if not (is_open and is_meant) or not told.is_coordination or told.stance is Stance.DECLINES:
        return extraction
    is_at_end = extraction.task is Task.PICKUP
    return replace(
        extraction, dates=told.dates, is_day_implied=told.is_day_implied, activity=told.activity,
        times=extraction.times or (() if is_at_end else told.times),
    )  # fmt: skip


def _is_fragment(extraction: Extraction) -> bool:
    return (
        extraction.task is None
        and extraction.activity is None
        and bool(extraction.dates or extraction.times)
    )


def _continue_fragment(extraction: Extraction, earlier: Sequence[Earlier]) -> Extraction:
    """A time sent after what it is for: the sender's own last message without one, or somebody's "when?"."""
    for message in earlier:
        other = message.extraction
        is_asked = _ASKS_WHEN.search(message.reading.text) is not None
        if not (message.is_same_sender or is_asked) or not (other.activity or other.task):
            continue
        if other.times and not is_asked:
            continue
        if other.dates and extraction.dates and not set(other.dates) & set(extraction.dates):
            continue
        if not extraction.times and set(extraction.dates) <= set(other.dates):
            return extraction
        return replace(
            extraction,
            task=other.task,
            activity=other.activity,
            child=extraction.child or other.child,
            dates=extraction.dates or other.dates,
            location=extraction.location or other.location,
            confidence=max(extraction.confidence, _SURE_ENOUGH),
        )
    return extraction
